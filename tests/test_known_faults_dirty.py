"""Inputs that make other tools stop, lose documents or invent some: what becomes of each, through the command line.

Of every probe: the exit code, the documents that are kept, and each damage with its file and line.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from danlu.account.funnel import from_json
from danlu.cli.main import execute
from known_faults_corpus import Built, prose

RECIPE = """\
name = "probe"

[corpus]
validation_share = 0.0
{settings}

[[corpus.source]]
domain = "d"
paths = ["texts/*"]

[train]
steps = 1
"""
COUNT = 1000
NAME = "texts/a.jsonl"


def line(name: str, text: Any) -> bytes:
    return json.dumps({"id": name, "text": text}).encode()


LONG = prose(0, 400)
LINES = [line("0", LONG), *(line(str(number), prose(number)) for number in range(1, COUNT))]
TEXTS = [json.loads(one)["text"] for one in LINES]
SOUND = f"{prose(COUNT, 50)} That is the end of what was to be said, and of the story with it."
WHOLE = b"\n".join([*LINES, b""])
PACKED = gzip.compress(WHOLE)
HALF = len(PACKED) // 2


def probe(folder: Path, name: str, data: bytes, settings: str = "") -> Built:
    """Builds the corpus of one dirty file and of a sound one behind it, whose only document must be there."""
    (folder / "texts").mkdir()
    (folder / "texts" / name).write_bytes(data)
    (folder / "texts" / "z.txt").write_text(SOUND)
    (folder / "r.toml").write_text(RECIPE.format(settings=settings))
    assert execute(["corpus", "build", "r.toml"]) == 0
    corpus = folder / "runs" / "probe" / "corpus"
    built = Built(corpus, from_json(json.loads((corpus / "funnel.json").read_text())))
    rows = [row for row in built.rows() if row["source"] == "texts/z.txt"]
    assert [row["reason"] for row in rows] == [""]
    return built


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(built: Built) -> list[str]:
    """The texts of the dirty file."""
    return [text for text in built.texts() if text != SOUND]


def places(built: Built) -> list[tuple[str, str, int | None]]:
    return [(row["reason"], row["source"], row["line"]) for row in built.damages()]


def test_a_truncated_gz(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built = probe(folder, "a.jsonl.gz", PACKED[:HALF])
    assert COUNT / 3 < len(kept(built)) < COUNT
    assert kept(built) == TEXTS[: len(kept(built))]
    assert places(built) == [("truncated", "texts/a.jsonl.gz", None)]
    assert "damaged: 1 truncated" in capsys.readouterr().err


def test_flipped_bytes_in_a_gz(folder: Path) -> None:
    flipped = bytes(byte ^ 0x55 for byte in PACKED[HALF : HALF + 9])
    built = probe(folder, "a.jsonl.gz", PACKED[:HALF] + flipped + PACKED[HALF + 9 :])
    sound = [text for text in kept(built) if text in set(TEXTS)]
    assert len(sound) > COUNT / 3
    # What is decoded wrongly is mostly no JSON; the checksum, which knows, comes last.
    assert len(kept(built)) - len(sound) <= 3
    assert built.damages()[-1]["reason"] == "corrupt"
    assert {row["source"] for row in built.damages()} == {"texts/a.jsonl.gz"}


def test_garbage_behind_a_gz(folder: Path) -> None:
    built = probe(folder, "a.jsonl.gz", PACKED + b"garbage")
    assert kept(built) == TEXTS
    assert places(built) == [("corrupt", "texts/a.jsonl.gz", None)]


def test_a_malformed_line(folder: Path) -> None:
    built = probe(folder, "a.jsonl", b"\n".join([*LINES[:7], LINES[7][:40], *LINES[7:]]))
    assert kept(built) == TEXTS
    assert places(built) == [("malformed_json", NAME, 8)]


def test_one_wrong_byte_near_the_top(folder: Path) -> None:
    dirty = WHOLE.replace(b"stone", b"st\xffne", 1)
    built = probe(folder, "a.jsonl", dirty)
    assert kept(built) == [LONG.replace("stone", "st\ufffdne", 1), *TEXTS[1:]]
    assert places(built) == [("replaced_bytes", NAME, 1)]


def test_a_wrong_byte_in_a_short_text_costs_that_text(folder: Path) -> None:
    dirty = LINES[4].replace(b"o", b"\xff", 1)
    built = probe(folder, "a.jsonl", b"\n".join([*LINES[:4], dirty, *LINES[5:]]))
    assert kept(built) == [*TEXTS[:4], *TEXTS[5:]]
    assert built.reasons()["4"] == "normalize.replacement_characters"
    assert places(built) == [("replaced_bytes", NAME, 5)]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf" + WHOLE, b"\r\n".join([*LINES, b""])], ids=["byte order mark", "CRLF"]
)
def test_a_byte_order_mark_and_crlf_are_no_damage(folder: Path, data: bytes) -> None:
    built = probe(folder, "a.jsonl", data)
    assert kept(built) == TEXTS
    assert built.damages() == []


def test_texts_that_are_none(folder: Path) -> None:
    wrong = [line("x", 5), line("y", None), b'{"id": "z"}', line("l", ["a list"])]
    built = probe(folder, "a.jsonl", b"\n".join([*LINES[:2], *wrong, *LINES[2:]]))
    assert kept(built) == TEXTS
    assert places(built) == [("missing_text", NAME, number) for number in (3, 4, 5, 6)]


def test_an_id_twice(folder: Path) -> None:
    built = probe(folder, "a.jsonl", b"\n".join([*LINES, line("3", prose(999))]))
    assert kept(built) == TEXTS
    stays, goes = (row for row in built.rows() if row["id"] == "3")
    assert (stays["reason"], goes["reason"], goes["match"]) == ("", "id.repeated", stays["number"])


def test_ids_that_are_blank_are_none(folder: Path) -> None:
    built = probe(folder, "a.jsonl", b"\n".join(line("", text) for text in TEXTS))
    assert kept(built) == TEXTS


@pytest.mark.parametrize(
    ("name", "damages"),
    [
        ("a.jsonl", []),
        ("a.txt", []),
        ("a.warc", []),
        ("a.jsonl.gz", [("truncated", "texts/a.jsonl.gz", None)]),
        ("a.parquet", [("corrupt", "texts/a.parquet", None)]),
    ],
)
def test_an_empty_file(folder: Path, name: str, damages: list[Any]) -> None:
    built = probe(folder, name, b"")
    assert built.texts() == [SOUND]
    assert places(built) == damages


RULES = """
words = "spacy"
step = [
    { use = "gopher_repetition" }, { use = "gopher_quality", min_doc_words = 0, min_stop_words = 0 },
    { use = "c4", min_num_sentences = 0 }, { use = "fineweb" }, { use = "refinedweb" }, { use = "signals" },
    { use = "minhash" },
]
"""
NO_RULES = """
step = [
    { use = "gopher_quality", min_doc_words = 0, min_stop_words = 0 }, { use = "c4", min_num_sentences = 0 },
    { use = "signals" }, { use = "minhash" },
]
"""


def test_a_lone_surrogate(folder: Path) -> None:
    text = LONG.replace("stone", "st\ud800ne")
    built = probe(folder, "a.jsonl", b"\n".join([*LINES[:9], line("s", text)]), RULES)
    (row,) = (row for row in built.rows() if row["id"] == "s")
    assert text.replace("\ud800", "\ufffd") in kept(built)
    assert row["signals.word_count"] == 400
    assert places(built) == [("lone_surrogates", NAME, 10)]


def test_empty_documents_with_every_threshold_at_zero(folder: Path) -> None:
    built = probe(folder, "a.jsonl", b"\n".join([line("e", ""), line("f", ""), line("g", " ")]), RULES)
    reasons = built.reasons()
    assert [reasons[name] for name in "efg"] == ["gopher_repetition.empty"] * 2 + ["c4.nothing_left"]


def test_empty_and_short_documents_never_match_each_other(folder: Path) -> None:
    texts = ["", "", "Four words, no more.", "Four words, no more."]
    data = b"\n".join(line(str(number), text) for number, text in enumerate(texts))
    assert kept(probe(folder, "a.jsonl", data, NO_RULES)) == texts


SENTENCE = "这条河流过老城，人们在傍晚沿着它散步，谁也没有说话。山上的石头是绿色的，桌子旁边有一把椅子。"


@pytest.mark.parametrize(
    ("words", "splitter"), [("auto", "characters"), ("plain", "plain"), ("spacy", "spacy")]
)
def test_chinese(folder: Path, words: str, splitter: str) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(300)) + SENTENCE
    texts = [text, text.replace(chr(0x4E00 + 150), "龘")]
    data = b"\n".join(line(str(number), one) for number, one in enumerate(texts))
    steps = '{ use = "minhash" }, { use = "gopher_quality", min_avg_word_length = 0, min_stop_words = 0 }'
    built = probe(folder, "a.jsonl", data, f'words = "{words}"\nstep = [{steps}]')
    rows = [(row["splitter"], row["reason"]) for row in built.rows() if row["source"] == NAME]
    english = [(splitter, "gopher_quality.short_doc")] * 2
    assert rows == ([("characters", ""), ("characters", "minhash.duplicate")] if words == "auto" else english)
