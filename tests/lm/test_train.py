"""Training: deterministic, whatever the memory; whole or not at all; what a card says is true."""

import math
import random

import numpy as np
import pytest

from danlu.errors import InputError
from danlu.lm.card import read_card
from danlu.lm.query import load_model, load_part, text_perplexity
from danlu.lm.tokens import cut
from danlu.lm.train import LEAST_MEMORY_BYTES, train_lm
from danlu.words.text import encode
from small_models import sentences


def documents(count=120):
    return ["\n".join(sentences(4, seed)) for seed in range(count)]


def test_any_memory_gives_the_same_bytes(tmp_path):
    texts = documents(400)
    cards = [
        train_lm(texts, tmp_path / name, prune=(0, 0, 0, 1), memory_bytes=memory)
        for name, memory in (("much", 1 << 24), ("little", LEAST_MEMORY_BYTES), ("again", 1 << 24))
    ]
    files = [(tmp_path / name).read_bytes() for name in ("much", "little", "again")]
    assert files[0] == files[1] == files[2]
    assert cards[0] == cards[1] == cards[2]
    assert sorted(path.name for path in tmp_path.glob("*")) == sorted(
        name + end for name in ("much", "little", "again") for end in ("", ".card.json")
    )


def test_the_card_is_of_the_held_out_documents(tmp_path):
    texts = [*documents(), "", "  \n"]
    stages = []
    card = train_lm(
        iter(texts), tmp_path / "m", order=3, held_out_share=0.3, progress=lambda *stage: stages.append(stage)
    )
    assert card == read_card(tmp_path / "m")
    assert 20 < card.held_out_documents < 60
    assert card.documents + card.held_out_documents in (len(texts) - 1, len(texts) - 2)
    assert card.percentiles == sorted(card.percentiles)
    assert 5 < card.held_out_median_words < 60
    assert card.percentiles[0] <= card.held_out_perplexity <= card.percentiles[-1]
    model = load_model(tmp_path / "m")
    values = [text_perplexity(model, cut(encode(text), card.tokens)) for text in texts]
    below = [value <= card.percentile(0.5) for value in values if not math.isnan(value)]
    assert np.mean(below) > 0.5  # what was trained on is expected more
    assert [stage for stage, _ in stages if stage != "read"] == [
        "estimate",
        "estimate",
        "write",
        "write",
        "write",
    ]


def test_no_more_of_a_model_is_in_memory_than_is_measured(tmp_path, monkeypatch):
    slots = []

    def watched(path, texts):
        part = load_part(path, texts)
        slots.append(len(part.table.keys))
        return part

    monkeypatch.setattr("danlu.lm.train.load_part", watched)
    words = random.Random(1).choices([f"w{number}" for number in range(300)], k=4000)
    texts = [" ".join(words[begin : begin + 10]) for begin in range(0, 4000, 10)]
    settings = {"held_out_share": 0.3, "tokens": "spaces"}
    card = train_lm(texts, tmp_path / "m", memory_bytes=LEAST_MEMORY_BYTES, **settings)
    assert len(slots) > 5
    assert 16 * max(slots) <= LEAST_MEMORY_BYTES < 16 * len(load_model(tmp_path / "m").table.keys)
    monkeypatch.undo()
    assert train_lm(texts, tmp_path / "much", **settings) == card


def test_there_is_no_model_without_its_card(tmp_path, monkeypatch):
    def fail(path, card):
        raise KeyboardInterrupt

    (tmp_path / "old").write_text("old")
    monkeypatch.setattr("danlu.lm.train.write_card", fail)
    for name in ("m", "old"):
        with pytest.raises(KeyboardInterrupt):
            train_lm(documents(), tmp_path / name, order=2)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_copies_are_on_one_side_and_nothing_is_held_out_of_one(tmp_path):
    text = documents(1)[0]
    card = train_lm([text] * 50, tmp_path / "m", held_out_share=0.0)
    assert (card.documents, card.held_out_documents, card.percentiles) == (50, 0, [])
    assert card.held_out_perplexity is None


def test_the_digest_is_of_the_texts(tmp_path):
    one, other, same = (
        train_lm(texts, tmp_path / "m", order=2).data_digest
        for texts in (["a b", "c"], ["a", "b c"], ["a b", "c"])
    )
    assert one == same != other


@pytest.mark.parametrize(
    "text", ["a", "字", "👍 👍", "\ud800 x", "a\0b", "a\r\nb\r\n", "w " * 5000, "x" * 50_000, "<s> a </s>"]
)
@pytest.mark.parametrize("tokens", ["spaces", "words", "characters"])
def test_odd_texts_are_learnt(tmp_path, text, tokens):
    card = train_lm([text], tmp_path / "m", tokens=tokens, held_out_share=0.0)
    model = load_model(tmp_path / "m")
    assert 1 < text_perplexity(model, cut(encode(text), tokens)) < 20
    assert model.order == card.order <= 5


@pytest.mark.parametrize(
    ("texts", "keys", "said"),
    [
        ([], {}, "no word"),
        (["", " \n\0"], {}, "no word"),
        (["a"], {"order": 1}, "order must be from 2"),
        (["a"], {"order": 11}, "order must be from 2"),
        (["a"], {"prune": (1,)}, "prune must begin with 0"),
        (["a"], {"prune": (0, 2, 1)}, "must not fall"),
        (["a"], {"prune": (0, 0, 0), "order": 2}, "at most 2"),
        (["a"], {"memory_bytes": 100}, "memory_bytes"),
        (["a"], {"held_out_share": 1.0}, "held_out_share"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(tmp_path, texts, keys, said):
    (tmp_path / "m").write_text("old")
    with pytest.raises(InputError, match=said):
        train_lm(texts, tmp_path / "m", **keys)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m").read_text() == "old"
