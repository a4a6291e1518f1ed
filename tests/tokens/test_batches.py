"""The stream is a pure function of the sample number; every token of an epoch is shown once; prefetch ends cleanly."""

import threading
from collections import Counter
from contextlib import closing

import numpy as np
import pytest

from danlu.errors import DamagedError, InputError, MismatchError, RecipeError
from danlu.mixture.stages import PlannedStage
from danlu.records import IGNORE_INDEX, PAD_DOCUMENT
from danlu.tokens.batches import prefetch
from danlu.tokens.packing import KINDS

DOMAINS = {
    "code": np.random.default_rng(1).integers(2, 70, 60).tolist(),
    "prose": np.random.default_rng(2).integers(2, 40, 25).tolist(),
}
ARRAYS = ("inputs", "labels", "positions", "documents")


def same(one, two):
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ARRAYS)


def test_any_split_is_the_same_stream(make_batches):
    batches = make_batches(DOMAINS)
    whole = batches.batch(0, 240)
    for count in (1, 7, 16):
        for first in range(0, 240 - count, count):
            part = batches.batch(first, count)
            for name in ARRAYS:
                np.testing.assert_array_equal(
                    getattr(part, name), getattr(whole, name)[first : first + count]
                )
            assert [s.pieces for s in part.samples] == [
                s.pieces for s in whole.samples[first : first + count]
            ]
            assert [sample.number for sample in part.samples] == list(range(first, first + count))


def test_resume_at_any_sample(make_batches):
    whole = make_batches(DOMAINS).batch(0, 120)
    for first in (1, 59, 119):
        assert np.array_equal(make_batches(DOMAINS).batch(first, 1).inputs[0], whole.inputs[first])


@pytest.mark.parametrize("packing", KINDS)
def test_an_epoch_shows_every_token_once_with_its_next(make_batches, packing):
    batches = make_batches({"code": DOMAINS["code"]}, packing=packing)
    documents = batches.documents["code"]
    for epoch in range(3):
        size = batches.stages[0].legs["code"].walk.samples
        batch = batches.batch(epoch * size, size)
        seen = []
        for sample in batch.samples:
            column = 0
            for number, piece in enumerate(sample.pieces):
                end = column + piece.length
                whole = documents.tokens_of(piece.document, 0, 10**9).astype(np.int64)
                following = np.append(whole[1:], IGNORE_INDEX)[piece.start : piece.start + piece.length]
                np.testing.assert_array_equal(
                    sample.inputs[column:end], whole[piece.start : piece.start + piece.length]
                )
                np.testing.assert_array_equal(sample.labels[column:end], following)
                np.testing.assert_array_equal(sample.positions[column:end], np.arange(piece.length))
                assert (sample.documents[column:end] == number).all()
                seen += [(piece.document, place) for place in range(piece.start, piece.start + piece.length)]
                column = end
            assert (sample.documents[column:] == PAD_DOCUMENT).all()
        assert len(seen) == len(set(seen)) == sum(DOMAINS["code"])
        assert batch.target_tokens == sum(DOMAINS["code"]) - len(DOMAINS["code"])


def test_quotas_in_samples(make_batches):
    batches = make_batches(DOMAINS, weights={"code": 0.999, "prose": 0.001}, max_epochs=100.0)
    drawn = [sample.domain for sample in batches.batch(0, 3000).samples]
    assert drawn.count("prose") == batches.stages[0].order.counts(3000)["prose"]
    assert 2 <= drawn.count("prose") <= 4


def test_ten_documents_several_epochs(make_batches):
    batches = make_batches({"a": [10] * 10}, sequence_length=20)
    size = batches.stages[0].legs["a"].walk.samples
    for epoch in range(5):
        shown = [p.document for n in range(size) for p in batches.pieces(epoch * size + n)]
        assert sorted(shown) == list(range(10))


def test_three_and_seven_tenths_epochs_of_ten_documents(make_batches):
    """37 samples of one document each: seven of the ten are shown four times, three of them three times."""
    batches = make_batches({"a": [16] * 10})
    assert batches.stages[0].legs["a"].walk.samples == 10
    assert batches.stages[0].legs["a"].epochs(37) == pytest.approx(3.7)
    shown = Counter(piece.document for n in range(37) for piece in batches.pieces(n))
    assert sorted(shown.values()) == [3] * 3 + [4] * 7


def test_without_mask_or_reset(make_batches):
    batches = make_batches(DOMAINS, document_mask=False, reset_positions=False)
    batch = batches.batch(0, 50)
    assert set(np.unique(batch.documents)) <= {0, PAD_DOCUMENT}
    real = batch.documents == 0
    np.testing.assert_array_equal(batch.positions[real], np.broadcast_to(np.arange(16), real.shape)[real])


def test_seed_changes_the_order_not_the_packing(make_batches):
    one, two = make_batches(DOMAINS, seed=1), make_batches(DOMAINS, seed=2)
    assert one.fingerprints == two.fingerprints
    assert not same(one.batch(0, 20), two.batch(0, 20))


def test_fingerprint_follows_the_tokens(make_batches, tmp_path):
    one = make_batches(DOMAINS, root=tmp_path / "1")
    two = make_batches({**DOMAINS, "prose": DOMAINS["prose"][:-1]}, root=tmp_path / "2")
    assert one.fingerprints != two.fingerprints
    assert one.fingerprints == make_batches(DOMAINS, root=tmp_path / "3").fingerprints


def test_refusals(tmp_path, write_domain, make_batches, codec):
    write_domain(tmp_path, "prose", [50, 50])
    write_domain(tmp_path, "tiny", [5])
    with pytest.raises(InputError, match=r"'tiny' has 5 training tokens.*sequence_length"):
        make_batches({"prose": [50, 50], "tiny": [5]})
    with pytest.raises(RecipeError, match="max_epochs"):
        make_batches({"a": [50]}, root=tmp_path / "x", total_tokens=1000)
    codec.sha256 = "0" * 64
    with pytest.raises(MismatchError, match="another tokenizer"):
        make_batches({"prose": [50, 50]})


STAGES = (
    PlannedStage(6, 16, "best_fit", True, True, {"code": 0.5, "prose": 0.5}),
    PlannedStage(5, 32, "best_fit", True, True, {"code": 0.2, "prose": 0.8}),
    PlannedStage(4, 32, "chunk", False, False, {"code": 1.0}),
)


@pytest.fixture
def staged(make_batches, open_stages, tmp_path):
    make_batches(DOMAINS)
    return lambda **more: open_stages(tmp_path, STAGES, 64, **more)


def test_stages_change_at_their_step(staged):
    batches = staged()
    steps = [batches.step(number) for number in range(17)]
    assert [batch.inputs.shape for batch in steps] == [(4, 16)] * 6 + [(2, 32)] * 11
    assert [batch.first for batch in steps][:8] == [0, 4, 8, 12, 16, 20, 24, 26]
    assert {sample.domain for batch in steps[11:] for sample in batch.samples} == {"code"}
    assert same(staged().step(8), steps[8])
    assert same(batches.batch(24, 1), batches.batch(24, 1))
    with pytest.raises(ValueError, match="different stages"):
        batches.batch(22, 4)


def test_a_blocked_document_becomes_padding_from_its_step_on(staged):
    whole = staged()
    shown = [(n, piece) for n in range(34) for piece in whole.pieces(n) if piece.domain == "code"]
    document = shown[0][1].document
    blocked = staged(blocked={"code": {document: 6}})
    for number in range(34):
        before, after = whole.sample(number), blocked.sample(number)
        if number < 24:  # the first six steps
            assert before.pieces == after.pieces
            continue
        kept = [p for p in before.pieces if (p.domain, p.document) != ("code", document)]
        assert list(after.pieces) == kept
        lost = sum(p.length for p in before.pieces) - sum(p.length for p in kept)
        assert (after.documents == PAD_DOCUMENT).sum() == (before.documents == PAD_DOCUMENT).sum() + lost


def test_changed_shard_is_named(make_batches, tmp_path):
    make_batches(DOMAINS)
    shard = tmp_path / "train" / "prose" / "shard-00001.safetensors"
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DamagedError, match=r"prose.shard-00001"):
        make_batches(DOMAINS)


def test_prefetch_is_the_same_stream(staged):
    batches = staged()
    got = list(prefetch(batches, 4, 13))
    assert all(same(batch, batches.step(number)) for number, batch in enumerate(got, 4))
    assert len(got) == 9
    assert list(prefetch(batches, 13, 13)) == []


def test_prefetch_ends_its_thread_when_closed(make_batches):
    batches = make_batches(DOMAINS)
    with closing(prefetch(batches, 0, 10**9)) as iterator:
        next(iterator)
        assert any(thread.name == "danlu-prefetch" for thread in threading.enumerate())
    assert not any(thread.name == "danlu-prefetch" for thread in threading.enumerate())


def test_prefetch_raises_the_thread_s_error(make_batches, monkeypatch):
    batches = make_batches(DOMAINS)
    good = batches.step

    def failing(number):
        if number >= 2:
            raise DamagedError("shard gone")
        return good(number)

    monkeypatch.setattr(batches, "step", failing)
    iterator = prefetch(batches, 0, 25)
    assert [next(iterator).first, next(iterator).first] == [0, 1]
    with pytest.raises(DamagedError, match="shard gone"):
        next(iterator)
    assert not any(thread.name == "danlu-prefetch" for thread in threading.enumerate())
