"""`danlu checkpoint`: which steps are saved, and are they whole?"""

from __future__ import annotations

import typer

from danlu.cli.options import AsJson, RunName, show, show_json, table


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="What is saved of a run.", no_args_is_help=True, rich_markup_mode=None)
    group.command("list", epilog="Example: danlu checkpoint list my-model")(list_checkpoints)
    group.command(epilog="Example: danlu checkpoint verify my-model")(verify)
    app.add_typer(group, name="checkpoint")


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
