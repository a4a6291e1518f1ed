"""`danlu inspect`, `block`, `checkpoint`: which documents a step saw, which are not to be seen again, what is saved."""

from __future__ import annotations

from typing import Annotated

import typer

from danlu.cli.options import AsJson, RunName, show, show_json, table
from danlu.log import say


def register(app: typer.Typer) -> None:
    """Adds the commands and the group."""
    app.command(epilog="Example: danlu inspect my-model --step 120")(inspect)
    app.command(epilog="Example: danlu block my-model 3f1c9a52b7e04d68")(block)
    group = typer.Typer(help="What is saved of a run.", no_args_is_help=True, rich_markup_mode=None)
    group.command("list", epilog="Example: danlu checkpoint list my-model")(list_checkpoints)
    group.command(epilog="Example: danlu checkpoint verify my-model")(verify)
    app.add_typer(group, name="checkpoint")


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
        (
            f"{d['loss']:.3f}",
            str(d["tokens"]),
            d["domain"],
            f"{d['source']} [{d['start']}:{d['end']}]",
            d["id"],
        )
        for d in documents
    ]
    show(table([("loss", "tokens", "domain", "source [bytes]", "id"), *rows]))


def block(
    run: RunName,
    documents: Annotated[
        list[str], typer.Argument(metavar="DOC...", help="Documents by their ids, as inspect shows them.")
    ],
) -> None:
    """Show documents to a training no more.

    From the step after the newest checkpoint on there is padding in their place; the order of all others stays. Lines
    can be taken out of RUN/blocked.jsonl before the training goes on.
    """
    from danlu.workflow.results import block_in_run
    from danlu.workflow.run import find_run, hold, load_run

    the_run = load_run(find_run(run))
    with hold(the_run):
        count, first = block_in_run(the_run, documents)
    already = len(set(documents)) - count
    say(
        f"{count} documents are blocked from step {first} on"
        + (f"; {already} were blocked before" if already else "")
    )


def list_checkpoints(run: RunName, as_json: AsJson = False) -> None:
    """List the saved steps."""
    from danlu.log import human_bytes
    from danlu.workflow.results import saved_steps
    from danlu.workflow.run import find_run

    steps = saved_steps(find_run(run))
    if as_json:
        show_json(steps)
    else:
        rows = [(str(saved["step"]), human_bytes(saved["bytes"]), saved["path"]) for saved in steps]
        show(table([("step", "size", "path"), *rows]))


def verify(run: RunName, as_json: AsJson = False) -> None:
    """Check every saved byte.

    Compares each file with its hash; exit code 1 if a step is damaged.
    """
    from danlu.workflow.results import verify_steps
    from danlu.workflow.run import find_run

    verdicts = verify_steps(find_run(run))
    if as_json:
        show_json(verdicts)
    else:
        show(table([(str(verdict["step"]), verdict["damage"] or "good") for verdict in verdicts]))
    if any(verdict["damage"] for verdict in verdicts):
        raise typer.Exit(1)
