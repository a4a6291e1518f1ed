"""`danlu train`: the training; the same command goes on where it stopped."""

from __future__ import annotations

import typer

from danlu.cli.options import (
    DryRun,
    Fresh,
    MinuteLimit,
    RecipeOrRun,
    Settings,
    StepLimit,
    TokenLimit,
    limits,
    show_outlook,
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example: danlu train recipe.toml --tokens 64K")(train)


def train(
    recipe: RecipeOrRun,
    settings: Settings = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    steps: StepLimit = None,
    tokens: TokenLimit = None,
    minutes: MinuteLimit = None,
) -> None:
    """Train a model; the same command resumes.

    The stages before it that are not done are done first.
    """
    from danlu.workflow import stages
    from danlu.workflow.run import hold, resolve

    limit = limits(steps, tokens, minutes)
    run = resolve(recipe, settings or ())
    if dry_run:
        show_outlook(run, fresh=fresh)
        return
    with hold(run, fresh):
        stages.prepare(run)
        stages.train_stage(run, limit)
