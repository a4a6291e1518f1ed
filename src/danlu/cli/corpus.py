"""`danlu corpus`: from files to clean documents."""

from __future__ import annotations

import typer

from danlu.cli.options import DryRun, RecipeOrRun, Settings, do_through


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From files to clean documents.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu corpus build recipe.toml")(build)
    app.add_typer(group, name="corpus")


def build(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Read, clean and split the text.

    Says what was dropped and why.
    """
    do_through("corpus", recipe, settings, dry_run)
