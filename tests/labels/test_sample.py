"""Draws from a corpus: the same by the same seed, of one reason, spread over a measure, kept with their texts."""

import re
from collections import Counter

import pytest

import small_ledger
from danlu.account.ledger import EXCERPT_CHARACTERS, Row, ledger_path
from danlu.account.writing import new_ledger
from danlu.errors import DamagedError, MissingError
from danlu.labels.sample import Draw, draw, draw_path, open_draw, stored_draws
from danlu.read.store import part_path, write_part
from danlu.records import Document

TEXTS = dict(small_ledger.TEXTS)


@pytest.fixture
def corpus(tmp_path):
    small_ledger.write_small_corpus(tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def large(tmp_path):
    """200 documents, every fourth dropped; the measure "score.value" of all but the first ten is their place."""
    corpus = tmp_path / "large"
    path = ledger_path(corpus, 0)
    path.parent.mkdir(parents=True)
    kept = []
    with new_ledger(path, ["score.value"]) as writer:
        for place in range(200):
            text, gone = f"text {place} " * 40, place % 4 == 0
            fields = (place, f"d{place}", "a", "a.txt", 0, len(text), len(text), "train")
            reason = "score.low" if gone else ""
            values = (float("nan") if place < 10 else float(place),)
            excerpt = text[:EXCERPT_CHARACTERS] if gone else ""
            writer.add(Row(*fields, reason=reason, excerpt=excerpt, values=values))
            if not gone:
                kept.append(Document(f"d{place}", text, "a.txt", "a", f"d{place}"))
    write_part(part_path(corpus, "train", "a", 0), kept[:70])
    write_part(part_path(corpus, "train", "a", 1), kept[70:])
    return corpus


def ids(documents):
    return [document.id for document in documents]


def test_all_documents_with_their_texts(corpus):
    documents = draw(corpus, Draw(100))
    assert sorted(ids(documents)) == sorted(TEXTS)
    assert {one.id: one.text for one in documents} == TEXTS
    assert {one.id: one.reason for one in documents} == small_ledger.REASONS
    assert all(one.whole for one in documents)


def test_the_seed_decides_and_a_larger_draw_begins_with_the_smaller(large):
    few, many, other = draw(large, Draw(10)), draw(large, Draw(60)), draw(large, Draw(10, seed=2))
    assert ids(few) == ids(many)[:10] == ids(draw(large, Draw(10)))
    assert ids(few) != ids(other)
    assert 5 <= sum(one.reason != "" for one in many) <= 25


def test_no_length_tells_kept_from_dropped(large):
    documents = draw(large, Draw(200))
    assert {len(one.text) for one in documents} == {EXCERPT_CHARACTERS}
    assert not any(one.whole for one in documents)


def test_long_texts_are_whole_where_only_kept_ones_are_drawn(large):
    for document in [*draw(large, Draw(40, reason="kept")), *draw(large, Draw(20, reason="dropped"))]:
        assert document.whole is not bool(document.reason)
        assert len(document.text) == (
            EXCERPT_CHARACTERS if document.reason else len(f"{document.id[1:]} text ") * 40
        )


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("kept", {"a-0", "b-2", "b-3"}),
        ("wordy", {"a-1", "a-4", "b-0", "b-1"}),
        ("wordy.few_words", {"a-1", "a-4"}),
        ("dropped", set(TEXTS) - {"a-0", "b-2", "b-3"}),
    ],
)
def test_documents_of_a_reason(corpus, reason, wanted):
    assert set(ids(draw(corpus, Draw(100, reason=reason)))) == wanted


def test_what_there_is_not_is_said(corpus):
    with pytest.raises(MissingError, match=r"no document of the reason 'wordy\.few_word'.*wordy\.few_words"):
        draw(corpus, Draw(3, reason="wordy.few_word"))
    with pytest.raises(MissingError, match=r"no measure 'wordy\.word'.*wordy\.words"):
        draw(corpus, Draw(3, by="wordy.word"))
    with pytest.raises(MissingError, match="there is no ledger"):
        draw(corpus / "nothing", Draw(3))


def test_a_draw_is_spread_over_a_measure(large):
    documents = draw(large, Draw(38, by="score.value"))
    fifths = Counter((int(one.id[1:]) - 10) // 38 for one in documents)
    assert set(fifths) == set(range(5))
    assert max(fifths.values()) - min(fifths.values()) <= 2
    assert ids(draw(large, Draw(19, by="score.value"))) == ids(documents)[:19]
    every = draw(large, Draw(1000, by="score.value"))
    assert sorted(ids(every)) == sorted(f"d{place}" for place in range(10, 200))


def test_a_stored_draw_stays_and_grows(large, tmp_path):
    folder = tmp_path / "labels"
    first = open_draw(folder, large, Draw(5))
    assert open_draw(folder, tmp_path / "gone", Draw(5)) == first
    assert open_draw(folder, tmp_path / "gone", Draw(3)) == first[:3]
    longer = open_draw(folder, large, Draw(12))
    assert (longer[:5], len(longer)) == (first, 12)
    assert len({one.text_hash for one in longer}) == 12
    draw_path(folder, Draw(5)).write_text('{"draw": 1}')
    with pytest.raises(DamagedError, match="no draw of documents"):
        open_draw(folder, large, Draw(5))


def test_another_way_of_drawing_is_another_draw(large, tmp_path):
    folder = tmp_path / "labels"
    with pytest.raises(MissingError, match="has no document to label yet"):
        stored_draws(folder)
    ways = [Draw(20), Draw(20, seed=2), Draw(9, reason="kept"), Draw(9, by="score.value")]
    draws = [open_draw(folder, large, way) for way in ways]
    assert len({draw_path(folder, way).name for way in ways}) == 4 == len(list(folder.iterdir()))
    assert re.fullmatch(r"documents-[0-9a-f]{8}\.json", draw_path(folder, ways[0]).name)
    assert draw_path(folder, Draw(5)) == draw_path(folder, Draw(6))
    assert [open_draw(folder, tmp_path / "gone", way) for way in ways] == draws
    every = stored_draws(folder)
    texts = {document.text_hash for found in draws for document in found}
    assert sorted(document.text_hash for document in every) == sorted(texts)
    assert len(texts) < 58


def test_a_text_that_is_there_twice_is_labelled_once(corpus, tmp_path):
    documents = open_draw(tmp_path / "labels", corpus, Draw(100))
    assert len(documents) == len(set(TEXTS.values()))


def test_a_kept_document_without_text_is_damage(large):
    part_path(large, "train", "a", 1).unlink()
    with pytest.raises(DamagedError, match="has no text of the document"):
        draw(large, Draw(150))
