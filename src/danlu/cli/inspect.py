"""`danlu inspect`: which documents a step saw."""

from __future__ import annotations

from typing import Annotated

import typer

from danlu.cli.options import AsJson, RunName, show, show_json, table


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example: danlu inspect my-model --step 120")(inspect)


def inspect(
    run: RunName,
    step: Annotated[int, typer.Option(min=1, help="The step to look into; the first is 1.")],
    as_json: AsJson = False,
) -> None:
    """Show which documents a step saw.

    Where each came from, and how hard it is for the newest model; hardest first.
    """
    from danlu.workflow.results import documents_of_step
    from danlu.workflow.run import find_run, load_run

    documents = documents_of_step(load_run(find_run(run)), step)
    if as_json:
        show_json(documents)
        return
    rows = [
        (f"{d['loss']:.3f}", str(d["tokens"]), d["domain"], f"{d['source']} [{d['start']}:{d['end']}]")
        for d in documents
    ]
    show(table([("loss", "tokens", "domain", "source [bytes]"), *rows]))
