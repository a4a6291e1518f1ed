"""Histograms are of what was measured, with the thresholds of the steps; a sample of many is the same each time."""

from pathlib import Path

import numpy as np
import pytest

from danlu.account.ledger import Row, ledger_path
from danlu.account.writing import new_ledger
from danlu.report.histograms import histograms, sample_measures
from small_ledger import TEXTS, steps_of, write_small_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    write_small_corpus(tmp_path)
    return tmp_path


def test_every_measure_with_its_thresholds(corpus: Path):
    html = histograms(corpus, steps_of(), len(TEXTS))
    assert html.count("<svg") == 4
    for said in ("min_words 3", "max_words 8", "max_upper_share 0.5", "<h3>wordy</h3>"):
        assert said in html
    # Nine documents were measured: two have fewer than three words, one more than eight.
    assert "words: 22.22% below 3 (few words), 11.11% above 8 (many words)." in html
    assert "characters: 10.00% below 1 (blank)." in html
    assert "<h3>same</h3>" not in html
    assert "Of all documents." in html


def test_what_is_the_same_for_all_is_named(tmp_path: Path):
    path = ledger_path(tmp_path, 0)
    path.parent.mkdir()
    columns = [column for step in steps_of() for column in step.columns]
    with new_ledger(path, columns) as writer:
        for number in range(3):
            row = Row(number, str(number), "a", "a", 0, 1, 1, "train", values=(5.0, 2.0, np.nan, np.nan))
            writer.add(row)
    html = histograms(tmp_path, steps_of(), 3)
    assert "<svg" not in html
    assert "The same for every document: characters (5)." in html
    assert html.count("It measured no document.") == 1


def test_a_sample_is_a_share_and_the_same_each_time(tmp_path: Path):
    path = ledger_path(tmp_path, 0)
    path.parent.mkdir()
    with new_ledger(path, ["a.b"]) as writer:
        for number in range(20_000):
            writer.add(Row(number, str(number), "a", "a", 0, 1, 1, "train", values=(float(number),)))
    some = sample_measures(tmp_path, ["a.b"], 0.1)["a.b"]
    assert 1700 < len(some) < 2300
    assert np.array_equal(some, sample_measures(tmp_path, ["a.b"], 0.1)["a.b"])
    assert len(sample_measures(tmp_path, ["a.b"], 1.0)["a.b"]) == 20_000
