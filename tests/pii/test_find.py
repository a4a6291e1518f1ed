"""The planted table by kind, overlaps, odd texts, and work that grows with the text alone."""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from itertools import pairwise
from re import _parser

import pytest

from danlu.pii import accounts, addresses, chinese, identity, names, phones, secrets
from danlu.pii.find import FINDERS, find, settle
from danlu.pii.settings import KINDS
from danlu.pii.view import Item
from danlu.words.text import Text
from pii.odd import ODD, random_texts
from pii.planted_table import LISTS, read_table, score_table

LEAST_PRECISION = LEAST_RECALL = 0.97
LEAST_ITEMS = 300
LEAST_OF_A_KIND = 5


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    for code, text in LISTS.items():
        (folder / code).write_text(text, encoding="utf-8")
    return names.load_names({code: str(folder / code) for code in LISTS}, "")


def test_planted_items(listed, capsys):
    table = read_table()
    scores, mistakes = score_table(
        table, lambda text: {tuple(item) for item in find(Text(text), KINDS, listed)}
    )
    sentences = Counter(item.kind for item in table)
    with capsys.disabled():
        print(f"\n{'kind':16}{'sentences':>10}{'planted':>9}{'precision':>11}{'recall':>8}")
        for kind, score in sorted(scores.items()):
            print(
                f"{kind:16}{sentences[kind]:10}{score.right + score.missed:9}{score.precision:11.3f}{score.recall:8.3f}"
            )
    assert len(table) >= LEAST_ITEMS
    assert set(scores) == set(KINDS)
    for kind, score in scores.items():
        planted = score.right + score.missed
        assert planted >= LEAST_OF_A_KIND
        assert sentences[kind] > sum(bool(item.spans) for item in table if item.kind == kind), (
            "no near misses"
        )
        assert min(score.precision, score.recall) >= LEAST_PRECISION, (kind, mistakes)


def test_items_are_found_between_others():
    table = [item for item in read_table() if item.spans and item.kind != "name"]
    random.Random(3).shuffle(table)
    text, expected = "", []
    for item in table:
        expected += [(start + len(text), end + len(text), item.kind) for start, end in sorted(item.spans)]
        text += f"{item.text}\nA line of words between them.\n"
    found = [tuple(item) for item in find(Text(text), KINDS)]
    assert len(set(found) & set(expected)) >= 0.97 * len(expected)
    assert len(set(found) - set(expected)) <= 0.03 * len(expected)


@pytest.mark.parametrize("kind", FINDERS)
def test_only_what_is_wanted_is_looked_for(kind):
    text = Text("\n".join(item.text for item in read_table()))
    assert {item.kind for item in find(text, [kind])} == {kind}


@pytest.mark.parametrize("text", ODD)
def test_odd_texts(text):
    check(text)


def test_random_texts():
    for text in random_texts(400):
        check(text)


def check(text):
    found = find(Text(text), KINDS)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
    assert found == find(Text(text), KINDS)


def test_overlaps_are_settled_by_kind_then_length():
    card, phone = Item(0, 19, "credit_card"), Item(2, 30, "phone")
    assert settle([phone, card], 30) == [card]
    assert settle([Item(0, 5, "phone"), Item(0, 9, "phone")], 9) == [Item(0, 9, "phone")]
    apart = [Item(0, 5, "phone"), Item(5, 9, "email")]
    assert settle(apart[::-1], 9) == apart
    assert settle([], 0) == []


def test_settling_equals_a_slow_reference():
    draw = random.Random(5)
    rank = [*FINDERS, "name"]
    for _ in range(200):
        found = [
            Item(start, start + draw.randrange(1, 12), draw.choice(KINDS))
            for start in (draw.randrange(60) for _ in range(draw.randrange(15)))
        ]
        kept: list[Item] = []
        for item in sorted(
            found, key=lambda item: (rank.index(item.kind), item.start - item.end, item.start)
        ):
            if all(item.end <= other.start or other.end <= item.start for other in kept):
                kept.append(item)
        assert settle(found, 80) == sorted(kept)


MODULES = (accounts, addresses, chinese, identity, names, phones, secrets)
PATTERNS = [
    pytest.param(value, id=f"{module.__name__}.{name}")
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
]
WIDEST = 20_000


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_pattern_is_unbounded(pattern):
    """A match, or an attempt at one, reads at most so many code points."""
    assert _parser.parse(pattern.pattern, pattern.flags).getwidth()[1] <= WIDEST


ADVERSARIAL = [
    *(
        "a@",
        "a.b@c.d.",
        "@",
        "a" * 63 + "@",
        "1-",
        "7",
        "0",
        ":",
        "ab:",
        "1:2:3:4:5:6:7:",
        "://",
        "://a:",
        "(0",
        "+",
    ),
    *(
        "4111 ",
        "4111 1111 1111 1112 ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n-----END ",
    ),
    *(
        "key=",
        "key=&",
        "password is ",
        "pwd=a1.",
        "ghp_",
        "eyJaaaaaaaaaaaa.",
        "1+",
        "00",
        "tel 1",
        "DE89 ",
        "京A",
        "plate ",
    ),
    *(
        "[at]",
        "a (at) b",
        "account 1",
        "1.1.1.1",
        "12.12.",
        "123-45-6789-",
        "020 7946 0958 ",
        "01 02 ",
        "A123456(4)",
        " ",
    ),
    *("+44 20 7946 095", "１", "\ud800", "İ", "aA1-", "SG.", "Zm9v" * 19 + "\n"),
]
SHORT, LONG, MEGABYTE = 1 << 13, 1 << 17, 1 << 20
MOST_OVER_LINEAR = 4.0
"""A busy machine may disturb so much; quadratic work would be sixteen times the linear."""
LEAST_SECONDS = 0.002


def seconds_of(text: str) -> float:
    start = time.process_time()
    find(Text(text), KINDS)
    return time.process_time() - start


def growth(unit: str, short: int, long: int) -> float:
    """How much more than in proportion to the text the time grows."""
    seconds_of("warm 1")
    row = unit * (long // len(unit) + 1)
    quick = min(seconds_of(row[:short]) for _ in range(3))
    return seconds_of(row[:long]) / max(quick, LEAST_SECONDS) / (long / short)


@pytest.mark.parametrize("unit", ADVERSARIAL, ids=lambda unit: ascii(unit[:24]))
def test_work_is_linear(unit):
    assert growth(unit, SHORT, LONG) <= MOST_OVER_LINEAR


def test_work_is_linear_in_a_megabyte_of_all_of_them():
    rows = [(unit * (MEGABYTE // len(unit)))[: MEGABYTE // len(ADVERSARIAL)] for unit in ADVERSARIAL]
    whole, some = "\n".join(rows), "\n".join(row[: len(row) // 16] for row in rows)
    assert seconds_of(whole) <= MOST_OVER_LINEAR * 16 * max(seconds_of(some), LEAST_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ADVERSARIAL, ids=lambda unit: ascii(unit[:24]))
def test_a_megabyte_of_each(unit):
    assert growth(unit, LONG // 4, MEGABYTE) <= MOST_OVER_LINEAR
