"""Cards: written, read, and refused where they are not of their model."""

import json
from dataclasses import asdict

import pytest

from danlu.errors import DamagedError, MismatchError
from danlu.lm.card import FORMAT, Card, card_path, read_card, write_card

CARD = Card(
    format=FORMAT,
    tokens="words",
    order=2,
    ngrams=[5, 4],
    prune=[0, 0],
    discounts=[[0.5, 1.0, 1.5]] * 2,
    fallback=[1, 2],
    documents=9,
    words=40,
    data_digest="0" * 64,
    held_out_documents=3,
    held_out_perplexity=12.5,
    percentiles=[float(number) for number in range(1, 100)],
    model_bytes=5,
)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.arpa"
    path.write_bytes(b"model")
    write_card(path, CARD)
    return path


def test_a_card_comes_back(model):
    assert read_card(model) == CARD
    assert card_path(model).name == "m.arpa.card.json"


def test_a_model_without_a_card(tmp_path):
    (tmp_path / "m").write_bytes(b"")
    assert read_card(tmp_path / "m") is None


def test_another_model_is_refused(model):
    model.write_bytes(b"another")
    with pytest.raises(MismatchError, match=r"5 bytes, but m\.arpa has 7"):
        read_card(model)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"tokens": "letters"},
        {"percentiles": [1.0]},
        {"percentiles": ["x"] * 99},
        {"model_bytes": "5"},
        {"more": 1},
    ],
)
def test_damaged_cards_are_refused(model, change):
    card_path(model).write_text(json.dumps(asdict(CARD) | change))
    with pytest.raises(DamagedError, match=r"card|damaged"):
        read_card(model)


def test_what_is_no_json_is_refused(model):
    card_path(model).write_text("[]")
    with pytest.raises(DamagedError):
        read_card(model)
    card_path(model).write_text("{")
    with pytest.raises(DamagedError):
        read_card(model)


@pytest.mark.parametrize(
    ("share", "value"), [(0.3, 30.0), (0.6, 60.0), (0.305, 30.5), (0.001, 1.0), (0.999, 99.0)]
)
def test_percentiles(share, value):
    assert CARD.percentile(share) == pytest.approx(value)
