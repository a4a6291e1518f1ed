"""`danlu demo`: the whole road on text that is already on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from danlu.cli.options import TokenLimit, size


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example: danlu demo --tokens 64K")(demo)


def demo(
    fresh: Annotated[bool, typer.Option("--fresh", help="Start the demo over.")] = False,
    tokens: TokenLimit = None,
) -> None:
    """See it all work, in about four minutes.

    From the text that every Python carries to a model, its report and its export.
    """
    from danlu.workflow.demo import run_demo

    run_demo(fresh, size(tokens, "--tokens"))
