"""What a new stage changes and what it leaves alone: the rest of an epoch, ordered domains, added text, huge counts."""

import dataclasses
import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.tokens import index
from danlu.tokens.walk import Walk
from small_stages import (
    GROUP_TOKENS,
    LENGTHS,
    PACKINGS,
    SIXTY,
    THIRTY,
    Run,
    Shown,
    check_run,
    pieces_by_domain,
    runs,
    same,
    small_groups,  # noqa: F401  (an autouse fixture)
    stage,
    stages_over,
    wanted_order,
)

# What a switch leaves alone ------------------------------------------------------------------------------------------


@given(
    run=runs(most_stages=1, most_domains=3),
    steps=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=20)
def test_new_weights_alone_cut_nothing_anew(run, steps, data):
    """Each domain's own samples are those of a run that never switched."""
    (first,) = run.stages
    names = sorted(first.weights)
    changed = tuple(
        dataclasses.replace(
            first, steps=count, weights=stage(1, 8, {n: data.draw(st.integers(1, 9)) for n in names}).weights
        )
        for count in steps
    )
    switched = pieces_by_domain(dataclasses.replace(run, stages=(first, *changed)))
    most = first.steps + sum(steps)
    for name in names:
        alone = dataclasses.replace(
            first,
            steps=most,
            weights={name: 1.0},
            order_by={n: by for n, by in first.order_by.items() if n == name},
        )
        straight = pieces_by_domain(dataclasses.replace(run, stages=(alone,)))[name]
        assert switched[name] == straight[: len(switched[name])]


def test_masks_alone_cut_nothing_anew():
    first = stage(7, 16, {"ash": 1})
    later = dataclasses.replace(first, document_mask=False, reset_positions=False)
    switched = pieces_by_domain(Run({"ash": SIXTY}, (first, later)))
    assert switched == pieces_by_domain(Run({"ash": SIXTY}, (first, first)))


@given(run=runs(most_stages=4), data=st.data())
@settings(max_examples=20)
def test_what_comes_later_changes_nothing_before(run, data):
    """A stage cut short, followed by new stages and new domains: the steps before are as they were, none repeats."""
    cut = data.draw(st.integers(1, run.steps))
    kept, left = [], cut
    for planned in run.stages:
        if left:
            kept.append(dataclasses.replace(planned, steps=min(left, planned.steps)))
            left -= kept[-1].steps
    names = (*run.sizes, "elm")
    added = data.draw(st.lists(stages_over(names), min_size=1, max_size=2))
    changed = Run({**run.sizes, "elm": THIRTY}, (*kept, *added), run.seed)
    before, after = run.open(), changed.open()
    assert all(same(before.step(step), after.step(step)) for step in range(cut))
    check_run(changed)


def test_epochs_and_seeds_have_orders_of_their_own():
    """A hashed domain's; an ordered one differs within its groups."""
    for by in ({}, {"ash": "x"}):
        run = Run({"ash": SIXTY}, (stage(150, 16, {"ash": 1}, order_by=by),))
        first, other = (pieces_by_domain(dataclasses.replace(run, seed=seed))["ash"] for seed in (1, 2))
        size = run.open().stages[0].legs["ash"].index.packing.samples
        assert set(first[:size]) == set(first[size : 2 * size]) == set(other[:size])
        assert first[:size] != first[size : 2 * size]
        assert first[:size] != other[:size]


# The remainder of an epoch -------------------------------------------------------------------------------------------


@given(
    lengths=st.sampled_from([pair for pair in itertools.product(LENGTHS, LENGTHS) if pair[0] != pair[1]]),
    old=st.sampled_from(PACKINGS),
    new=st.sampled_from(["best_fit", "none"]),
    steps=st.integers(1, 15),
    by=st.sampled_from([{}, {"ash": "x"}]),
)
@settings(max_examples=30)
def test_adjacent_pieces_of_the_remainder_are_joined(lengths, old, new, steps, by):
    """Every unshown run of a document is cut into as few pieces as the new length needs, shown before a next epoch."""
    run = Run(
        {"ash": SIXTY},
        (
            stage(steps, lengths[0], {"ash": 1}, old, order_by=by),
            stage(60, lengths[1], {"ash": 1}, new, order_by=by),
        ),
    )
    batches, shown = run.open(), Shown(run.domains)
    for step in range(steps):
        for sample in batches.step(step).samples:
            shown.add(sample.pieces)
    runs_left = shown.unshown("ash")
    wanted = Counter()
    for length in runs_left:
        wanted[lengths[1]] += length // lengths[1]
        wanted[length % lengths[1]] += 1 if length % lengths[1] else 0
    found, left, number = Counter(), sum(runs_left), run.first_sample(steps)
    while left > 0:
        pieces = batches.pieces(number)
        shown.add(pieces)
        found.update(piece.length for piece in pieces)
        left -= sum(piece.length for piece in pieces)
        number += 1
    assert left == 0
    assert +found == +wanted


# 6: ordered domains --------------------------------------------------------------------------------------------------


def places(run, first, stop):
    """For every piece of "ash" in steps first..stop: (epoch, tokens before its document in the wanted order)."""
    documents, batches, shown = run.domains["ash"], run.open(), Shown(run.domains)
    by = run.stage_of(first).order_by["ash"]
    order = wanted_order(by, len(documents))
    before = np.empty(len(documents), dtype=np.int64)
    before[order] = np.cumsum(documents.lengths[order]) - documents.lengths[order]
    found = []
    for step in range(stop):
        for sample in batches.step(step).samples:
            if sample.domain != "ash":
                continue
            epoch = int(shown.counts["ash"].min())
            shown.add(sample.pieces)
            if step >= first:
                found.append((epoch, [int(before[piece.document]) + piece.start for piece in sample.pieces]))
    return found


def assert_rising(found, slack):
    """Within an epoch nothing lies more than `slack` tokens behind what was shown before it."""
    highest = {}
    for epoch, starts in found:
        assert min(starts) >= highest.get(epoch, 0) - slack, (epoch, starts, highest)
        highest[epoch] = max(highest.get(epoch, 0), *starts)


@pytest.mark.parametrize("by", ["x", "-x", "y"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_an_ordered_domain_rises_up_to_a_group(packing, by):
    run = Run(
        {"ash": SIXTY, "bay": THIRTY},
        (
            stage(40, 16, {"ash": 3, "bay": 1}, packing, order_by={"ash": by}),
            stage(80, 16, {"ash": 1, "bay": 3}, packing, order_by={"ash": by}),
        ),
    )
    assert_rising(places(run, 0, run.steps), slack=2 * GROUP_TOKENS + max(SIXTY))
    check_run(run)


@pytest.mark.parametrize("before", [{}, {"ash": "y"}, {"ash": "-x"}], ids=["hashed", "another", "falling"])
@pytest.mark.parametrize("length", [16, 24])
def test_the_remainder_is_ordered_too(length, before):
    """A domain that becomes ordered in mid-epoch shows the rest of that epoch in order, then whole ordered epochs."""
    run = Run(
        {"ash": SIXTY},
        (stage(15, length, {"ash": 1}, order_by=before), stage(130, 16, {"ash": 1}, order_by={"ash": "x"})),
    )
    found = places(run, 15, run.steps)
    assert {epoch for epoch, _ in found} >= {0, 1, 2}
    # The remainder's groups are of about 120 unshown tokens, which lie among as many shown ones.
    assert_rising([item for item in found if item[0] > 0], slack=2 * GROUP_TOKENS + max(SIXTY))
    rest = [start for epoch, starts in found if epoch == 0 for start in starts]
    half = len(rest) // 2
    assert np.mean(rest[:half]) < np.mean(rest[half:]) - sum(SIXTY) / 5


@pytest.mark.parametrize("packing", PACKINGS)
def test_documents_of_a_group_each_are_in_order_exactly(packing, monkeypatch):
    monkeypatch.setattr(index, "ORDERED_GROUP_SAMPLES", 1)
    run = Run(
        {"ash": (16, 20, 30, 48, 17, 25, 40)}, (stage(20, 16, {"ash": 1}, packing, order_by={"ash": "-x"}),)
    )
    shown = [piece.document for pieces in pieces_by_domain(run)["ash"] for piece in pieces]
    groups = [number for number, _ in itertools.groupby(shown)]
    assert groups[:7] == wanted_order("-x", 7).tolist()


# 7: arithmetic at 15T tokens -----------------------------------------------------------------------------------------

GROUPS, SAMPLES = 3_576_278, 1024


def test_fifteen_trillion_tokens():
    """3.66 billion samples of 4,096 in 3.6 million groups, with a rest of 2 billion before: exact at the last ones."""
    whole = np.arange(GROUPS + 1, dtype=np.int64) * SAMPLES
    rest = np.arange(GROUPS // 2 + 1, dtype=np.int64) * SAMPLES + np.minimum(np.arange(GROUPS // 2 + 1), 999)
    walk = Walk(7, "web", whole, first_epoch=3, rest=rest)
    assert walk.rest_samples > 2**30
    assert walk.samples * 4096 > 14 * 10**12
    for start, epoch, of_rest in (
        (0, 3, True),
        (walk.rest_samples - 3000, 3, True),
        (walk.rest_samples, 4, False),
        (walk.rest_samples + walk.samples - 3000, 4, False),
        (walk.rest_samples + (2**62 // walk.samples) * walk.samples, 4 + 2**62 // walk.samples, False),
    ):
        found = [walk.locate(start + n) for n in range(3000)]
        assert {where.epoch for where in found} == {epoch}
        assert {where.rest for where in found} == {of_rest}
        assert len({where.sample for where in found}) == 3000
        table = rest if of_rest else whole
        assert all(table[where.group] <= where.sample < table[where.group + 1] for where in found)


def test_fifteen_trillion_tokens_in_order():
    """An ordered domain's place is its group: group n is shown after the n groups before it, at any epoch."""
    walk = Walk(7, "web", np.arange(GROUPS + 1, dtype=np.int64) * SAMPLES, ordered=True)
    for epoch in (0, 10**6):
        for group in (0, 1, 2**21, GROUPS - 1):
            found = [walk.locate(epoch * walk.samples + group * SAMPLES + n) for n in range(SAMPLES)]
            assert {where.group for where in found} == {group}
            assert sorted(where.sample for where in found) == list(
                range(group * SAMPLES, (group + 1) * SAMPLES)
            )
