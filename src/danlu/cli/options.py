"""The arguments and options that several commands share, so that they read and behave alike everywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from danlu.config import Section
    from danlu.workflow.run import Run

from danlu.errors import UsageError
from danlu.log import visible
from danlu.train.limits import Limits

S = TypeVar("S", bound="Section")

RecipeOrRun = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A recipe file; or a run, by its directory or its name.")
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run, by its directory or its name.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set a key of the recipe, e.g. train.tokens=2M. May be repeated."
    ),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start the training over; text, tokenizer and shards are kept.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say which stages would be done, and why.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StepLimit = Annotated[int | None, typer.Option("--steps", help="Pause after this step; the plan stays.")]
TokenLimit = Annotated[
    str | None,
    typer.Option("--tokens", metavar="SIZE", help='Pause after so many tokens, e.g. "64K"; the plan stays.'),
]
MinuteLimit = Annotated[
    float | None, typer.Option("--minutes", help="Pause after so many minutes; the plan stays.")
]


def limits(steps: int | None, tokens: str | None, minutes: float | None) -> Limits:
    """The limits of this command."""
    return Limits(steps, size(tokens, "--tokens"), minutes)


def size(text: str | None, option: str) -> int | None:
    """The number that an option such as `--tokens 64K` means."""
    from danlu.config import parse_size

    if text is None:
        return None
    try:
        return int(parse_size(text))
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


def read_section(section: type[S], settings: Sequence[str], path: Path | None = None) -> S:
    """A table of settings that no recipe holds: a TOML file, with `KEY=VALUE` texts over it.

    Raises RecipeError, which names the file and line, or the --set, and the key.
    """
    from pydantic import ValidationError

    from danlu.config import Origin, apply_settings, refuse
    from danlu.toml import parse_toml, read_text

    text = read_text(path) if path else ""
    tables = apply_settings(parse_toml(text, path) if path else {}, settings)
    try:
        return section.model_validate(tables)
    except ValidationError as error:
        raise refuse(error, section, Origin(path, text, tuple(settings))) from None


def do_through(last: str, recipe: str, settings: list[str] | None, dry_run: bool, look: bool = False) -> None:
    """Does the stages of a recipe that are not done, up to `last`; or says which those are.

    With `look` the settings are those of a question: they are not saved with the run.
    """
    from danlu.workflow.run import hold, resolve
    from danlu.workflow.stages import through, would_rebuild

    run = resolve(recipe, settings or ())
    if look and settings and (stage := would_rebuild(run)):
        raise UsageError(
            f"--set {settings[0]}{' and more' if settings[1:] else ''} would make the {stage} of {run.directory} anew; "
            f"--set only asks here. Ask it of a run of its own: --set name={run.directory.name}-2"
        )
    if dry_run:
        show_outlook(run, last)
        return
    with hold(run, save=not (look and settings)):
        through(run, last)


def refuse_page(page: Path) -> None:
    """Before anything is measured."""
    if page.is_dir() or page.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--page {page}: name a file that ends in .html")
    if not next(folder for folder in page.parents if folder.exists()).is_dir():
        raise UsageError(f"--page {page}: its folder is a file")


def show_outlook(run: Run, last: str = "training", as_json: bool = False, fresh: bool = False) -> None:
    """Prints what would be done, and why."""
    from danlu.workflow.stages import outlook

    rows: list[tuple[str, ...]] = list(outlook(run, last, fresh))
    if as_json:
        show_json([{"stage": row[0], "outlook": row[1]} for row in rows])
    else:
        show(table(rows))


def show(text: str) -> None:
    """Prints a command's answer; progress and notes go to standard error, so that this can be piped."""
    print(visible(text, lines=True))


def show_json(value: Any) -> None:
    """Prints a command's answer for a script."""
    # The escapes of `visible` are JSON's, so that the value stays the same.
    show(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def cell(value: Any) -> str:
    """A value of a table for the eye: three decimals are enough."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows of texts as aligned columns; columns of numbers to the right, also their heads."""
    columns = []
    for column in zip(*(map(visible, row) for row in rows), strict=True):
        width = max(map(len, column))
        numbers = all(text[:1].isdigit() for text in column[1:])
        columns.append([text.rjust(width) if numbers else text.ljust(width) for text in column])
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))
