"""A story names where a document came from, what each step measured, what dropped it, and what it repeats."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from danlu.account.ledger import ledger_path
from danlu.account.why import COPIES, describe, tell
from danlu.account.writing import new_ledger
from danlu.errors import MissingError
from small_ledger import number_of, row_of, steps_of, write_small_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus")
    write_small_corpus(path)
    return path


def said(corpus: Path, key: str) -> tuple[str, ...]:
    (story,) = tell(corpus, steps_of(), key)
    return tuple(finding.said for finding in story.findings)


def test_a_kept_document(corpus: Path):
    (story,) = tell(corpus, steps_of(), "a-0")
    assert story.excerpt == "one two three four"
    assert story.copies == 1
    assert said(corpus, "a-0") == ("kept it",) * 4
    text = describe(story)
    assert "from    a.txt [10:28], https://example.org/a-0" in text
    assert "language en, words split as plain" in text
    assert "fate    kept, 18 bytes after cleaning" in text
    assert [copy.row.id for copy in story.first_copies] == ["a-5"]
    assert text.endswith(
        "copies  1 other document was dropped because this one stays\n"
        "        a-5 (number 4294967296), a.txt [10:28]\n"
        "            same.duplicate, similarity 1.000 to the one that stays"
    )


def test_a_dropped_document_and_what_later_steps_measured(corpus: Path):
    assert said(corpus, "a-4") == (
        "kept it",
        "dropped it: wordy.few_words",
        "would have dropped it: loud.upper",
        "did not see it",
    )
    assert said(corpus, "a-1")[2] == "would have kept it"
    assert said(corpus, "a-2") == ("dropped it: visible.blank", *("did not see it",) * 3)
    (story,) = tell(corpus, steps_of(), "a-4")
    words, _ = story.findings[1].measurements
    assert (words.measure, words.value, [one.value for one in words.thresholds]) == ("words", 2.0, [3.0, 8.0])
    lines = describe(story).splitlines()
    (line,) = [line for line in lines if line.split()[:1] == ["words"]]
    assert " ".join(line.split()) == "words 2 at least 3 (min_words) <- few_words; at most 8 (max_words)"


def test_a_duplicate_names_the_one_that_stays(corpus: Path):
    (story,) = tell(corpus, steps_of(), "a-5")
    assert story.other is not None
    assert (story.other.id, story.other_excerpt) == ("a-0", "one two three four")
    assert "stays   a-0 (number 0), a.txt [10:28], kept, similarity 1.000" in describe(story)


def test_the_pair_is_the_evidence(tmp_path: Path):
    write_small_corpus(tmp_path)
    row = replace(row_of("a-5", "one two three four"), pair=number_of("b-2"), similarity=0.75)
    gone = replace(row, number=row.number + 9, id="gone", match=99 << 32, pair=99 << 32)
    with new_ledger(ledger_path(tmp_path, 1), _columns()) as writer:
        for one in (row, row_of("b-2", "four words are enough"), gone):
            writer.add(one)
    text = describe(tell(tmp_path, steps_of(), "a-5")[0])
    assert f"like    b-2 (number {number_of('b-2')}), b.txt [10:31], kept, similarity 0.750" in text
    assert "stays   a-0 (number 0), a.txt [10:28], kept\n" in text
    assert "a document of an earlier corpus" in describe(tell(tmp_path, steps_of(), "gone")[0])


def test_many_copies_are_counted(tmp_path: Path):
    write_small_corpus(tmp_path)
    copy = row_of("a-5", "one two three four")
    with new_ledger(ledger_path(tmp_path, 1), _columns()) as writer:
        for number in range(COPIES + 5):
            writer.add(replace(copy, number=1 << 32 | number, id=f"copy {number}"))
    (story,) = tell(tmp_path, steps_of(), "a-0")
    assert (story.copies, len(story.first_copies)) == (COPIES + 5, COPIES)
    assert describe(story).endswith("\n        and 5 more")


def _columns() -> list[str]:
    return [column for step in steps_of() for column in step.columns]


def test_what_a_step_cut_is_told(tmp_path: Path):
    write_small_corpus(tmp_path)
    columns = [*_columns(), "wordy.cut_bytes", "loud.cut_bytes"]
    with new_ledger(ledger_path(tmp_path, 0), columns) as writer:
        row = row_of("a-0", "one two three four")
        writer.add(replace(row, values=(*row.values, 7.0, -2.0)))
    (story,) = tell(tmp_path, steps_of(), "a-0")
    assert [finding.cut_bytes for finding in story.findings[1:3]] == [7.0, -2.0]
    assert "\nwordy: kept it, took out 7 bytes of it\n" in describe(story)
    assert "\nloud: kept it, added 2 bytes to it\n" in describe(story)
    assert "\nvisible: kept it\n" in describe(story)


def test_by_number(corpus: Path):
    (story,) = tell(corpus, steps_of(), str(number_of("b-3")))
    assert story.row.id == "b-3"
    assert story.row.split == "validation"


def test_an_unknown_id_names_near_ones(corpus: Path):
    with pytest.raises(MissingError, match=r"begin or end so: a-0, a-1, a-2, a-3, a-4$"):
        tell(corpus, steps_of(), "a-")
    with pytest.raises(MissingError, match=r"corpus\.html"):
        tell(corpus, steps_of(), "nobody")


def test_json_has_no_nan(corpus: Path):
    for key in ("a-0", "a-2", "a-5"):
        plain = [story.to_json() for story in tell(corpus, steps_of(), key)]
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
