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
    show,
    show_json,
    size,
    table,
)
from danlu.errors import UsageError

if TYPE_CHECKING:
    from danlu.read.settings import Source
    from danlu.tokenizer.measure import Comparison, Labelled

_SURE = 0.65
"""From this score on a recognised language is taken."""
_SHOWN_GROUPS = 8
_MOST_DOCUMENT_BYTES = 20_000_000


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(help="From documents to a vocabulary.", no_args_is_help=True, rich_markup_mode=None)
    group.command(epilog="Example: danlu tokenizer train recipe.toml --set tokenizer.vocab_size=8192")(train)
    group.command(
        epilog="Example: danlu tokenizer measure my-run llama.model gpt2/tokenizer.json --text web=pages/*.txt "
        "--text code=src/*.py --page tokenizers.html"
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
        typer.Argument(metavar="TOKENIZER...", help="Each a tokenizer.json, a .model or a run."),
    ],
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[DOMAIN=]GLOB",
            help="Texts to measure on, in any format that a source reads. May be repeated.",
        ),
    ] = None,
    most: Annotated[
        str, typer.Option("--bytes", metavar="SIZE", help="Read at most so much of each --text.")
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
    domain and language, beside a token a character and a token a word. Without --text: the documents that the first
    run holds out for validation. A record's own domain and language go before the option's and the recognised one.
    """
    from danlu.report.tokenizers import write_measure_page
    from danlu.tokenizer.measure import Given, compare
    from danlu.tokenizer.train import load_file

    paths = [_file_of(name) for name in tokenizers]
    readers = [Given(load_file(path), name) for name, path in zip(tokenizers, paths, strict=True)]
    limit = size(most, "--bytes") or 0
    texts = list(_given(text, limit, document) if text else _held_out(tokenizers, limit))
    measured = compare(texts, readers)
    if page:
        write_measure_page(page, measured)
    if as_json:
        show_json([_as_values(one) for one in measured])
        return
    show("\n\n".join(_tables(measured)))
    if page:
        show(f"{page} shows them as pictures")


def _file_of(name: str) -> Path:
    """The file of a tokenizer that is named by itself, or by its run."""
    from danlu.workflow.run import find_run

    path = Path(name)
    if path.is_file() or path.suffix in (".json", ".model"):
        return path
    if (path / "tokenizer.json").is_file():
        return path / "tokenizer.json"
    return find_run(name, wanted="tokenizer or run") / "tokenizer" / "tokenizer.json"


def _given(globs: Sequence[str], limit: int, document: str) -> Iterator[Labelled]:
    """The texts of `[domain=]glob` options."""
    from danlu.read.documents import read_documents

    for item in globs:
        domain, sign, glob = item.partition("=")
        domain, glob = (domain, glob) if sign else (item, item)
        found = read_documents(_source(glob, document), Path(), _MOST_DOCUMENT_BYTES, lambda _: None)
        rows = ((one.text, one.metadata.get("domain") or domain, _language_of(one)) for one in found)
        yield from _up_to(limit, rows)


def _source(glob: str, document: str) -> Source:
    """Files as a source of a recipe reads them; of records also what they say of themselves."""
    from pydantic import ValidationError

    from danlu.config import Origin, refuse
    from danlu.read.settings import Source

    keys: dict[str, Any] = {"document": document} if document != "file" else {}
    if any(f".{form}" in glob for form in ("jsonl", "parquet")):
        keys["metadata_fields"] = ["domain", "lang"]
    try:
        return Source(domain="texts", paths=[glob], **keys)
    except ValidationError as error:
        raise refuse(error, Source, Origin()) from None


def _held_out(names: Sequence[str], limit: int) -> Iterator[Labelled]:
    """The validation documents of the first run among the names."""
    from danlu.corpus.split import VALIDATION
    from danlu.read.store import list_domains, list_parts, read_part
    from danlu.workflow.run import RUNS, is_run

    places = [place for name in names for place in (Path(name), RUNS / name) if is_run(place)]
    if not places:
        raise UsageError("none of these is a run, whose held-out text could be used; name texts with --text")
    corpus = places[0] / "corpus"
    for domain in list_domains(corpus, VALIDATION):
        parts = list_parts(corpus, VALIDATION, domain)
        yield from _up_to(
            limit, ((one.text, domain, _language_of(one)) for part in parts for one in read_part(part))
        )


def _up_to(limit: int, texts: Iterator[tuple[str, str, str]]) -> Iterator[Labelled]:
    from danlu.tokenizer.measure import Labelled

    for text, domain, language in texts:
        if limit <= 0:
            return
        # UTF-8 has no lone surrogates.
        clean = text.encode("utf-8", "replace").decode()
        limit -= len(clean.encode())
        yield Labelled(clean, domain, language)


def _language_of(document: Any) -> str:
    """The language that a record states, else the recognised one; "" where there is no recogniser or it is unsure."""
    from danlu.errors import MissingError
    from danlu.quality.language import READ_CHARACTERS, identify

    if stated := document.language or document.metadata.get("lang"):
        return str(stated).split("-")[0].lower()
    if document.metadata.get("code_language"):
        return "code"
    try:
        language, score = identify(document.text[:READ_CHARACTERS])[0]
    except (MissingError, IndexError):
        return ""
    return language if score >= _SURE else ""


def _tables(measured: Sequence[Comparison]) -> Iterator[str]:
    from danlu.report.tokenizers import HEADER, row_of

    rows: list[tuple[str, ...]] = [("tokenizer", "vocabulary", *HEADER)]
    yield table(rows + [(one.name, f"{one.vocab_size:,}", *row_of(one.total)) for one in measured])
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
        "note": one.note,
        "total": values(one.total),
        "domains": {name: values(figures) for name, figures in one.domains.items()},
        "languages": {name: values(figures) for name, figures in one.languages.items()},
    }
