"""The finished folder: parts without gaps, a ledger in the order of reading, whatever rounds and shards there were."""

import pytest

from danlu.account.ledger import list_ledger, read_ledger
from danlu.corpus.assemble import assemble
from danlu.corpus.build import build_corpus, work_directory
from danlu.corpus.job import load_job
from danlu.corpus.settings import CorpusSettings
from danlu.read.store import list_parts, read_part


@pytest.fixture
def built(tmp_path):
    for number in range(30):
        text = f"Text {number % 25} is one of thirty, of which five came twice: {'x' * (number % 25)}."
        (tmp_path / f"{number:02d}.txt").write_text(text)
    settings = CorpusSettings(
        source=[{"domain": "prose", "paths": ["*.txt"]}], shard_bytes=300, validation_share=0.3
    )
    build_corpus(settings, tmp_path, tmp_path / "corpus")
    return tmp_path / "corpus"


def test_parts_are_numbered_without_gaps_in_the_order_of_the_shards(built):
    for split in ("train", "validation"):
        parts = list_parts(built, split, "prose")
        assert [part.name for part in parts] == [f"part-{n:05d}.parquet" for n in range(len(parts))]
        sources = [document.source for part in parts for document in read_part(part)]
        assert sources == sorted(sources)


def test_the_ledger_is_in_the_order_of_reading(built):
    numbers = [number for batch in read_ledger(built, ["number"]) for number in batch["number"].to_pylist()]
    assert len(numbers) == 30
    assert numbers == sorted(numbers)
    assert len(list_ledger(built)) == len(load_job(work_directory(built)).shards) > 4


def test_it_can_be_assembled_again_from_what_the_rounds_left(built):
    job = load_job(work_directory(built))
    funnel = assemble(job, job.work / "again")
    for path in built.rglob("*.*"):
        if path.is_file():
            assert (job.work / "again" / path.relative_to(built)).read_bytes() == path.read_bytes()
    assert funnel.total_dropped()["exact.duplicate"].documents == 5
