"""`danlu run`: every stage that is not done, of a recipe or of a folder of text."""

from __future__ import annotations

from typing import Annotated

import typer

from danlu.cli.options import (
    DryRun,
    Fresh,
    MinuteLimit,
    Settings,
    StepLimit,
    TokenLimit,
    limits,
    show_outlook,
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example: danlu run texts/    Example: danlu run recipe.toml --set train.minutes=5")(
        run
    )


def run(
    recipe: Annotated[
        str,
        typer.Argument(metavar="RECIPE|FOLDER", help="A recipe file, a run, or a folder of text as it is."),
    ],
    settings: Settings = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    steps: StepLimit = None,
    tokens: TokenLimit = None,
    minutes: MinuteLimit = None,
) -> None:
    """Do all that is not done, from text to report.

    The stages: corpus, tokenizer, tokens, plan, training, evaluation, export, report.
    """
    from danlu.workflow.folder import resolve_folder
    from danlu.workflow.stages import run_all

    limit = limits(steps, tokens, minutes)
    the_run = resolve_folder(recipe, settings or (), write=not dry_run)
    if dry_run:
        show_outlook(the_run, fresh=fresh)
    else:
        run_all(the_run, limit, fresh)
