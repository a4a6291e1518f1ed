"""`danlu demo` and `danlu init`: the first things to type. A file that is there is never overwritten."""

from __future__ import annotations

import importlib.resources
from pathlib import Path
from typing import Annotated

import typer

from danlu.cli.options import TokenLimit, show, size
from danlu.errors import UsageError
from danlu.files import write_bytes


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(epilog="Example: danlu demo --tokens 64K")(demo)
    app.command(epilog="Example: danlu init my-recipe.toml")(init)


def demo(
    fresh: Annotated[bool, typer.Option("--fresh", help="Start the demo over.")] = False,
    tokens: TokenLimit = None,
) -> None:
    """See it all work, in about four minutes.

    From the text that every Python carries to a model, its report and its export.
    """
    from danlu.workflow.demo import run_demo

    run_demo(fresh, size(tokens, "--tokens"))


def init(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to write.")] = Path("recipe.toml"),
) -> None:
    """Write a recipe to start from.

    Short and commented: only what you must decide.
    """
    path = path / "recipe.toml" if path.is_dir() else path
    if path.exists():
        raise UsageError(
            f"{path} exists already and is left as it is; name another file: `danlu init new.toml`"
        )
    write_bytes(path, importlib.resources.files("danlu.cli").joinpath("starter.toml").read_bytes())
    show(f"Wrote {path}. Set its [[corpus.source]] to your text, then: danlu run {path}")
