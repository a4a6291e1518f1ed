"""A build's work directory: kept for the same build, emptied for another; shards and references in one numbering."""

import json

import pytest

from danlu.corpus.job import corpus_fingerprint, dedups_of, load_job, named_files, open_job
from danlu.corpus.settings import CorpusSettings
from danlu.dedup.settings import Decontaminate, Exact, MinHash
from danlu.errors import InputError


@pytest.fixture
def base(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"The text of {name}.")
    (tmp_path / "old.jsonl").write_text(json.dumps({"text": "Old."}))
    return tmp_path


def settings(**change):
    given = {"source": [{"domain": "prose", "paths": ["?.txt"]}], "shard_bytes": 20, **change}
    return CorpusSettings(**given)


def test_the_same_build_goes_on_and_another_starts_afresh(base, tmp_path):
    work = tmp_path / "work"
    job = open_job(settings(), base, work)
    assert [shard.number for shard in job.shards] == [0, 1, 2]
    (work / "kept").write_text("")
    assert open_job(settings(workers=3, warn_drop_share=0.1), base, work) == job
    assert (work / "kept").exists()
    open_job(settings(validation_share=0.3), base, work)
    assert not (work / "kept").exists()
    (work / "kept").write_text("")
    (base / "a.txt").write_text("Another text of a.")
    assert open_job(settings(validation_share=0.3), base, work) != job
    assert not (work / "kept").exists()


def test_files_that_steps_name_are_part_of_the_input(base, tmp_path):
    steps = [{"use": "decontaminate", "against": ["old.jsonl"]}]
    before = corpus_fingerprint(settings(step=steps), base)
    assert [row[0] for row in before] == ["a.txt", "b.txt", "c.txt", "old.jsonl"]
    (base / "old.jsonl").write_text("{}")
    assert corpus_fingerprint(settings(step=steps), base) != before
    job = open_job(settings(step=steps), base, tmp_path / "work")
    assert named_files(job.settings.step[0]) == [str(base / "old.jsonl")]
    with pytest.raises(InputError, match=r"none.jsonl does not exist"):
        corpus_fingerprint(settings(step=[{"use": "decontaminate", "against": ["none.jsonl"]}]), base)


def test_earlier_corpora_are_numbered_after_the_shards(base, tmp_path):
    steps = [{"use": "exact", "against": ["old.jsonl"]}, {"use": "minhash", "against": ["old.jsonl"]}]
    job = open_job(settings(step=steps), base, tmp_path / "work")
    assert {name: [shard.number for shard in some] for name, some in job.references.items()} == {
        "exact": [3],
        "minhash": [4],
    }
    assert [name for name, _ in dedups_of(job, 0)] == ["id", "exact", "minhash"]
    assert load_job(tmp_path / "work") == job


def test_only_steps_with_files_name_any():
    assert named_files(Decontaminate(against=["a"], unit="tokens", tokenizer="t")) == ["a", "t"]
    assert named_files(Exact()) == named_files(MinHash()) == []
