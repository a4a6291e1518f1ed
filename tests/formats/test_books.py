"""Books and papers come through the guarded process as their extractors give them; what breaks is one damage."""

from __future__ import annotations

import io
import textwrap

import pytest

from danlu.extract.section import Extracted
from danlu.formats import books
from danlu.formats.books import answer, load, open_books, read_book
from danlu.formats.raw import Damage, Raw
from danlu.formats.sections import Joined
from danlu.formats.settings import GUARDED

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


@pytest.mark.parametrize("kind", sorted(GUARDED))
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


def test_a_novel() -> None:
    (raw,) = read("gutenberg", NOVEL.encode())
    assert isinstance(raw, Raw)
    assert (raw.text, raw.metadata["title"], raw.replaced) == (PARAGRAPH, "Cats", 0)


def test_what_could_not_be_decoded_is_counted_with_the_first_document() -> None:
    novel = NOVEL.replace("Title: Cats", "Title: Cats\n\nCharacter set encoding: UTF-8")
    (raw,) = read("gutenberg", novel.encode().replace(b"There was", b"There \xff was"))
    assert isinstance(raw, Raw)
    assert (raw.replaced, raw.text.count("\ufffd")) == (1, 1)
    paper = PAPER.replace("Deeper", "größer über").encode().replace(b"{One}", b"{On\xff}")
    raws = read("latex", paper, Joined("section", "", 10_000))
    assert [raw.replaced for raw in raws if isinstance(raw, Raw)] == [1, 0]


def test_a_source_alone_counts_what_it_reads_in() -> None:
    damage, raw = read("latex", PAPER.replace("Deeper.", "Deeper. \\input{more}").encode())
    assert damage == Damage("missing_file", "a", detail="more")
    assert isinstance(raw, Raw)


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
        "replaced": 0,
    }
