"""A build's work directory: kept for the same build, emptied for another; shards and references in one numbering."""

import json
from dataclasses import replace

import pytest

from danlu.corpus.job import corpus_fingerprint, dedups_of, load_job, open_job, path_keys
from danlu.corpus.settings import CorpusSettings
from danlu.dedup.settings import Decontaminate, Exact, MinHash
from danlu.errors import InputError
from danlu.quality.settings import Normalize


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
    assert job.settings.step[0].against == [str(base / "old.jsonl")]
    with pytest.raises(
        InputError, match=r"none.jsonl does not exist; correct against of the step 'decontaminate'"
    ):
        corpus_fingerprint(settings(step=[{"use": "decontaminate", "against": ["none.jsonl"]}]), base)


def test_a_file_for_each_language_and_a_folder_are_named_from_the_root(base, tmp_path):
    (base / "model").mkdir()
    (base / "model" / "config.json").write_text("{}")
    steps = [
        {"use": "keywords", "lists": {"en": "b.txt", "*": "c.txt"}, "max_matches": 1},
        {"use": "transformer", "model": "model", "min_score": 0.5},
    ]
    given = settings(step=steps, source=[{"domain": "prose", "paths": ["a.txt"], "language": "en"}])
    names = [row[0] for row in corpus_fingerprint(given, base)]
    assert names == ["a.txt", "b.txt", "c.txt", "model/config.json"]
    (base / "b.txt.card.json").write_text("{}")
    assert "b.txt.card.json" in [row[0] for row in corpus_fingerprint(given, base)]
    keywords, transformer = open_job(given, base, tmp_path / "work").settings.step
    assert keywords.lists == {"en": str(base / "b.txt"), "*": str(base / "c.txt")}
    assert transformer.model == str(base / "model")
    (base / "model" / "config.json").write_text("[]")
    assert open_job(given, base, tmp_path / "work").settings.step
    missing = settings(step=[{**steps[1], "model": "none"}], source=given.source)
    with pytest.raises(
        InputError, match="none does not exist; correct model of the step 'transformer_transformer'"
    ):
        corpus_fingerprint(missing, base)


def test_earlier_corpora_are_numbered_after_the_shards(base, tmp_path):
    steps = [{"use": "exact", "against": ["old.jsonl"]}, {"use": "minhash", "against": ["old.jsonl"]}]
    job = open_job(settings(step=steps), base, tmp_path / "work")
    assert {name: [shard.number for shard in some] for name, some in job.references.items()} == {
        "exact": [3],
        "minhash": [4],
    }
    assert [name for name, _ in dedups_of(job, 0)] == ["id", "exact", "minhash"]
    assert load_job(tmp_path / "work") == job


def test_keys_that_name_files():
    assert path_keys(Decontaminate(against=["a"])) == ("against", "tokenizer")
    assert path_keys(Exact()) == path_keys(MinHash()) == ("against",)
    assert path_keys(Normalize()) == ()


def test_ranges_count_earlier_corpora_too(base, tmp_path):
    step = MinHash(against=["old.jsonl"])
    job = open_job(settings(step=[step]), base, tmp_path / "work")
    assert job.ranges("minhash", step) == 1
    huge = [
        replace(shard, pieces=(replace(shard.pieces[0], size=10**13),)) for shard in job.references["minhash"]
    ]
    assert replace(job, references={"minhash": tuple(huge)}).ranges("minhash", step) > 1000
