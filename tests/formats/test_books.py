"""Books and papers come through the guarded process as their extractors give them; what breaks is one damage."""

from __future__ import annotations

import io
import textwrap

import pytest

from danlu.extract.section import Extracted
from danlu.formats import books
from danlu.formats.books import BOOKS, answer, decode_book, load, open_books, read_book
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined

PARAGRAPH = f"There was {'a cat and a dog that sat on a mat and ' * 9}so it went on."
PAPER = r"""\documentclass{article}\title{On Cats}\newcommand{\cat}{\mathrm{cat}}
\begin{document}\maketitle % a comment
\section{One} A cat is $\cat^2$ of one. \subsection{Deep} Deeper.
\end{document}"""
NOVEL = f"""The Project Gutenberg eBook of Cats

Title: Cats

*** START OF THE PROJECT GUTENBERG EBOOK CATS ***

{textwrap.fill(PARAGRAPH, 72)}

*** END OF THE PROJECT GUTENBERG EBOOK CATS ***

Licence.
"""
WHOLE = Joined("file", "", 10_000)


def read(kind: str, data: bytes, joined: Joined = WHOLE) -> list[Raw | Damage]:
    with open_books(kind) as extractor:
        return list(read_book(io.BytesIO(data).read, "a", extractor, joined))


@pytest.mark.parametrize("kind", BOOKS)
def test_what_each_format_needs_is_there(kind: str) -> None:
    load(kind)


def test_a_paper() -> None:
    (raw,) = read("latex", PAPER.encode())
    assert isinstance(raw, Raw)
    assert raw.text == "One\n\nA cat is $\\mathrm{cat}^2$ of one.\n\nDeep\n\nDeeper."
    assert (raw.metadata["title"], raw.group, raw.start, raw.end) == ("On Cats", "a", 0, len(PAPER))


def test_a_section_each_with_a_template() -> None:
    raws = read("latex", PAPER.encode(), Joined("section", "{title}: {text}", 10_000))
    assert [raw.text.split("\n")[0] for raw in raws] == ["On Cats: One", "On Cats: One > Deep"]


def test_a_novel_in_either_encoding() -> None:
    (raw,) = read("gutenberg", NOVEL.encode())
    assert (raw.text, raw.metadata["title"]) == (PARAGRAPH, "Cats")
    assert decode_book("\ufeffé".encode()) == decode_book("é".encode("cp1252")) == "é"


@pytest.mark.parametrize("kind", ["epub", "pdf", "docx", "wikipedia", "stackexchange"])
def test_what_is_no_book_is_one_damage(kind: str) -> None:
    (damage,) = read(kind, b"no book at all")
    assert isinstance(damage, Damage)
    assert damage.reason == "extraction_failed"


def test_a_file_may_be_larger_than_its_text() -> None:
    comments = PAPER.encode() + b"% more\n" * 60
    assert [type(raw) for raw in read("latex", comments, Joined("file", "", 100))] == [Raw]
    (damage,) = read("latex", comments, Joined("file", "", 40))
    assert damage == Damage("too_long", "a", detail="longer than 400 bytes")


def test_the_answer_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        @staticmethod
        def extract(data: bytes) -> Extracted:
            return Extracted((), {"title": data.decode()}, (("no_text_layer", "page 1"),))

    monkeypatch.setattr(books, "import_module", lambda _: Module)
    assert answer(b"T", "", "pdf") == {
        "sections": [],
        "metadata": {"title": "T"},
        "damages": [("no_text_layer", "page 1")],
    }
