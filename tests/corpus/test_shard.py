"""One round over one shard: every document is in what it leaves, and doing it again changes nothing."""

import json
import math

import pyarrow.parquet as pq
import pytest

from danlu.corpus.carry import read_carried
from danlu.corpus.job import open_job
from danlu.corpus.settings import CorpusSettings
from danlu.corpus.shard import CARRIED, DAMAGED, DONE, LEDGER, facts_of, run_round

LINES = [
    {"text": "A line of text that is long enough to stay where it is.", "id": "a"},
    {"text": "Short.", "id": "b"},
    {"text": "  ", "id": "c"},
    {"text": "the same line\n" * 9, "id": "d"},
    {"nothing": 1},
]
STEPS = [
    {"use": "normalize"},
    {"use": "length", "min_characters": 20},
    {"use": "repetition"},
    {"use": "exact"},
]


@pytest.fixture
def job(tmp_path):
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    settings = CorpusSettings(source=[{"domain": "prose", "paths": ["a.jsonl"]}], step=STEPS)
    return open_job(settings, tmp_path, tmp_path / "work")


def do(job, number, shard=0):
    run_round({"work": str(job.work), "round": number, "shard": shard})
    return job.place(number, shard)


def rows(place):
    return pq.read_table(place / LEDGER).to_pylist()


def test_every_document_is_dropped_with_its_reason_or_carried_on(job):
    place = do(job, 0)
    assert [(row["id"], row["reason"], row["excerpt"]) for row in rows(place)] == [
        ("b", "length.too_short", "Short."),
        ("c", "normalize.empty", "  "),
        ("d", "repetition.duplicate_lines", "the same line\n" * 9),
    ]
    assert [passing.document.id for passing in read_carried(place / CARRIED, "auto")] == ["a"]
    facts = facts_of(job, 0, 0)
    assert (facts["documents"], facts["damaged"]) == (4, {"missing_text": 1})
    assert "the fields are: nothing" in facts["first_damage"]["missing_text"]
    assert (place / DAMAGED).stat().st_size > 20


def test_after_a_drop_by_a_rule_the_rest_is_still_measured_but_not_after_another(job):
    short, empty, repeated = rows(do(job, 0))
    assert short["repetition.character_share"] == pytest.approx(1 / 6)
    assert empty["repetition.character_share"] is None
    assert empty["normalize.characters"] == 0
    assert repeated["length.characters"] == 9 * 14 - 1


def test_a_task_that_is_done_is_not_done_again_and_one_that_is_not_leaves_the_same(job):
    place = do(job, 0)
    files = {path.name: path.read_bytes() for path in place.iterdir()}
    changed = (place / DONE).stat().st_mtime_ns
    do(job, 0)
    assert (place / DONE).stat().st_mtime_ns == changed
    (place / DONE).unlink()
    (place / "half-written").write_text("")
    assert {path.name: path.read_bytes() for path in do(job, 0).iterdir()} == files


def test_values_go_with_a_document_from_round_to_round(job):
    (passing,) = read_carried(do(job, 0) / CARRIED, "auto")
    columns = dict(zip(job.columns, passing.values, strict=True))
    assert columns["length.characters"] == len(LINES[0]["text"])
    assert not any(math.isnan(columns[name]) for name in job.columns if name.startswith("repetition."))
