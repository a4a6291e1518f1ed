"""Project Gutenberg's texts: notices go, chapters are sections, paragraphs whole and verse in lines."""

import pytest

from danlu.extract.section import Section, join_sections
from danlu.publications.gutenberg import extract, extract_text

HEADER = """The Project Gutenberg EBook of The Small Book, by Ann Author

This eBook is for the use of anyone anywhere at no cost and with
almost no restrictions whatsoever.


Title: The Small Book
       And What Followed

Author: Ann Author

Release Date: May 5, 2005 [EBook #12345]

Language: English

*** START OF THIS PROJECT GUTENBERG EBOOK THE SMALL BOOK ***




Produced by Someone and the Online Distributed Proofreading
Team at http://www.pgdp.net



"""
BOOK = """THE SMALL BOOK

by Ann Author



CONTENTS

   I. The Beginning
  II. The End



CHAPTER I. THE BEGINNING


It was a long and well-known road that went over the hills and far
away, and on it there walked a man who had no thought of the well-
known dangers that were said to live there; he sang as he went, and
that was how it all began.

    "Twinkle, twinkle, little bat,
     How I wonder what you're at."

And he was never seen again.



CHAPTER II

THE END


II.

Nothing more is known.



"""
FOOTER = """End of the Project Gutenberg EBook of The Small Book, by Ann Author

*** END OF THIS PROJECT GUTENBERG EBOOK THE SMALL BOOK ***

***** This file should be named 12345.txt or 12345.zip *****

START: FULL LICENSE
"""
SECTIONS = (
    Section(("THE SMALL BOOK",), "by Ann Author"),
    Section(("CONTENTS",), "   I. The Beginning\n  II. The End"),
    Section(
        ("CHAPTER I. THE BEGINNING",),
        "It was a long and well-known road that went over the hills and far away, and on it there walked a man who "
        "had no thought of the well-known dangers that were said to live there; he sang as he went, and that was how "
        "it all began.\n\n"
        '    "Twinkle, twinkle, little bat,\n     How I wonder what you\'re at."\n\n'
        "And he was never seen again.",
    ),
    Section(("CHAPTER II", "II."), "THE END\n\nNothing more is known."),
)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_book(newline):
    book = extract_text((HEADER + BOOK + FOOTER).replace("\n", newline))
    assert [section.headings for section in book.sections[:3]] == [
        section.headings for section in SECTIONS[:3]
    ]
    assert book.sections[:3] == SECTIONS[:3]
    assert book.metadata == {
        "title": "The Small Book And What Followed",
        "author": "Ann Author",
        "language": "en",
        "date": "May 5, 2005",
        "number": "12345",
    }
    assert book.damages == ()
    text = join_sections(book.sections)
    assert text.endswith("Nothing more is known.")
    assert "Gutenberg" not in text
    assert "Produced by" not in text


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("*** START OF THE PROJECT GUTENBERG EBOOK X ***", "*** END OF THE PROJECT GUTENBERG EBOOK X ***"),
        ("***START OF THE PROJECT GUTENBERG EBOOK X***", "***END OF THE PROJECT GUTENBERG EBOOK X***"),
        (
            "*** START OF THE PROJECT GUTENBERG EBOOK, A VERY\nLONG TITLE ***",
            "End of Project Gutenberg's X, by Y",
        ),
        (
            "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nlegal\n"
            "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
            "End of The Project Gutenberg Etext of X",
        ),
        (
            "*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
            "End of this Project Gutenberg Etext",
        ),
        (
            "*** START OF THE PROJECT GUTENBERG EBOOK X ***",
            "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN EBOOKS**",
        ),
    ],
)
def test_marks_of_all_times(begin, end):
    book = extract_text(
        f"The Project Gutenberg Etext of X, by Y Z [Etext #11]\n\n{begin}\n\nThe text.\n\n{end}\n\nlicence\n"
    )
    assert join_sections(book.sections) == "The text."
    assert book.metadata["number"] == "11"
    assert (book.metadata["title"], book.metadata["author"]) == ("X", "Y Z [Etext #11]") or book.metadata[
        "title"
    ] == "X"
    assert book.damages == ()


@pytest.mark.parametrize(
    "text", ["", " ", "a", "今天天气很好。", "a\n\nb\x00\ud800\U0001f600", "x" * 100_000, "\n" * 1000]
)
def test_a_text_without_marks_is_kept_and_said(text):
    book = extract_text(text)
    assert join_sections(book.sections) == text.strip(" \n")
    assert [reason for reason, _ in book.damages] == ["no_start_mark", "no_end_mark"]


def test_levels_of_parts_and_chapters():
    lines = ["BOOK ONE", "CHAPTER I", "x", "I", "y", "CHAPTER II. A NAME", "z", "BOOK TWO", "Chapter 3", "w"]
    book = extract_text("\n\n\n".join(lines))
    assert [(section.headings, section.text) for section in book.sections] == [
        (("BOOK ONE", "CHAPTER I"), "x"),
        (("BOOK ONE", "CHAPTER I", "I"), "y"),
        (("BOOK ONE", "CHAPTER II. A NAME"), "z"),
        (("BOOK TWO", "Chapter 3"), "w"),
    ]


def test_chinese_books_have_chapters():
    book = extract_text(
        "第一回\u3000甄士隱夢幻識通靈\n\n\u3000\u3000此開卷第一回也。\n\n第二回 賈夫人仙逝揚州城\n\n詩云。"
    )
    assert [(section.headings, section.text) for section in book.sections] == [
        (("第一回 甄士隱夢幻識通靈",), "\u3000\u3000此開卷第一回也。"),
        (("第二回 賈夫人仙逝揚州城",), "詩云。"),
    ]


def test_a_sentence_in_capitals_within_a_paragraph_is_no_heading():
    assert extract_text("a b c\n\nNO SMOKING\n\nd e f").sections == (
        Section((), "a b c\n\nNO SMOKING\n\nd e f"),
    )


def test_long_lines_are_read_in_linear_time():
    for line in ("*** " * 200_000, "A " * 400_000, "Project Gutenberg of " * 40_000, "第一" * 300_000):
        assert extract_text(line).sections


CHINESE = "今天天氣很好，我們去公園裡散步。孩子們在草地上跑來跑去，大人們坐在樹下說話。這是一個平常的星期天。"


@pytest.mark.parametrize(
    ("header", "codec", "text", "guessed"),
    [
        ("", "utf-8", "é", ""),
        ("", "utf-8-sig", "é", ""),
        ("Character set encoding: Big5", "big5", "甲", ""),
        ("Character set encoding: ISO-8859-2", "iso-8859-2", "łódź", ""),
        ("Character set encoding: ISO-8859-1", "cp1252", "“é”", ""),
        ("Character set encoding: ISO Latin-1", "cp1252", "é", ""),
        ("Character set encoding: ASCII", "cp1252", "Noël était là.", "cp1252"),
        ("", "big5", CHINESE, "big5"),
        ("", "cp1252", "Les élèves étaient là.", "cp1252"),
    ],
)
def test_encodings(header, codec, text, guessed):
    book = extract(f"{header}\n\n{text}\n".encode(codec))
    assert text in join_sections(book.sections)
    assert [detail for reason, detail in book.damages if reason == "guessed_encoding"] == [guessed] * bool(
        guessed
    )
    assert book.replaced == 0


def test_what_cannot_be_decoded_is_counted():
    book = extract(b"Character set encoding: UTF-8\n\nA caf\xe9 \xff.")
    assert (book.replaced, book.sections[0].text.count("\ufffd")) == (2, 2)


END = "*** END OF THIS PROJECT GUTENBERG EBOOK THE SMALL BOOK ***\n"
START = HEADER.splitlines().index("*** START OF THIS PROJECT GUTENBERG EBOOK THE SMALL BOOK ***") + 1


@pytest.mark.parametrize("lines", [3, 30, 900])
@pytest.mark.parametrize("end", [END, ""])
def test_another_book_behind_the_first_is_a_damage_with_its_line(lines, end):
    first = HEADER + BOOK + "A line of the first book.\n" * lines + end
    text = first + HEADER.replace("Small", "Other") + "The other book.\n" + END
    found = extract_text(text)
    line = len(first.splitlines()) + START
    assert ("another_book", f"begins in line {line}; its text is not read") in found.damages
    assert ("no_end_mark" in [reason for reason, _ in found.damages]) == (not end)
    joined = join_sections(found.sections)
    assert "A line of the first book." in joined
    assert "The other book." not in joined
    assert found.metadata["title"].startswith("The Small Book")


def test_a_mark_that_is_said_again_begins_no_other_book():
    mark = HEADER.splitlines()[START - 1]
    found = extract_text(HEADER.replace(mark, f"{mark}\n\n{mark}") + BOOK + END)
    assert not found.damages
    assert "twinkle" in join_sections(found.sections)
