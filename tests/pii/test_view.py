"""What the finders see, beside slow ways to the same: folded texts, chains of digits, tokens."""

import re

import pytest

from danlu.pii.view import CONTEXT, LEAST_DIGITS, LEAST_TOKEN, digits_of, look, search
from danlu.words.text import Text
from pii.odd import ODD, random_texts


def slow_fold(text):
    spaces, hyphens = "\u00a0\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), "‐‑‒–−﹣"
    folded = ""
    for sign in text:
        if "！" <= sign <= "～":
            folded += chr(ord(sign) - 0xFEE0)
        else:
            folded += " " if sign in spaces else "-" if sign in hyphens else sign
    return folded


def slow_chains(plain):
    groups = [match.span() for match in re.finditer("[0-9]+", plain)]
    chains = []
    for start, end in groups:
        between = plain[chains[-1][1] : start] if chains else "x"
        if len(between) <= 3 and set(between) <= set(" -./()+"):
            chains[-1] = (chains[-1][0], end, chains[-1][2] + end - start)
        else:
            chains.append((start, end, end - start))
    return [chain for chain in chains if chain[2] >= LEAST_DIGITS]


def slow_tokens(plain):
    return [match.span() for match in re.finditer(rf"[A-Za-z0-9_-]{{{LEAST_TOKEN},}}", plain)]


def slow_ibans(plain):
    return [match.start() for match in re.finditer(r"(?=[A-Z]{2}[0-9]{2})", plain)]


def check(text):
    view = look(Text(text))
    assert view.plain == slow_fold(text)
    assert len(view.plain) == len(view.lower) == len(text)
    assert [tuple(chain) for chain in view.chains] == slow_chains(view.plain)
    assert view.tokens == slow_tokens(view.plain)
    assert view.ibans == slow_ibans(view.plain)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts(text):
    check(text)


def test_random_texts():
    for text in random_texts(400, seed=11):
        check(text)


def test_ascii_is_not_copied():
    text = "Nothing to fold."
    assert look(Text(text)).plain is text


def test_before_stops_at_the_beginning():
    view = look(Text("ABC 123456"))
    assert view.before(4) == "abc "
    assert view.before(4, 2) == "c "
    assert len(look(Text("x" * 100)).before(100)) == CONTEXT


def test_capitals_around():
    view = look(Text("B 123456-Z a123456"))
    assert view.follows_capital(2)
    assert view.precedes_capital(8)
    assert not view.follows_capital(12)
    assert not view.precedes_capital(18)
    assert not view.follows_capital(0)


def test_search_goes_on_behind_what_is_not_valid():
    pattern = re.compile(r"\d\d")
    found = search(pattern, "a1234567", 0, 8, lambda match: match.group() in ("23", "45"))
    assert [match.group() for match in found] == ["23", "45"]
    assert not list(search(pattern, "1234", 0, 1, lambda match: True))


def test_digits():
    assert digits_of("+1 (٣) ４ 2") == "12"
