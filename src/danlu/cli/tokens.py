"""`danlu tokens`: from documents to token ids, and what the training will see of them."""

from __future__ import annotations

import typer

from danlu.cli.options import AsJson, DryRun, RecipeOrRun, Settings, cell, do_through, show, show_json, table


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to token ids.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokens build recipe.toml")(build)
    group.command(epilog="Example: danlu tokens explain recipe.toml --set mixture.temperature=2")(explain)
    app.add_typer(group, name="tokens")


def build(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Encode the corpus in shards.

    The stages before it that are not done are done first.
    """
    do_through("tokens", recipe, settings, dry_run)


def explain(recipe: RecipeOrRun, settings: Settings = None, as_json: AsJson = False) -> None:
    """Show what the mixture will give.

    Tokens and epochs of each domain in the whole training; the plan is made if it is not there. --set only asks: the
    run keeps its recipe.
    """
    from danlu.workflow.results import explain_run
    from danlu.workflow.run import resolve

    run = resolve(recipe, settings or ())
    do_through("plan", recipe, settings, dry_run=False, look=True)
    rows = explain_run(run)
    if as_json:
        show_json(rows)
    else:
        show(table([tuple(rows[0]), *(tuple(map(cell, row.values())) for row in rows)]))
