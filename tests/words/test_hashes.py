"""The shared hash against arithmetic on Python's integers."""

from __future__ import annotations

import numpy as np
import pytest

from danlu.words.hashes import FIRST_MIX, SECOND_MIX, START, STEP, hash_span, join_hashes
from danlu.words.text import encode

ALL = (1 << 64) - 1


def reference_mix(value: int) -> int:
    value = ((value ^ (value >> 33)) * int(FIRST_MIX)) & ALL
    value = ((value ^ (value >> 33)) * int(SECOND_MIX)) & ALL
    return value ^ (value >> 33)


def reference_hash(text: str) -> int:
    value = int(START) ^ len(text)
    for start in range(0, len(text), 2):
        pair = text[start : start + 2]
        value ^= sum(ord(character) << 32 * place for place, character in enumerate(pair))
        value = (value * int(STEP)) & ALL
        value ^= value >> 29
    return reference_mix(value)


@pytest.mark.parametrize("text", ["", "a", "ab", "中文", "\x00", "\ud800", "x" * 1000])
def test_hash_of_a_span(text: str) -> None:
    codes = encode(f"({text})")
    assert hash_span(codes, 1, len(text) + 1) == reference_hash(text)


def test_sequence() -> None:
    one, two = reference_hash("one"), reference_hash("two")
    joined = join_hashes(np.uint64(one), np.uint64(two))
    assert joined == reference_mix((one * int(STEP) + two) & ALL)
    assert joined != join_hashes(np.uint64(two), np.uint64(one))


def test_known_value() -> None:
    """Hashes are stored: they must not change."""
    assert reference_hash("danlu") == 0xDEEC3F47B2E5CF45
