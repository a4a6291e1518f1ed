"""Addresses against spaCy's regular expression."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from danlu.words.english_address import is_address
from danlu.words.spacy_english import rules_of_english
from danlu.words.text import encode

SCHEMES = ["", "http://", "a://", "git+ssh.x://", "é1://", "//", "x:y@", "@", "me@", "a://b@", "mailto:a@"]
HOSTS = [
    *(
        "a.com",
        "www.a-b.com",
        "-a.com",
        "a-.com",
        "a_b.com",
        "_a.com",
        "a..com",
        ".com",
        "a.c",
        "a.Com",
        "a.com.",
        "",
    ),
    *(
        "é.fr",
        "中.cn",
        "a.中文",
        "a.𠀀𠀀",
        "𠀀.com",
        "a.b.c.d.org",
        "x" * 64 + ".com",
        "x" * 65 + ".com",
        "a.c0m",
    ),
    *("a." + "b" * 63, "a." + "b" * 64, "a,b.com", "a b.com"[:1] + "\u3002.com"),
]
OCTETS = ["0", "1", "9", "10", "127", "172", "192", "169", "223", "224", "255", "256", "1٣", "٣", "01", "199"]
SECOND = ["0", "15", "16", "2٣", "31", "32", "168", "254", "255", "256", "٣"]
ENDS = ["", ":80", ":8", ":123456", ":8٣", ":", "/", "/x", "?q", "#", ":80/a?b", ":80x", "//"]


def check(spacy_english: Any, chunk: str) -> None:
    expected = spacy_english.tokenizer.url_match(chunk) is not None
    assert is_address(encode(chunk), 0, len(chunk), rules_of_english().flags) == expected, chunk


def test_names(spacy_english: Any) -> None:
    for parts in itertools.product(SCHEMES, HOSTS, ENDS):
        chunk = "".join(parts)
        if " " not in chunk:
            check(spacy_english, chunk)


def test_numbers(spacy_english: Any) -> None:
    for first, second, last in itertools.product(OCTETS, SECOND, ["0", "1", "254", "255", "٣"]):
        check(spacy_english, f"{first}.{second}.{second}.{last}")
    for chunk in ("8.8.8", "8.8.8.8.8", "8.8.8.8:80/x", "8.8.8.", "8..8.8", "1.1.1.1a", "me@8.8.8.8"):
        check(spacy_english, chunk)


@pytest.mark.parametrize("text", ["a" * 200_000 + ".com", "a@" * 100_000, "a.b@" * 50_000, "." * 200_000])
def test_long_chunks_take_no_time(text: str) -> None:
    assert not is_address(encode(text), 0, len(text), rules_of_english().flags)
