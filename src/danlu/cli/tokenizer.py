"""`danlu tokenizer`: from documents to a vocabulary, and tokenizers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from danlu.cli.options import (
    AsJson,
    DryRun,
    RecipeOrRun,
    Settings,
    do_through,
    refuse_page,
    show,
    show_json,
    size,
    table,
)
from danlu.cli.texts import given_texts, held_out_texts, run_of
from danlu.errors import InputError, MissingError, UsageError

if TYPE_CHECKING:
    from danlu.tokenizer.measure import Comparison, TokenizerFile

_SHOWN_GROUPS = 8


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to a vocabulary.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokenizer train recipe.toml --set tokenizer.vocab_size=8192")(train)
    group.command(
        epilog="Example: danlu tokenizer measure my-run llama.model gpt2/tokenizer.json --text 'web=pages/*.txt' "
        "--text 'code=src/*.py' --page tokenizers.html"
    )(measure)
    app.add_typer(group, name="tokenizer")


def train(recipe: RecipeOrRun, settings: Settings = None, dry_run: DryRun = False) -> None:
    """Train the tokenizer on the corpus.

    The corpus is built first if it is not there.
    """
    do_through("tokenizer", recipe, settings, dry_run)


def measure(
    tokenizers: Annotated[
        list[str],
        typer.Argument(
            metavar="TOKENIZER...", help="Each a tokenizer.json, a .model, or a recipe or run that has one."
        ),
    ],
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[DOMAIN=]GLOB",
            help="Texts to measure on, quoted as 'code=src/*.py'. Files of a format that a source reads by its ending "
            "are read so, all others as plain text. May be repeated.",
        ),
    ] = None,
    most: Annotated[
        str,
        typer.Option(
            "--bytes", metavar="SIZE", help="Read at most so much of each --text, or held-out domain."
        ),
    ] = "10M",
    document: Annotated[
        str, typer.Option(help="What one document of plain text is: file, line, blank_line.")
    ] = "file",
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write pictures and all tables, .html.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare tokenizers on your text.

    Bytes a token, tokens a word, unknown tokens, texts that come back as they were and encoding speed, in all and by
    domain and language, beside a token a character and a token a word. Without --text: what the first recipe or run
    holds out for validation. A record's own domain and language go before the option's and the recognised one.
    """
    from danlu.report.tokenizers import write_measure_page
    from danlu.tokenizer.measure import compare

    if page:
        refuse_page(page)
    if not text and document != "file":
        raise UsageError("--document says what a document of --text is; without --text it has no effect")
    limit = size(most, "--bytes")
    if not limit:
        raise UsageError(f"--bytes {most}: nothing would be read")
    may_be_expanded = bool(text) and len(tokenizers) > 1
    readers = [_reader(name, may_be_expanded) for name in tokenizers]
    texts = list(given_texts(text, limit, document) if text else held_out_texts(tokenizers, limit))
    measured = compare(texts, readers)
    if page:
        write_measure_page(page, measured)
    if as_json:
        show_json([_as_values(one) for one in measured])
        return
    show("\n\n".join(_tables(measured)))
    if page:
        show(f"{page} shows them as pictures")


def _reader(name: str, may_be_expanded: bool) -> TokenizerFile:
    """The tokenizer that is named by its file, its folder, its recipe or its run."""
    from danlu.tokenizer.measure import TokenizerFile
    from danlu.tokenizer.train import load_file

    path = _file_of(name)
    try:
        return TokenizerFile(load_file(path), name)
    except InputError as error:
        if not may_be_expanded:
            raise
        glob = path.parent / f"*{path.suffix}"
        raise InputError(
            f"{error}. If the shell put {name} there for a glob, quote the glob: --text '{glob}'"
        ) from error


def _file_of(name: str) -> Path:
    """The file of a tokenizer. Raises MissingError where there is none yet."""
    from danlu.workflow.run import find_run

    path = Path(name)
    if path.suffix != ".toml":
        if path.is_file() or path.suffix in (".json", ".model"):
            return path
        if (path / "tokenizer.json").is_file():
            return path / "tokenizer.json"
    directory = run_of(name) or find_run(name, wanted="tokenizer, recipe or run")
    file = directory / "tokenizer" / "tokenizer.json"
    if not file.is_file():
        raise MissingError(f"{name} has no tokenizer yet; `danlu tokenizer train {name}` makes it")
    return file


def _tables(measured: Sequence[Comparison]) -> Iterator[str]:
    from danlu.report.tokenizers import HEADER, row_of

    rows: list[tuple[str, ...]] = [("tokenizer", "vocabulary", *HEADER, "encoded by")]
    yield table(
        rows + [(one.name, f"{one.vocab_size:,}", *row_of(one.total), one.encoder or "-") for one in measured]
    )
    for title in ("domain", "language"):
        groups = [getattr(one, f"{title}s") for one in measured]
        names = sorted(groups[0], key=lambda name: -groups[0][name].bytes)
        rows = [("bytes/token", *names[:_SHOWN_GROUPS])]
        rows += [
            (one.name, *(row_of(of[name])[0] for name in names[:_SHOWN_GROUPS]))
            for one, of in zip(measured, groups, strict=True)
        ]
        left = len(names) - _SHOWN_GROUPS
        yield f"by {title}\n{table(rows)}" + (f"\nand {left} more: --page or --json" if left > 0 else "")
    for one in measured:
        if one.note:
            yield f"{one.name} is measured, but danlu would not train with it: {one.note}"


def _as_values(one: Comparison) -> dict[str, Any]:
    """A comparison for a script; a rate that does not exist is null."""
    from math import isnan

    from danlu.tokenizer.measure import Figures

    def values(figures: Figures) -> dict[str, Any]:
        rates = figures.rates()
        return vars(figures) | {name: None if isnan(rate) else rate for name, rate in rates.items()}

    return {
        "name": one.name,
        "vocab_size": one.vocab_size,
        "encoder": one.encoder or None,
        "note": one.note,
        "total": values(one.total),
        "domains": {name: values(figures) for name, figures in one.domains.items()},
        "languages": {name: values(figures) for name, figures in one.languages.items()},
    }
