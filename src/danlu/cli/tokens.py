"""`danlu tokens`: from documents to token ids, and what the training will see of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from danlu.cli.options import (
    AsJson,
    DryRun,
    RecipeOrRun,
    RunName,
    Settings,
    cell,
    do_through,
    show,
    show_json,
    table,
)
from danlu.errors import UsageError


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to token ids.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokens build recipe.toml")(build)
    group.command(epilog="Example: danlu tokens explain recipe.toml --set mixture.temperature=2")(explain)
    group.command(epilog="Example: danlu tokens export small megatron-data --format megatron")(export)
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


def export(
    run: RunName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to.")],
    form: Annotated[
        Literal["megatron"], typer.Option("--format", help="megatron: FOLDER/<split>/<domain>.bin and .idx.")
    ] = "megatron",
    as_json: AsJson = False,
) -> None:
    """Write a run's shards for another trainer.

    Megatron-LM reads the pairs with --data-path; the tokenizer.json and where each document came from go beside them.
    """
    from danlu.files import write_bytes
    from danlu.shards.megatron import export_pairs
    from danlu.tokenizer.codec import Codec
    from danlu.workflow.run import find_run, load_run

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write {form} pairs into")
    directory = load_run(find_run(run)).directory
    tokenizer = directory / "tokenizer" / "tokenizer.json"
    written = export_pairs(directory / "tokens", Codec.load(tokenizer), folder)
    write_bytes(folder / "tokenizer.json", tokenizer.read_bytes())
    rows = [
        {"pair": str(prefix), "documents": card.documents, "tokens": card.tokens} for prefix, card in written
    ]
    if as_json:
        show_json(rows)
    else:
        show(table([tuple(rows[0]), *(tuple(map(cell, row.values())) for row in rows)]))
