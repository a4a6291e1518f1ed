"""An epoch shows every sample once, the rest of one comes first, and 15T tokens fit in the arithmetic."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.tokens.walk import Location, Walk


def offsets(*sizes):
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@given(
    groups=st.lists(st.integers(1, 9), min_size=1, max_size=5),
    rest=st.lists(st.integers(1, 6), max_size=3),
    seed=st.integers(0, 2**32),
    ordered=st.booleans(),
)
@settings(max_examples=40)
def test_every_epoch_shows_every_sample_once_and_the_rest_first(groups, rest, seed, ordered):
    table, rest_table = offsets(*groups), offsets(*rest)
    more = {"first_epoch": 3, "rest": rest_table if rest else None, "ordered": ordered}
    walk = Walk(seed, "a", table, **more)
    left = [walk.locate(n) for n in range(sum(rest))]
    assert sorted(where.sample for where in left) == list(range(sum(rest)))
    assert all(where.rest and where.epoch == 3 for where in left)
    size = sum(groups)
    for epoch in range(3):
        shown = [walk.locate(sum(rest) + epoch * size + n) for n in range(size)]
        assert sorted(where.sample for where in shown) == list(range(size))
        assert {where.epoch for where in shown} == {3 + bool(rest) + epoch}
        assert all(table[w.group] <= w.sample < table[w.group + 1] and not w.rest for w in shown)
        if ordered:
            assert [where.group for where in shown] == sorted(where.group for where in shown)


@given(shown=st.integers(0, 60), rest=st.lists(st.integers(1, 6), max_size=3), ordered=st.booleans())
def test_unseen_is_what_is_shown_next_up_to_the_end_of_the_epoch(shown, rest, ordered):
    walk = Walk(5, "a", offsets(4, 6, 3), rest=offsets(*rest) if rest else None, ordered=ordered)
    left = walk.unseen(shown)
    bounds = offsets(*rest) if left.rest else offsets(4, 6, 3)
    count = len(left.samples) + int((bounds[left.groups + 1] - bounds[left.groups]).sum())
    after = [walk.locate(shown + n) for n in range(count)]
    assert [where.sample for where in after[: len(left.samples)]] == left.samples.tolist()
    following = [group for group, _ in itertools.groupby(where.group for where in after[len(left.samples) :])]
    assert following == left.groups.tolist()
    assert all((where.rest, where.epoch) == (left.rest, left.epoch) for where in after)
    then = walk.locate(shown + count)
    assert (then.rest, then.epoch) == (False, left.epoch + bool(left))
    assert not walk.unseen(shown + count)


def test_a_group_is_shown_whole_before_the_next():
    walk = Walk(3, "a", offsets(5, 6, 7, 8))
    groups = [walk.locate(n).group for n in range(26)]
    assert len(list(itertools.groupby(groups))) == 4
    assert Counter(groups) == {0: 5, 1: 6, 2: 7, 3: 8}


def test_epochs_seeds_and_domains_differ():
    def epoch(seed, number, domain="a"):
        walk = Walk(seed, domain, offsets(50, 50))
        return [walk.locate(number * 100 + n).sample for n in range(100)]

    assert epoch(1, 0) == epoch(1, 0)
    assert len({tuple(epoch(*key)) for key in ((1, 0), (1, 1), (2, 0), (1, 0, "b"))}) == 4


def test_pure_whatever_was_asked_before():
    def make():
        return Walk(7, "a", offsets(9, 4, 6), rest=offsets(5, 5))

    in_turn = make()
    stream = [in_turn.locate(n) for n in range(400)]
    backwards = make()
    assert [backwards.locate(n) for n in reversed(range(400))] == stream[::-1]
    assert all(make().locate(n) == stream[n] for n in (0, 1, 57, 399))


def test_fifteen_trillion_tokens():
    """3.66 billion samples of 4,096 in 3.6 million groups of 1,024, and the same text seven times over."""
    walk = Walk(1, "web", np.arange(3_576_278 + 1, dtype=np.int64) * 1024)
    assert walk.samples * 4096 > 14.99e12
    last = [walk.locate(walk.samples - 1 - n) for n in range(200)]
    assert len({where.sample for where in last}) == 200
    assert {where.epoch for where in last} == {0}
    assert walk.locate(6 * walk.samples + 5).epoch == 6
    assert walk.locate(2**62).epoch == 2**62 // walk.samples


def test_a_domain_without_samples():
    with pytest.raises(InputError, match="'a' has no sample"):
        Walk(1, "a", offsets())
    assert Walk(1, "a", offsets(1)).locate(7) == Location(7, 0, 0)
