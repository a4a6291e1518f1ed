"""The table against Python's own strings."""

from __future__ import annotations

import unicodedata

import pytest

from danlu.words import classes


@pytest.mark.parametrize(
    ("flag", "test"),
    [
        (classes.SPACE, str.isspace),
        (classes.ALPHA, str.isalpha),
        (classes.UPPER, str.isupper),
        (classes.DIGIT, str.isdigit),
        (classes.LINE_BREAK, lambda character: len((character + "x").splitlines()) == 2),
        (classes.TERMINAL, lambda character: character in classes.TERMINAL_MARKS),
        (
            classes.PUNCTUATION,
            lambda character: character in classes.PUNCTUATION_MARKS or character in classes.TERMINAL_MARKS,
        ),
    ],
)
def test_every_code_point(flag: int, test: object) -> None:
    assert callable(test)
    flags = classes.table()
    wrong = [code for code in range(classes.CODE_POINTS) if bool(flags[code] & flag) != test(chr(code))]
    assert wrong == []


def test_published_marks() -> None:
    assert len(set(classes.TERMINAL_MARKS)) == 159
    assert len(set(classes.PUNCTUATION_MARKS)) == 66 + 63
    assert not classes.table()[ord("\n")] & classes.PUNCTUATION


def test_scripts_without_spaces() -> None:
    flags = classes.table()
    unspaced = "中𠀀々ひカーไำໄកမབꀀ"
    assert all(flags[ord(character)] & classes.UNSPACED for character in unspaced)
    assert not any(flags[ord(character)] & classes.UNSPACED for character in "aя한あ"[:3] + "。、０๐ ")
    assert all(unicodedata.category(chr(code))[0] in "LM" for code in (flags & classes.UNSPACED).nonzero()[0])


def test_same_array_each_time() -> None:
    assert classes.table() is classes.table()
    assert not classes.table().flags.writeable
