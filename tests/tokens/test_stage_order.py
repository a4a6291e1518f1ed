"""The staged order, as a user was promised it: nothing twice in an epoch, nothing lost, whatever the stages do."""

import dataclasses
import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from danlu.mixture.weights import SHARE_UNIT, to_sample_shares
from danlu.records import PAD_DOCUMENT
from danlu.tokens.batches import prefetch
from small_stages import (
    ARRAYS,
    BATCH_TOKENS,
    LENGTHS,
    NAMES,
    PACKINGS,
    PAD,
    SIXTY,
    THIRTY,
    Run,
    Shown,
    batches_of,
    check_run,
    new_directory,
    pieces_by_domain,
    runs,
    same,
    small_groups,  # noqa: F401  (an autouse fixture)
    stage,
)

TEN = (10,) * 10


# 1, 5: every token once an epoch, exact boundaries -------------------------------------------------------------------


@given(run=runs())
@settings(max_examples=40)
def test_no_token_twice_and_none_lost(run):
    check_run(run)


@given(run=runs(most_stages=12, most_domains=1))
@settings(max_examples=30)
def test_one_source_through_many_stages(run):
    check_run(run)


@given(
    lengths=st.lists(st.sampled_from(LENGTHS), min_size=2, max_size=6),
    packings=st.lists(st.sampled_from(PACKINGS), min_size=6, max_size=6),
    steps=st.lists(st.integers(1, 2), min_size=6, max_size=6),
    size=st.integers(48, 300),
)
@settings(max_examples=30)
def test_one_document_cut_anew_again_and_again(lengths, packings, steps, size):
    """A switch falls inside the remainder of the switch before."""
    stages = tuple(
        stage(count, length, {"ash": 1}, packing)
        for count, length, packing in zip(steps, lengths, packings, strict=False)
    )
    check_run(Run({"ash": (size,)}, stages))


@pytest.mark.parametrize("packing", PACKINGS)
def test_ten_documents_for_3_7_epochs(packing):
    """Then another length: the open epoch ends before the next begins."""
    run = Run({"ash": TEN}, (stage(8, 16, {"ash": 1}, packing), stage(12, 24, {"ash": 1}, packing)))
    shown = check_run(run)
    assert shown.counts["ash"].min() >= 4


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("light", "heavy"), [(0.001, 0.999), (0.999, 0.001)])
def test_extreme_weights(packing, light, heavy):
    stages = (
        stage(300, 16, {"ash": light, "bay": heavy}, packing),
        stage(40, 24, {"bay": 1}, packing),
        stage(20, 48, {"ash": heavy, "bay": light}, packing),
    )
    shown = check_run(Run({"ash": SIXTY, "bay": THIRTY}, stages))
    assert all(counts.max() >= 1 for counts in shown.counts.values())


def test_a_stage_that_never_reads_a_domain():
    """It goes on where it stood, whatever length the others had meanwhile."""
    first, last = stage(10, 16, {"ash": 1, "bay": 1}), stage(20, 16, {"ash": 1, "bay": 1})
    for middle in (stage(15, 16, {"ash": 1}), stage(15, 48, {"ash": 1}, "chunk")):
        run = Run({"ash": SIXTY, "bay": THIRTY}, (first, middle, last))
        check_run(run)
        assert not pieces_by_domain(run, 10, 25)["bay"]
        straight = Run(run.sizes, (first, last))
        assert pieces_by_domain(run)["bay"] == pieces_by_domain(straight)["bay"]


@given(run=runs())
@settings(max_examples=20)
def test_stages_end_exactly_where_planned(run):
    batches, step = run.open(), 0
    for planned in run.stages:
        rows = BATCH_TOKENS // planned.sequence_length
        for _ in range(planned.steps):
            batch = batches.step(step)
            assert batch.inputs.shape == (rows, planned.sequence_length)
            assert {sample.domain for sample in batch.samples} <= set(planned.weights)
            step += 1
    assert step == run.steps


def test_a_batch_over_a_boundary_is_refused():
    run = Run({"ash": SIXTY}, (stage(3, 16, {"ash": 1}), stage(3, 24, {"ash": 1})))
    batches = run.open()
    with pytest.raises(Exception, match=r"stage"):
        batches.batch(6, 6)
    assert batches.batch(6, 3).inputs.shape == (3, 16)
    assert batches.batch(9, 2).inputs.shape == (2, 24)


# 2: quotas -----------------------------------------------------------------------------------------------------------


def drawn(run):
    """The domain of every sample, by stage."""
    found = [[] for _ in run.stages]
    batches, ends = run.open(), list(itertools.accumulate(s.steps for s in run.stages))
    for step in range(run.steps):
        found[next(i for i, end in enumerate(ends) if step < end)] += [
            sample.domain for sample in batches.step(step).samples
        ]
    return found


def assert_within_two(domains, shares):
    n = np.arange(1, len(domains) + 1)
    for name, share in shares.items():
        counts = np.cumsum([domain == name for domain in domains])
        assert np.abs(counts - share * n).max() < 2, name


@given(
    weights=st.lists(
        st.dictionaries(
            st.sampled_from(NAMES[:4]),
            st.one_of(st.integers(1, 100).map(float), st.sampled_from([0.001, 0.999])),
            min_size=1,
        ),
        min_size=1,
        max_size=4,
    ),
    lengths=st.lists(st.sampled_from(LENGTHS), min_size=4, max_size=4),
    packing=st.sampled_from(PACKINGS),
)
@settings(max_examples=25)
def test_quotas_at_every_prefix_of_a_stage(weights, lengths, packing):
    """Documents fill every sample of every length, so that a sample's share is a token's."""
    sizes = {name: (48,) * (6 + i) for i, name in enumerate(NAMES[:4])}
    stages = [stage(40, length, w, packing) for length, w in zip(lengths, weights, strict=False)]
    run = Run(sizes, tuple(stages))
    for planned, domains in zip(run.stages, drawn(run), strict=True):
        assert_within_two(domains, planned.weights)


@pytest.mark.parametrize("packing", PACKINGS)
def test_token_weights_are_kept_where_samples_are_not_full(packing):
    """A domain whose samples hold fewer tokens is shown more samples."""
    sizes = {"ash": (5,) * 60, "bay": (31,) * 40, "cedar": (16,) * 30}
    weights = {"ash": 0.2, "bay": 0.5, "cedar": 0.3}
    mean = {}
    for name, lengths in sizes.items():
        alone = Run({name: lengths}, (stage(400, 16, {name: 1}, packing),))
        samples = pieces_by_domain(alone)[name]
        epoch = list(itertools.accumulate(sum(p.length for p in s) for s in samples)).index(sum(lengths)) + 1
        mean[name] = sum(lengths) / epoch
    run = Run(sizes, (stage(400, 16, weights, packing),))
    shares = to_sample_shares(weights, mean)
    assert_within_two(drawn(run)[0], {name: count / SHARE_UNIT for name, count in shares.items()})
    tokens = Counter()
    for name, samples in pieces_by_domain(run).items():
        tokens[name] = sum(p.length for sample in samples for p in sample)
    for name, weight in weights.items():
        assert tokens[name] / tokens.total() == pytest.approx(weight, abs=0.02), name


# 3, 4: any cut of the stream is the same stream ----------------------------------------------------------------------


@given(run=runs(), ranks=st.sampled_from([1, 2, 3]))
@settings(max_examples=15)
def test_ranks_see_the_same_samples(run, ranks):
    whole = run.open()
    for rank in range(ranks):
        mine = run.open()
        for step, _, batch in batches_of(whole, run):
            for row in range(rank, len(batch.samples), ranks):
                one = mine.batch(run.first_sample(step) + row, 1)
                assert one.samples[0].pieces == batch.samples[row].pieces
                for name in ARRAYS:
                    np.testing.assert_array_equal(getattr(one, name)[0], getattr(batch, name)[row])


@given(run=runs(), data=st.data())
@settings(max_examples=15)
def test_any_batching(run, data):
    whole, parts = run.open(), run.open()
    first = 0
    for planned in run.stages:
        rows = BATCH_TOKENS // planned.sequence_length
        stop = first + planned.steps * rows
        stream = whole.batch(first, stop - first)
        at = first
        while at < stop:
            count = data.draw(st.integers(1, min(stop - at, 9)))
            part = parts.batch(at, count)
            assert part.first == at
            assert [s.pieces for s in part.samples] == [
                s.pieces for s in stream.samples[at - first :][:count]
            ]
            for name in ARRAYS:
                np.testing.assert_array_equal(
                    getattr(part, name), getattr(stream, name)[at - first :][:count]
                )
            at += count
        first = stop


@given(run=runs())
@settings(max_examples=10)
def test_two_threads_read_what_one_reads(run):
    one, both = run.open(), run.open()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(both.step, range(run.steps)))
    assert all(same(batch, one.step(step)) for step, batch in enumerate(found))
    ahead = list(prefetch(run.open(), run.steps // 2, run.steps))
    assert all(same(*pair) for pair in zip(ahead, found[run.steps // 2 :], strict=True))


@given(run=runs(), data=st.data())
@settings(max_examples=20)
def test_resumed_at_any_step(run, data):
    directory = new_directory()
    unbroken = [batch for _, _, batch in batches_of(run.open(directory), run)]
    for _ in range(3):
        step = data.draw(st.integers(0, run.steps - 1))
        anew = run.open(data.draw(st.sampled_from([directory, None])))
        for later in range(step, min(step + 4, run.steps)):
            assert same(anew.step(later), unbroken[later])


@given(run=runs())
@settings(max_examples=10)
def test_asked_backwards(run):
    forwards = [batch for _, _, batch in batches_of(run.open(), run)]
    backwards = run.open()
    assert all(same(backwards.step(step), forwards[step]) for step in reversed(range(run.steps)))


def test_a_directory_serves_every_run():
    """What one run stored beside the shards does not change another's stream."""
    directory = new_directory()
    sizes = {"ash": SIXTY, "bay": THIRTY}
    weights = {"ash": 2, "bay": 1}
    for cut, by, packing in itertools.product(
        (3, 7), ({}, {"ash": "x"}, {"ash": "-x"}), ("best_fit", "none")
    ):
        stages = (stage(cut, 16, weights, packing, order_by=by), stage(9, 24, weights, packing))
        for seed in (1, 2):
            run = Run(sizes, stages, seed)
            shared, alone = run.open(directory), run.open()
            assert all(same(shared.step(step), alone.step(step)) for step in range(run.steps))


# What is told beforehand ---------------------------------------------------------------------------------------------


@given(run=runs())
@settings(max_examples=20)
def test_what_is_explained_is_what_is_read(run):
    """The tokens and epochs of every domain that are told beforehand, at every step."""
    batches, shown = run.open(), Shown(run.domains)
    for planned, first in zip(
        batches.stages, itertools.accumulate((s.steps for s in run.stages), initial=0), strict=False
    ):
        before = {name: int(shown.counts[name].sum()) for name in planned.legs}
        began = {name: leg.tokens(planned.before[name]) for name, leg in planned.legs.items()}
        for step in range(planned.planned.steps):
            for sample in batches.step(first + step).samples:
                shown.add(sample.pieces)
            for name, samples in planned.shown((step + 1) * planned.batch_sequences).items():
                total = int(shown.counts[name].sum())
                assert planned.legs[name].tokens(samples) - began[name] == total - before[name]
                epochs = total / shown.counts[name].size
                assert planned.legs[name].epochs(samples) == pytest.approx(epochs, abs=1e-9)


# Blocked documents ---------------------------------------------------------------------------------------------------


@given(run=runs(), data=st.data())
@settings(max_examples=20)
def test_blocked_documents_become_padding(run, data):
    """From their step on; nothing moves: every other token stands in the same sample."""
    blocked = {
        name: data.draw(
            st.dictionaries(st.integers(0, len(lengths) - 1), st.integers(0, run.steps), min_size=1)
        )
        for name, lengths in run.sizes.items()
    }
    barred = dataclasses.replace(run, blocked=blocked)
    with_, without = barred.open(), run.open()
    for step in range(run.steps):
        shown, all_ = with_.step(step), without.step(step)
        assert shown.inputs.shape == all_.inputs.shape
        for one, two in zip(shown.samples, all_.samples, strict=True):
            kept = []
            column = 0
            for piece in two.pieces:
                if step < blocked[piece.domain].get(piece.document, run.steps):
                    kept += two.inputs[column : column + piece.length].tolist()
                column += piece.length
            real = one.documents != PAD_DOCUMENT
            assert one.inputs[real].tolist() == kept
            assert (one.inputs[~real] == PAD).all()
            assert (one.labels[~real] < 0).all()
            assert one.domain == two.domain
