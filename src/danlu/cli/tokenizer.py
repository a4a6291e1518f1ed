"""`danlu tokenizer`: from documents to a vocabulary."""

from __future__ import annotations

import typer

from danlu.cli.options import DryRun, RecipeOrRun, Settings, do_through


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to a vocabulary.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokenizer train recipe.toml --set tokenizer.vocab_size=8192")(train)
    app.add_typer(group, name="tokenizer")


def train(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Train the tokenizer on the corpus.

    The corpus is built first if it is not there.
    """
    do_through("tokenizer", recipe, settings, dry_run)
