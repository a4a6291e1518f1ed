"""Where the cutting changes in mid-epoch, what is left of it comes first, exactly, and counts stay true."""

from collections import Counter

import numpy as np
import pytest

from danlu.shards.documents import open_documents
from danlu.tokens import index as module
from danlu.tokens.index import Cutting, build_index, whole_documents
from danlu.tokens.legs import first_leg, next_leg

LENGTHS = np.random.default_rng(8).integers(2, 50, 60).tolist()
CUTTINGS = (Cutting(16, "best_fit"), Cutting(24, "chunk"), Cutting(8, "greedy"), Cutting(8, "none", "tokens"))


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(module, "GROUP_TOKENS", 200)
    monkeypatch.setattr(module, "GROUP_SAMPLES", 4)


@pytest.fixture
def documents(tmp_path, write_domain):
    return open_documents(write_domain(tmp_path, "prose", LENGTHS, shards=2))


def cut(documents, cutting):
    ranks = np.argsort(documents.lengths, kind="stable") if cutting.order_by else None
    return build_index("prose", whole_documents(documents.lengths, ranks), cutting), ranks


def first(documents, cutting):
    return first_leg(documents, cutting, cut(documents, cutting)[0], seed=3)


def tokens_of(leg, start, stop):
    return Counter(
        (piece.document, place)
        for shown in range(start, stop)
        for piece in leg.pieces(shown)
        for place in range(piece.start, piece.start + piece.length)
    )


@pytest.mark.parametrize("shown", [0, 1, 37, 110, 111, 200])
@pytest.mark.parametrize("cutting", CUTTINGS[1:], ids=str)
def test_the_rest_of_the_epoch_is_what_was_not_shown(documents, shown, cutting):
    leg = first(documents, CUTTINGS[0])
    following = next_leg(leg, shown, cutting, *cut(documents, cutting), seed=3)
    epochs = -(-shown // leg.walk.samples)
    seen = tokens_of(leg, 0, shown) + tokens_of(following, 0, following.walk.rest_samples)
    assert set(seen.values()) <= {epochs}
    assert seen.total() == epochs * sum(LENGTHS)
    whole = tokens_of(
        following, following.walk.rest_samples, following.walk.rest_samples + following.walk.samples
    )
    assert set(whole.values()) == {1}
    assert whole.total() == sum(LENGTHS)


def test_adjacent_pieces_are_joined_again(documents):
    """A long document of which nothing was shown is whole again for longer samples."""
    leg = first(documents, Cutting(8, "none"))
    following = next_leg(leg, 1, Cutting(64, "none"), *cut(documents, Cutting(64, "none")), seed=3)
    rest = following.rest.packing
    assert (np.bincount(rest.documents) <= 2).all()
    assert (np.bincount(rest.documents) == 2).sum() <= 1


def test_three_cuttings_in_one_epoch(documents):
    legs, shown = [first(documents, CUTTINGS[0])], [9]
    for cutting in CUTTINGS[1:3]:
        legs.append(next_leg(legs[-1], shown[-1], cutting, *cut(documents, cutting), seed=3))
        shown.append(7)
    last = legs[-1]
    seen = sum((tokens_of(leg, 0, n) for leg, n in zip(legs[:-1], shown[:-1], strict=True)), Counter())
    seen += tokens_of(last, 0, last.walk.rest_samples)
    assert set(seen.values()) == {1}
    assert seen.total() == sum(LENGTHS)
    assert last.walk.locate(last.walk.rest_samples).epoch == 1


@pytest.mark.parametrize("before", [0, 20])
def test_counts_are_exact(documents, before):
    leg = first(documents, CUTTINGS[0])
    if before:
        leg = next_leg(leg, before, CUTTINGS[1], *cut(documents, CUTTINGS[1]), seed=3)
    counted = tokens_of(first(documents, CUTTINGS[0]), 0, before).total()
    for shown in (0, 1, 30, leg.walk.rest_samples, leg.walk.rest_samples + leg.walk.samples, 250):
        tokens = tokens_of(leg, 0, shown).total()
        assert leg.tokens(shown) == tokens
        assert leg.epochs(shown) == pytest.approx((counted + tokens) / sum(LENGTHS))
