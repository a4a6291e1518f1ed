"""Earlier corpora are signed once; what of them cannot be read is counted and listed; their language chooses words."""

import json

import pytest

from danlu.account.ledger import read_ledger
from danlu.corpus.build import build_corpus
from danlu.corpus.job import open_job
from danlu.corpus.reference import read_notes, sign_reference
from danlu.corpus.settings import CorpusSettings

TEXT = "A text of enough words that it has shingles and is signed by the hashes of all of them."


@pytest.fixture
def job(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "old.jsonl").write_text(json.dumps({"text": TEXT}) + "\n{broken\n")
    steps = [{"use": "minhash", "against": ["old.jsonl"]}]
    settings = CorpusSettings(
        source=[{"domain": "prose", "paths": ["a.txt"]}], step=steps, validation_share=0
    )
    return open_job(settings, tmp_path, tmp_path / "work")


def test_a_shard_is_signed_once_and_its_damages_are_kept(job):
    (shard,) = job.references["minhash"]
    task = {"work": str(job.work), "name": "minhash", "shard": shard.number}
    sign_reference(task)
    ((lines, damaged),) = read_notes(job)
    assert damaged == {"malformed_json": 1}
    changed = lines.stat().st_mtime_ns
    sign_reference(task)
    assert lines.stat().st_mtime_ns == changed


def test_what_an_earlier_corpus_lost_is_in_the_account(tmp_path, job):
    (tmp_path / "b.txt").write_text(
        "Another text, which no earlier corpus has and which stays for that reason alone."
    )
    source = [{"domain": "prose", "paths": ["?.txt"]}]
    settings = job.settings.model_copy(update={"source": CorpusSettings(source=source).source})
    funnel = build_corpus(settings, tmp_path, tmp_path / "corpus")
    assert funnel.damaged == {"malformed_json": 1}
    rows = [row for batch in read_ledger(tmp_path / "corpus") for row in batch.to_pylist()]
    assert [(row["source"], row["reason"]) for row in rows] == [("a.txt", "minhash.duplicate"), ("b.txt", "")]


def test_a_part_says_its_language_so_that_both_sides_split_alike(tmp_path):
    (tmp_path / "first").mkdir()
    mixed = (
        "这个文件说明 how the furnace is lit every day 然后 we wait for the coal and write the log 完毕 " * 3
    )
    (tmp_path / "first" / "a.txt").write_text(mixed)
    source = {"domain": "prose", "paths": ["first/*.txt"], "language": "zh"}
    first = CorpusSettings(source=[source], validation_share=0)
    build_corpus(first, tmp_path, tmp_path / "earlier")
    (tmp_path / "first" / "b.txt").write_text("另一个文件，内容完全不同，所以它会留下来，不会被删除。")
    against = [str(tmp_path / "earlier" / "train" / "prose" / "*.parquet")]
    again = CorpusSettings(source=[source], step=[{"use": "minhash", "against": against}], validation_share=0)
    funnel = build_corpus(again, tmp_path, tmp_path / "corpus")
    assert funnel.total_dropped()["minhash.duplicate"].documents == 1
