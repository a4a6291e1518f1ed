"""The tables of English against spaCy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from danlu.words import english_rules as rules
from danlu.words.hashes import hash_span
from danlu.words.text import encode


def test_exceptions_are_spacys(spacy_english: Any) -> None:
    known = {
        chunk: [piece[65] for piece in pieces] for chunk, pieces in spacy_english.tokenizer.rules.items()
    }
    ours = {"".join(pieces): pieces for pieces in rules.read_exceptions()}
    assert ours == {chunk: pieces for chunk, pieces in known.items() if not chunk.isspace()}
    assert spacy_english.tokenizer.token_match is None


def test_sets_are_spacys(spacy_english: Any) -> None:
    import re

    from spacy.lang import char_classes

    flags = rules.build_flags(rules.read_data())
    for name, flag in (("ALPHA", rules.LETTER), ("ALPHA_LOWER", rules.LOWER), ("ALPHA_UPPER", rules.UPPER)):
        known = re.compile(f"[{getattr(char_classes, name)}]").match
        assert [code for code in range(0x30000) if bool(flags[code] & flag) != bool(known(chr(code)))] == []
    tails = {*char_classes.LIST_UNITS, "+", *(sign.replace("\\", "") for sign in char_classes.LIST_CURRENCY)}
    assert set(rules.read_data()["tails"].split()) == tails
    assert max(map(len, tails)) == rules.TAIL_LENGTH
    marks = spacy_english.get_pipe("sentencizer").punct_chars
    assert {chr(code) for code in (flags & rules.SENTENCE_MARK).nonzero()[0]} == marks


def test_ranges() -> None:
    assert [list(codes) for codes in rules.parse_ranges("61-63 df 101-105/2")] == [
        [0x61, 0x62, 0x63],
        [0xDF],
        [0x101, 0x103, 0x105],
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_hash_table(count: int) -> None:
    values = [int(value) for value in np.random.default_rng(count).integers(1, 1 << 62, count)]
    values += [value + (1 << 62) for value in values]  # the same slot
    table = rules.hash_table({value: number for number, value in enumerate(values)})
    assert [table[rules.find_slot(np.uint64(value), table), 1] for value in values] == list(
        range(len(values))
    )
    assert rules.find_slot(np.uint64((1 << 63) + 5), table) == -1


def test_filter_lets_every_exception_pass() -> None:
    tables = rules.read_rules()
    for pieces in rules.read_exceptions():
        chunk = "".join(pieces)
        assert tables.filter[rules.filter_slot(ord(chunk[0]), ord(chunk[-1]), len(chunk))]
        slot = rules.find_slot(np.uint64(hash_span(encode(chunk), 0, len(chunk))), tables.exceptions)
        assert int(tables.exceptions[slot, 1]).to_bytes(8, "little")[len(pieces) - 1] == len(chunk)
    assert tables.filter.mean() < 0.2
