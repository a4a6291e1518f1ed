"""`danlu tokens`: from documents to token ids, and what the training will see of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from danlu.cli.options import (
    AsJson,
    DryRun,
    RecipeOrRun,
    Settings,
    cell,
    do_through,
    refuse_page,
    show,
    show_json,
    table,
)
from danlu.errors import MissingError, UsageError
from danlu.log import say

_SHOWN = (
    *("stage", "domain", "share", "tokens", "epochs", "total_epochs", "repeat_value"),
    *("unique_tokens", "samples", "sequence_length", "filled", "documents_cut", "documents"),
)


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to token ids.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokens build recipe.toml")(build)
    group.command(epilog="Example: danlu tokens explain recipe.toml --set mixture.max_epochs=2")(explain)
    group.command(epilog="Example: danlu tokens export small megatron-data --format megatron")(export)
    app.add_typer(group, name="tokens")


def build(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Encode the corpus in shards.

    The stages before it that are not done are done first.
    """
    do_through("tokens", recipe, settings, dry_run)


def explain(
    recipe: RecipeOrRun,
    settings: Settings = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html", help="Where the picture goes; RUN/mixture.html where --set asks nothing."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the mixture will give.

    Tokens, epochs and the value of repeats of each domain in each stage of the training, how its samples are filled,
    and a picture of the shares. --set only asks: the run keeps its recipe.
    """
    from danlu.report.mixture import write_mixture_page
    from danlu.workflow.results import explain_run
    from danlu.workflow.run import resolve
    from danlu.workflow.stages import tokens_stand

    if page:
        refuse_page(page)
    run = resolve(recipe, settings or ())
    if not tokens_stand(run):
        do_through("tokens", recipe, settings, dry_run=False, look=True)
    if run.recipe.train.minutes is not None and not (run.directory / "plan.json").is_file():
        do_through("plan", recipe, settings, dry_run=False, look=True)
    explained = explain_run(run)
    if page is None and not settings:
        page = run.directory / "mixture.html"
    if page:
        write_mixture_page(page, explained.rows)
    if as_json:
        show_json(explained.rows)
    else:
        rows = [{name: row[name] for name in _SHOWN} for row in explained.rows]
        show(table([_SHOWN, *(tuple(map(cell, row.values())) for row in rows)]))
    for note in explained.notes:
        say(f"note: {note}")
    if page:
        say(f"{page} shows it")


def export(
    recipe: RecipeOrRun,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to: new, empty, or exported to.")],
    form: Annotated[
        Literal["megatron"], typer.Option("--format", help="megatron: FOLDER/<split>/<domain>.bin and .idx.")
    ] = "megatron",
    as_json: AsJson = False,
) -> None:
    """Write a run's shards for another trainer.

    Megatron-LM reads the pairs with --data-path; the tokenizer.json and where each document came from go beside them.
    An earlier export of the same tokenizer is replaced.
    """
    from danlu.shards.export import export_tokens
    from danlu.workflow import depends
    from danlu.workflow.run import RUNS, resolve
    from danlu.workflow.stage import NEVER, why_stale
    from danlu.workflow.stages import tokens_stand

    run = resolve(recipe)
    for directory in (run.directory, RUNS):
        if folder.resolve().is_relative_to(directory.resolve()):
            raise UsageError(
                f"{folder} is inside {directory}, where danlu keeps its own; name another folder for {form} pairs"
            )
    why = why_stale(depends.tokens(run))
    # Whoever names a recipe means what it says now, whoever names a run what is in it.
    if why is None and Path(recipe).is_file() and not tokens_stand(run):
        why = "the recipe or its text changed since"
    if why is not None:
        what = "has no finished shards" if why == NEVER else f"has shards of another state ({why})"
        raise MissingError(f"{run.directory} {what}; `danlu tokens build {recipe}` makes them")
    written = export_tokens(run.directory / "tokens", run.directory / "tokenizer" / "tokenizer.json", folder)
    rows = [
        {"pair": str(prefix), "documents": card.documents, "tokens": card.tokens} for prefix, card in written
    ]
    if as_json:
        show_json(rows)
    else:
        show(table([tuple(rows[0]), *(tuple(map(cell, row.values())) for row in rows)]))
