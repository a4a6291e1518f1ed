"""The page's clusters: every step's, folded, each copy beside its evidence and what it was compared with."""

from pathlib import Path

import pytest

from danlu.report.clusters import clusters_of
from small_copies import SAME_ID, write_run_with_copies
from small_ledger import write_small_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run_with_copies(tmp_path_factory.mktemp("home")).directory / "corpus"


def test_the_clusters(corpus: Path):
    text = clusters_of(corpus, ["id", "normalize", "exact", "minhash"])
    assert [part.partition("</h3>")[0] for part in text.split("<h3>")[1:]] == ["id", "exact", "minhash"]
    for said in (
        "<summary>6 copies (49.7 kB) of strings (number ",
        "And 1 more.",
        "] · similarity 1.000 to the one that stays",
        "] · the id of the one that stays",
        f"<summary>1 copy (3.31 kB) of {SAME_ID} (number ",
    ):
        assert said in text, said
    (last,) = [part for part in text.split("<figure") if "<figcaption>strings-5 (number " in part]
    assert " to strings-4 (number " in last
    assert "\n\nstrings-4:\nString and Bytes literals" in last


def test_without_copies(tmp_path: Path):
    write_small_corpus(tmp_path)
    assert "No document was dropped as a copy" in clusters_of(tmp_path, ["wordy"])
