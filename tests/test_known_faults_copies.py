"""Known faults of deduplication: what other tools dropped too much, too little, or could not account for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from danlu.corpus import build as building
from danlu.corpus.build import work_directory
from danlu.errors import DamagedError, InputError
from danlu.words.text import Text
from known_faults_corpus import NORMALIZE, Built, build, compressed_lines, prose, write_texts

EXACT, MINHASH = {"use": "exact"}, {"use": "minhash"}
SUBSTRINGS = {"use": "substrings", "min_words": 20}
LINE, PARAGRAPH, SENTENCES = (
    {"use": "exact", "unit": unit, "min_characters": 20} for unit in ("line", "paragraph", "sentences")
)
BOILERPLATE = {"use": "boilerplate", "min_documents": 3}
ALL = [EXACT, LINE, PARAGRAPH, SENTENCES, MINHASH, SUBSTRINGS, BOILERPLATE]


class CutOffError(Exception):
    """Stands for a signal that cannot be caught."""


def cut_off(base: Path, steps: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build that ends when all documents are signed and before any are compared; its work directory."""

    def end(*_: Any) -> None:
        raise CutOffError

    with monkeypatch.context() as patch:
        patch.setattr(building, "resolve", end)
        with pytest.raises(CutOffError):
            build(base, steps, shard_bytes=2500)
    return work_directory(base / "out" / "corpus")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Twenty texts, and copies of three of them with another word in front."""
    texts = {f"text-{number}": prose(number) for number in range(20)}
    copies = {f"copy-{number}": f"Indeed: {prose(number)}" for number in (3, 7, 11)}
    write_texts(tmp_path / "a.jsonl", {**texts, **copies})
    return tmp_path


@pytest.mark.parametrize("name", ["00000000.records", "00000001.sketches", "00000000.json"])
def test_a_torn_file_of_signatures_is_refused_with_advice_that_helps(
    base: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work = cut_off(base, [MINHASH], monkeypatch)
    torn = work / "dedup-minhash" / "signed" / name
    torn.write_bytes(torn.read_bytes()[:-3])
    with pytest.raises(
        DamagedError, match=rf"{name}.*: remove the work directory that it lies in and run again"
    ):
        build(base, [MINHASH], shard_bytes=2500)
    for path in sorted(work.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert len(build(base, [MINHASH], shard_bytes=2500).texts()) == 20


def test_what_another_configuration_left_changes_nothing(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off(base, [MINHASH, EXACT], monkeypatch)
    steps = [EXACT, {**MINHASH, "ngram": 3}]
    again = build(base, steps, shard_bytes=2500).files()
    assert again == build(base, steps, "fresh", shard_bytes=2500).files()


@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_another_unit_in_the_same_place_uses_nothing_of_the_first(base: Path, unit: str) -> None:
    build(base, [EXACT])
    step = {"use": "exact", "unit": unit}
    assert build(base, [step]).files() == build(base, [step], "fresh").files()


def test_files_that_changed_between_two_builds_of_a_process_are_read_again(base: Path) -> None:
    for numbers in ([4], [4, 5]):
        write_texts(base / "quiz" / "q.jsonl", [prose(number) for number in numbers])
        built = build(base, [{"use": "decontaminate", "against": ["quiz/*.jsonl"]}])
        dropped = [name for name, reason in built.reasons().items() if reason]
        assert dropped == [f"text-{number}" for number in numbers]


def chain_end(rows: dict[int, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    """The document that stays in the place of one, however often that was itself replaced."""
    while row["reason"]:
        row = rows[row["match"]]
    return row


def test_every_copy_says_what_it_is_a_copy_of(base: Path) -> None:
    texts = {f"x-{number}": prose(number % 7) + (" Also." if number % 2 else "") for number in range(40)}
    write_texts(base / "b.jsonl", texts)
    built = build(base, [EXACT, MINHASH], shard_bytes=3000)
    rows = {row["number"]: row for row in built.rows()}
    assert len(rows) == 63
    gone = [row for row in rows.values() if row["reason"]]
    assert len(gone) == 3 + 40
    for row in gone:
        assert row["pair"] in rows
        assert row["similarity"] > 0.5
        assert chain_end(rows, row)["kept_bytes"] > 0
    assert sorted(built.texts()) == sorted(prose(number) for number in range(20))


def test_only_what_an_earlier_corpus_has_too_is_dropped_and_none_of_that_is_written(base: Path) -> None:
    (base / "new").mkdir()
    new = {"like-2": f"{prose(2)} And more.", "like-3": prose(3), "new-1": prose(101), "new-2": prose(102)}
    write_texts(base / "new" / "n.jsonl", new)
    built = build(base, [{**MINHASH, "against": ["a.jsonl"]}], paths="new/*.jsonl")
    assert built.reasons() == {
        "like-2": "minhash.duplicate",
        "like-3": "minhash.duplicate",
        "new-1": "",
        "new-2": "",
    }
    assert built.texts() == [prose(101), prose(102)]
    rows = built.rows()
    assert [row["number"] for row in rows] == [0, 1, 2, 3]
    # Shard 1 is the earlier corpus: its text 2, and its text 3, the first of two.
    assert [row["match"] for row in rows] == [1 << 32 | 2, 1 << 32 | 3, -1, -1]


@pytest.mark.parametrize("min_jaccard", [0.0, 0.5])
def test_one_of_a_cluster_stays_whether_pairs_are_verified_or_not(tmp_path: Path, min_jaccard: float) -> None:
    write_texts(tmp_path / "a.jsonl", [f"{prose(1)} {number}" for number in range(9)] + [prose(2)])
    built = build(tmp_path, [{**MINHASH, "min_jaccard": min_jaccard}])
    assert built.texts() == [f"{prose(1)} 0", prose(2)]


@pytest.mark.parametrize("step", ALL, ids=lambda step: step.get("unit", step["use"]))
def test_each_kind_of_copy_is_found_by_the_step_that_is_for_it(tmp_path: Path, step: dict[str, Any]) -> None:
    common = f"{prose(1, 12)} {prose(2, 12)} {prose(3, 12)}"
    if step in (EXACT, MINHASH):
        texts = [common, common, common, prose(9)]
    elif step is SENTENCES:
        texts = [f"{prose(10 + number, 9)} {common}" for number in range(3)]
    else:
        texts = [f"{prose(10 + number, 9)}\n\n{common}\n\n{prose(20 + number, 9)}" for number in range(3)]
    write_texts(tmp_path / "a.jsonl", texts)
    built = build(tmp_path, [step])
    left = sum(text.count(common) for text in built.texts())
    assert left == (0 if step is BOILERPLATE else 1)
    assert built.funnel.total_kept().bytes < built.funnel.total_read().bytes


def test_deduplication_by_document_and_by_paragraph_in_one_recipe_keeps_what_is_there_once(
    base: Path,
) -> None:
    texts = [f"{prose(2 * number)}\n\n{prose(2 * number + 1)}" for number in range(30)]
    write_texts(base / "a.jsonl", texts)
    assert build(base, [EXACT, PARAGRAPH, LINE, SENTENCES, MINHASH, SUBSTRINGS]).texts() == texts


@pytest.mark.parametrize(
    "texts", [["x"], ["x", "y"], ["", "x"], ["one two three four five"]], ids=lambda texts: str(texts)
)
def test_a_corpus_smaller_than_any_table(tmp_path: Path, texts: list[str]) -> None:
    write_texts(tmp_path / "a.jsonl", texts)
    assert build(tmp_path, ALL).texts() == texts


def test_a_corpus_of_which_nothing_is_left_says_why(base: Path) -> None:
    built = build(base, [{**EXACT, "against": ["a.jsonl"]}])
    said = "the corpus is empty: 23 documents read; dropped 23 by exact.duplicate"
    assert built.funnel.problem.startswith(said)
    write_texts(base / "a.jsonl", [f"The same line.\n{'Another line.' * (n % 2)}" for n in range(6)])
    built = build(base, [BOILERPLATE])
    assert "6 documents read; dropped 6 by boilerplate.nothing_left" in built.funnel.problem


def test_blank_lines_are_no_copies_of_each_other(tmp_path: Path) -> None:
    gap = "\n" * 2
    text = gap.join(f"{prose(number, 9)}" for number in range(12)) + f"\n\n\n\n{prose(99, 9)}"
    write_texts(tmp_path / "a.jsonl", [text, text.replace("river", "creek").replace("stone", "rock")])
    rules = [{"use": "repetition"}, {"use": "gopher_repetition"}, {"use": "fineweb"}]
    built = build(tmp_path, [NORMALIZE, *rules, {"use": "exact", "unit": "line"}])
    first = built.rows()[0]
    assert first["reason"] == ""
    assert first["repetition.duplicate_line_share"] == first["fineweb.char_duplicates_ratio"] == 0
    assert first["gopher_repetition.dup_line_frac"] == first["gopher_repetition.dup_para_frac"] == 0
    assert built.texts()[0] == text


MIXED = ["naïve café", "e\u0301te\u0301", "中文没有空格的句子", "😀🏽 ok", "a\tb", "ภูเขาที่สวยงาม", "ខ្មែរ"]


def test_what_substrings_cuts_is_whole_words_and_letters(tmp_path: Path) -> None:
    common = "这是一个在两篇文章里都出现的很长的句子，谁都看得出来它是一样的"
    thai = "ที่ยาวนานผ่านแม่น้ำและภูเขาที่สวยงามในฤดูหนาวนี้"
    texts = [
        f"甲文开头{common}甲文结尾",
        f"乙{common}丙",
        f"การเดินทาง{thai}",
        # The run in common begins with a vowel sign, which here stands on another consonant.
        f"ปป{thai[1:]}จบ",
        *(" ".join(MIXED[(n * n + shift) % len(MIXED)] for n in range(30)) for shift in range(2)),
    ]
    write_texts(tmp_path / "a.jsonl", texts)
    built = build(tmp_path, [{"use": "substrings", "min_words": 12}])
    left = built.texts()
    assert left[:4] == [texts[0], "乙丙", texts[2], "ปปี่จบ"]
    for whole, cut in zip(texts[4:], left[4:], strict=True):
        words = [whole[start:end] for start, end in zip(*Text(whole).words, strict=True)]
        assert all(cut[start:end] in words for start, end in zip(*Text(cut).words, strict=True))


def test_a_decontamination_that_finds_nothing_says_what_it_looked_for(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quiz = {"use": "decontaminate", "against": ["quiz/*.jsonl"]}
    write_texts(base / "quiz" / "q.jsonl", ["Too short."])
    with pytest.raises(
        InputError, match=r"none of the 1 examples .* has the 13 words of an n-gram.*: lower ngram"
    ):
        build(base, [quiz])
    write_texts(base / "quiz" / "q.jsonl", [prose(1000)])
    built: Built = build(base, [quiz])
    assert "decontaminate: 19 n-grams of 1 examples" in capsys.readouterr().err
    assert {row["decontaminate.matched_ngrams"] for row in built.rows()} == {0.0}
    assert compressed_lines(built.place / "overlaps.jsonl.zst") == []
