"""The page of a corpus: all its parts, the same each time, safe whatever the texts hold."""

from pathlib import Path

import pytest

from danlu.account.ledger import ledger_path
from danlu.errors import DamagedError, MissingError
from danlu.report.corpus_page import splitters, write_corpus_page
from small_ledger import steps_of, write_small_corpus


@pytest.fixture
def run(tmp_path: Path) -> Path:
    write_small_corpus(tmp_path / "small" / "corpus")
    return tmp_path / "small"


def page_of(run: Path, share: float = 0.5) -> str:
    return write_corpus_page(run, steps_of(), 'use = "<b>"', share).read_text(encoding="utf-8")


def test_the_parts(run: Path):
    text = page_of(run)
    assert text.count("<section") == 9
    for said in (
        "3 of 10 documents kept",
        "plain (9)",
        "dropped by wordy: 4 (44.4%)",
        "wordy.few_words (33.3%)",
        "RefinedWeb",
        "30.0% / ",
        "not a step here",
        "min_words 3",
        "wordy.few_words: 2 of 2",
        "kept: 3 of 3",
        "four words are enough",
        "like number 0",
        "<summary>1 copy (18 bytes) of a-0 (number 0), a.txt [10:28], kept</summary>",
        "a-5 (number 4294967296), a.txt [10:28] · similarity 1.000 to the one that stays",
        "truncated",
        "use = &quot;&lt;b&gt;&quot;",
        "Every reason by domain and language",
    ):
        assert said in text, said
    assert "Warning" not in text
    assert "<script" not in text


def test_a_step_that_drops_much_is_warned_of(run: Path):
    assert "Warning: wordy drops 44% of the 9 documents that reach it." in page_of(run, 0.4)


def test_it_is_written_in_the_same_way_twice(run: Path):
    assert page_of(run) == page_of(run)


def test_splitters(run: Path):
    assert splitters(run / "corpus") == {"plain": 9, "": 1}


def test_without_a_corpus_it_is_refused(run: Path):
    ledger_path(run / "corpus", 1).write_bytes(b"torn")
    with pytest.raises(DamagedError, match="part-00001"):
        page_of(run)
    (run / "corpus" / "funnel.json").unlink()
    with pytest.raises(MissingError, match=r"funnel\.json"):
        page_of(run)
