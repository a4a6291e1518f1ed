"""`danlu plan`: what a training will be and take, before it runs."""

from __future__ import annotations

import typer

from danlu.cli.options import AsJson, DryRun, RecipeOrRun, Settings, do_through, show, show_json, show_outlook


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="What a training will take.", no_args_is_help=True, rich_markup_mode=None)
    group.command("show", epilog="Example: danlu plan show recipe.toml --set model.size=2M")(show_plan)
    app.add_typer(group, name="plan")


def show_plan(
    recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Show what a training will take.

    Parameters, memory, time and mixture, measured with a few steps on this machine. --set only asks: the run keeps its
    recipe.
    """
    from danlu.files import read_json
    from danlu.plan.plan import read_plan, render
    from danlu.workflow.run import resolve

    run = resolve(recipe, settings or ())
    if dry_run:
        show_outlook(run, "plan", as_json)
        return
    do_through("plan", recipe, settings, dry_run=False, look=True)
    path = run.directory / "plan.json"
    if as_json:
        show_json(read_json(path))
    else:
        show(render(read_plan(path)))
