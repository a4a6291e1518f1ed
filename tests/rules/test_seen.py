"""The set of hashes: every size, the hash 0, room for larger texts."""

import numpy as np
import pytest

from danlu.rules.seen import clear, find_slot, seen_before, slots_for, spread


@pytest.mark.parametrize("entries", [1, 2, 31, 32, 33, 1000, 5000])
def test_remembers_what_was_added_and_nothing_else(entries):
    drawn = np.random.default_rng(entries).integers(0, entries, 2 * entries, np.uint64)
    hashes = drawn * np.uint64(1 << 40)
    keys = slots_for(entries)
    bits = clear(keys, entries)
    again = [seen_before(keys, bits, value) for value in hashes]
    listed = hashes.tolist()
    assert again == [value in listed[:place] for place, value in enumerate(listed)]


def test_clearing_forgets():
    keys = slots_for(3)
    bits = clear(keys, 3)
    assert not seen_before(keys, bits, np.uint64(7))
    assert keys[find_slot(keys, bits, np.uint64(7))] == 7
    assert clear(keys, 3) == bits
    assert not seen_before(keys, bits, np.uint64(7))


def test_room_is_enough_for_all_entries_and_is_used_again():
    keys = slots_for(100)
    assert len(keys) >= 2 ** clear(keys, 100) >= 200
    assert slots_for(90) is keys


def test_a_spread_number_has_so_many_bits():
    drawn = np.random.default_rng(0).integers(0, 2**63, 100, np.uint64)
    assert {int(spread(value, 6)) >> 6 for value in drawn} == {0}
