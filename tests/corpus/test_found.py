"""What deduplication found, applied: dropped documents name their match, cut ones go on shorter."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from danlu.corpus import found
from danlu.corpus.carry import Passing
from danlu.corpus.found import Found, apply_found
from danlu.dedup.contract import Outcome
from danlu.records import Document
from danlu.words.text import Text


def outcome(documents, dropped=(), cuts=None):
    gone = np.isin(np.arange(documents), list(dropped))
    match = np.where(gone, 7 << 32, -1)
    return Outcome(gone, match, match + gone, np.where(gone, 0.9, np.nan).astype(np.float32), cuts or {})


def applied(monkeypatch, texts, **outcomes):
    """(text, found) of each document against the outcomes of the named steps, in order."""
    monkeypatch.setattr(found, "dedups_of", lambda *_: [(name, None) for name in outcomes])
    monkeypatch.setattr(found, "read_outcome", lambda place, _: outcomes[place])
    columns = ["length.characters", *(f"{name}.cut_bytes" for name in outcomes)]
    places = {name: place for place, name in enumerate(columns)}
    job = SimpleNamespace(dedup_place=lambda name: name, places=places)
    document = Document("i", "", "s", "d", "g")
    nothing = [math.nan] * len(columns)
    arriving = (Passing(n, document, Text(text), 1, nothing.copy()) for n, text in enumerate(texts))
    found_of = list(apply_found(job, 0, 3, arriving))
    assert all(math.isnan(passing.values[0]) for passing, _ in found_of)
    return [(passing.text.text, why, passing.values[1:]) for passing, why in found_of]


def test_the_first_step_that_drops_a_document_gives_the_reason(monkeypatch):
    rows = applied(
        monkeypatch, ["a", "b", "c"], id=outcome(3, {0}), exact=outcome(3, {0, 1}), minhash=outcome(3)
    )
    rows = [row[:2] for row in rows]
    assert rows[0] == ("a", Found("id", "id.repeated", 7 << 32, (7 << 32) + 1, pytest.approx(0.9)))
    assert rows[1] == ("b", Found("exact", "exact.duplicate", 7 << 32, (7 << 32) + 1, pytest.approx(0.9)))
    assert rows[2] == ("c", None)


def test_cut_texts_go_on_and_empty_ones_do_not(monkeypatch):
    cuts = {0: [(0, 4), (8, 9)], 1: [(0, 5)]}
    rows = applied(monkeypatch, ["one two three", "gone ", "left"], lines=outcome(3, cuts=cuts))
    assert rows[0] == ("two hree", None, [len("one ") + len("t")])
    assert rows[1][1].reason == "lines.nothing_left"
    assert rows[2][:2] == ("left", None)
    assert math.isnan(rows[2][2][0])


def test_each_step_that_cuts_counts_its_own_bytes(monkeypatch):
    first, second = outcome(1, cuts={0: [(0, 2)]}), outcome(1, cuts={0: [(0, 3)]})
    ((text, why, cut),) = applied(monkeypatch, ["é cœur net"], lines=first, again=second)
    assert (text, why, cut) == ("r net", None, [len("é ".encode()), len("cœu".encode())])
