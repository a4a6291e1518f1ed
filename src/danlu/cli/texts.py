"""The texts that tokenizers are measured on: files of an option, or what a run holds out.

Decides: a file whose ending says no format of a source is plain text. Guarantees: a glob that names nothing is refused
before anything is measured; what is damaged is counted and said. Costs: as the formats; a language is recognised where
none is stated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from danlu.errors import InputError, UsageError

if TYPE_CHECKING:
    from danlu.formats.raw import Piece
    from danlu.read.settings import Source
    from danlu.tokenizer.measure import Labelled

_SURE = 0.65
"""From this score on a recognised language is taken."""
_MOST_DOCUMENT_BYTES = 20_000_000


def run_of(name: str) -> Path | None:
    """The directory of the run that a recipe or the name of a run means."""
    from danlu.workflow.run import RUNS, is_run, resolve

    if Path(name).suffix == ".toml":
        return resolve(name).directory
    return next((place for place in (Path(name), RUNS / name) if is_run(place)), None)


def given_texts(globs: Sequence[str], limit: int, document: str) -> Iterator[Labelled]:
    """The texts of `[domain=]glob` options; what is damaged is said at the end, by reason."""
    from danlu.formats.settings import IN_SECTIONS, Family, formats_in
    from danlu.log import say
    from danlu.read.documents import read_pieces

    listed = {item: _listed(item) for item in globs}
    cut = IN_SECTIONS if document == "section" else formats_in(Family.PLAIN)
    if document != "file" and not any(kind in cut for kinds in listed.values() for kind in kinds):
        raise UsageError(
            f"--document {document} has no effect on these texts, only on {', '.join(sorted(cut))}"
        )
    damages: Counter[str] = Counter()
    for item, kinds in listed.items():
        domain, glob = _domain_and_glob(item)
        sources = {kind: _source(glob, kind, document if kind in cut else "file") for kind in kinds}
        found = chain.from_iterable(
            read_pieces(
                pieces,
                sources[kind],
                Path(),
                _MOST_DOCUMENT_BYTES,
                lambda damage: damages.update([damage.reason]),
            )
            for kind, pieces in kinds.items()
        )
        rows = ((one.text, one.metadata.get("domain") or domain, _language_of(one)) for one in found)
        yield from _up_to(limit, rows)
    if damages:
        say(f"  damaged: {', '.join(f'{count:,} {reason}' for reason, count in damages.most_common())}")


def _domain_and_glob(item: str) -> tuple[str, str]:
    """Where no domain is given, the glob is also the name of its texts."""
    domain, sign, glob = item.partition("=")
    return (domain, glob) if sign and "/" not in domain else (item, item)


def _listed(item: str) -> dict[str, list[Piece]]:
    """The files that a `[domain=]glob` names, by their format: plain text where their ending says none."""
    from danlu.formats.settings import PYTHON_PREFIX, format_of
    from danlu.formats.streams import is_remote
    from danlu.read.find import whole_pieces

    _, glob = _domain_and_glob(item)
    if not glob or (not is_remote(glob) and Path(glob).expanduser().is_dir()):
        folder = item if item.endswith(("=", "/")) else f"{item}/"
        raise UsageError(f"--text {item}: name files, e.g. --text '{folder}**/*.txt'")
    try:
        pieces = whole_pieces(_source(glob), Path())
    except InputError as error:
        if is_remote(glob):
            raise
        raise InputError(
            f"--text {item}: no file matches {glob!r} in {Path.cwd()} (** crosses folders, hidden files must be "
            f"named)"
        ) from error
    kinds: dict[str, list[Piece]] = {}
    for piece in pieces:
        kind = "auto" if piece.path.startswith(PYTHON_PREFIX) else format_of(piece.path) or "txt"
        kinds.setdefault(kind, []).append(piece)
    return kinds


def _source(glob: str, kind: str = "auto", document: str = "file") -> Source:
    """Files as a source of a recipe reads them; of records also what they say of themselves."""
    from pydantic import ValidationError

    from danlu.config import Origin, refuse
    from danlu.formats.settings import Family, formats_in
    from danlu.read.settings import Source

    fields = ["domain", "lang"] if kind in formats_in(Family.RECORDS) else []
    keys: dict[str, Any] = {"format": kind, "document": document, "metadata_fields": fields}
    try:
        return Source(domain="texts", paths=[glob], **keys)
    except ValidationError as error:
        raise refuse(error, Source, Origin()) from None


def held_out_texts(names: Sequence[str], limit: int) -> Iterator[Labelled]:
    """The validation documents of the first run among the names that has a corpus."""
    from danlu.corpus.split import VALIDATION
    from danlu.read.store import list_domains, list_parts, read_part

    runs = filter(None, map(run_of, names))
    corpus = next((run / "corpus" for run in runs if (run / "corpus").is_dir()), None)
    if corpus is None:
        raise UsageError("none of these is a run with a corpus that holds text out; name texts with --text")
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
