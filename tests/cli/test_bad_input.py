"""Bad input through the command line: the exit code, one paragraph that names the place, nothing lost."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import zstandard

from danlu.account.ledger import read_ledger
from danlu.cli.main import execute
from danlu.files import lock

WORDS = ("the", "green", "small", "river", "stone", "reads", "writes", "under", "over", "quickly", "never")

RECIPE = """\
name = "small"

[corpus]
validation_share = 0.3

[[corpus.source]]
domain = "prose"
paths = ["texts/*"]

[tokenizer]
vocab_size = 280

[model]
width = 32
layers = 1
heads = 2

[train]
steps = 4
sequence_length = 32
batch_tokens = 64

[checkpoint]
every_steps = 1
keep_last = 9
"""

_MAY_CHANGE = (".lock", "heartbeat", "run.json", "folder.toml")
_LOGS = ".jsonl"


def prose(number: int) -> str:
    words = [WORDS[(number * 7 + i * i) % len(WORDS)] for i in range(40)]
    return f"Text {number}. " + " ".join(words) + ".\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recipe, its texts, and a run that a limit stopped at its second step."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "texts").mkdir()
    for number in range(30):
        (folder / "texts" / f"{number}.txt").write_text(prose(number))
    (folder / "r.toml").write_text(RECIPE)
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert execute(["train", "r.toml", "--steps", "2"]) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to do harm in; `runs/small` is trained, and another name starts from nothing."""
    shutil.copytree(trained, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in _MAY_CHANGE
    }


def recipe(folder: Path, *changes: tuple[str, str]) -> None:
    text = RECIPE
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "r.toml").write_text(text)


def only_texts(folder: Path, name: str, data: bytes) -> None:
    shutil.rmtree(folder / "texts")
    (folder / "texts").mkdir()
    (folder / "texts" / name).write_bytes(data)


def lines(*rows: Any) -> bytes:
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)


def compressed_lines(path: Path) -> list[dict[str, Any]]:
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())) as file:
        return [json.loads(line) for line in file.read().splitlines()]


def full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A disk that has no room for a file of this name."""
    real = os.fsync

    def sync(descriptor: int) -> None:
        if name in Path(f"/proc/self/fd/{descriptor}").readlink().name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)


NEW = ("run", "r.toml", "--set", "name=new")
ON = ("train", "r.toml")

Harm = Callable[[Path, pytest.MonkeyPatch, ExitStack], object]
REFUSED: dict[str, tuple[tuple[str, ...], int, tuple[str, ...], Harm]] = {
    "no text at all": (
        NEW,
        1,
        ("texts/*", "corpus.source.paths"),
        lambda folder, *_: shutil.rmtree(folder / "texts"),
    ),
    "an empty file": (
        NEW,
        1,
        ("the corpus is empty",),
        lambda folder, *_: only_texts(folder, "a.txt", b""),
    ),
    "nothing that survives cleaning": (
        NEW,
        1,
        ("the corpus is empty", "length.too_short"),
        lambda folder, *_: only_texts(folder, "a.txt", b"x"),
    ),
    "an empty folder": (
        ("run", "void"),
        1,
        ("void", "no file at all"),
        lambda folder, *_: (folder / "void").mkdir(),
    ),
    "another encoding": (
        NEW,
        1,
        ("texts/a.txt", 'encoding = "gb18030"'),
        lambda folder, *_: (folder / "texts" / "a.txt").write_bytes(
            ("一个人在河边慢慢地走,看见了石头和青山。" * 9).encode("gb18030")
        ),
    ),
    "an unknown key": (
        NEW,
        2,
        ("r.toml, line 19", "train.stepps", "did you mean 'steps'?"),
        lambda folder, *_: recipe(folder, ("steps = 4", "stepps = 4")),
    ),
    "contradictory settings": (
        NEW,
        2,
        ("r.toml, line 18", "steps and minutes contradict"),
        lambda folder, *_: recipe(folder, ("steps = 4", "steps = 4\nminutes = 3")),
    ),
    "an indivisible batch": (
        NEW,
        2,
        ("r.toml", "batch_tokens = 70", "nearest: 64 or 96"),
        lambda folder, *_: recipe(folder, ("batch_tokens = 64", "batch_tokens = 70")),
    ),
    "broken TOML": (
        NEW,
        2,
        ("r.toml", "line 19"),
        lambda folder, *_: recipe(folder, ("steps = 4", "steps = = 4")),
    ),
    "no such recipe": (("run", "gone.toml"), 1, ("gone.toml", "danlu init"), lambda *_: None),
    "no recipe where a run was": (
        ("plan", "show", "gone.toml"),
        1,
        ("gone.toml", "danlu init"),
        lambda *_: None,
    ),
    "an empty validation split": (
        NEW,
        1,
        ("prose", "corpus.validation_share", "at least 0."),
        lambda folder, *_: recipe(folder, ("validation_share = 0.3", "validation_share = 0.00001")),
    ),
    "a sequence longer than all text": (
        NEW,
        1,
        ("prose", "sequence_length"),
        lambda folder, *_: recipe(
            folder,
            ("sequence_length = 32", "sequence_length = 8192"),
            ("batch_tokens = 64", "batch_tokens = 8192"),
        ),
    ),
    "a disk full during a shard": (
        NEW,
        1,
        ("shard-00000", "No space left on device"),
        lambda folder, patch, _: full_disk(folder, patch, "shard-"),
    ),
    "a disk full during a checkpoint": (
        ON,
        1,
        ("checkpoints", "No space left on device", "intact"),
        lambda folder, patch, _: full_disk(folder, patch, "optimizer.safetensors"),
    ),
    "two runs in one directory": (
        ON,
        1,
        ("runs/small", "in use by process"),
        lambda folder, _, stack: stack.enter_context(lock(folder / "runs" / "small")),
    ),
    "a directory of another recipe": (
        ON,
        1,
        ("runs/small", "model.width: 32 -> 64"),
        lambda folder, *_: recipe(folder, ("width = 32", "width = 64")),
    ),
    "a directory of other text": (
        ON,
        1,
        ("runs/small", "input texts/3.txt changed"),
        lambda folder, *_: (folder / "texts" / "3.txt").write_text(prose(3) + "And more was added to it.\n"),
    ),
    "all checkpoints damaged": (
        ("generate", "small", "the"),
        1,
        ("every checkpoint", "step-00000002"),
        lambda folder, *_: [path.unlink() for path in (folder / "runs").rglob("state.json")],
    ),
    "a corrupt tokenizer": (
        ("generate", "small", "the"),
        1,
        ("tokenizer.json",),
        lambda folder, *_: (folder / "runs" / "small" / "tokenizer" / "tokenizer.json").write_text("{"),
    ),
    "a corrupt tokenizer to take over": (
        (*NEW, "--set", "tokenizer={path='t.json'}"),
        1,
        ("t.json",),
        lambda folder, *_: (folder / "t.json").write_bytes(b"\xff{"),
    ),
    "a folder of the user to export to": (
        ("export", "small", "texts"),
        2,
        ("texts holds 0.txt",),
        lambda *_: None,
    ),
    "the current folder to export to": (
        ("export", "small", "."),
        2,
        ("folder that you are in",),
        lambda *_: None,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused_and_nothing_is_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    arguments, code, parts, harm = REFUSED[case]
    with ExitStack() as stack, monkeypatch.context() as patch:
        harm(folder, patch, stack)
        before = content(folder)
        capsys.readouterr()
        assert execute(list(arguments)) == code
        captured = capsys.readouterr()
    _, _, paragraph = captured.err.rpartition("danlu: ")
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert "bug of danlu" not in paragraph
    assert "\n\n" not in paragraph.strip()
    assert len(paragraph) < 1000
    for part in parts:
        assert part in paragraph, paragraph
    after = content(folder)
    for name, data in before.items():
        assert after.get(name, b"").startswith(data) if name.endswith(_LOGS) else after.get(name) == data, (
            name
        )
    assert not [name for name in after if ".tmp-" in name or ".old-" in name]


TEXT = "It was a long and quiet evening by the river, and nobody said a word of number {}."
GOOD = [{"id": str(number), "text": TEXT.format(number)} for number in range(40)]

COUNTED: dict[str, tuple[str, bytes, dict[str, Any] | None]] = {
    "a malformed line": (
        "a.jsonl",
        lines(*GOOD[:5], b"{broken", *GOOD[5:]),
        {"reason": "malformed_json", "source": "texts/a.jsonl", "line": 6},
    ),
    "a missing text field": (
        "a.jsonl",
        lines(GOOD[0], {"id": "x", "body": "no text here"}, *GOOD[1:]),
        {"reason": "missing_text", "source": "texts/a.jsonl", "line": 2},
    ),
    "a duplicate id": (
        "a.jsonl",
        lines(*GOOD, {"id": "3", "text": "Another text under an id that is taken, long enough to be kept."}),
        {"reason": "id.repeated", "source": "texts/a.jsonl"},
    ),
    "a truncated gz": (
        "a.jsonl.gz",
        gzip.compress(lines(*GOOD, *({"id": f"x{n}", "text": os.urandom(40).hex()} for n in range(3000))))[
            :-9
        ],
        {"reason": "truncated", "source": "texts/a.jsonl.gz"},
    ),
    "a line of 50 MB": (
        "a.jsonl",
        lines(GOOD[0], b'{"text": "' + b"a" * 50_000_000 + b'"}', *GOOD[1:]),
        {"reason": "too_long", "source": "texts/a.jsonl"},
    ),
    "a lone surrogate": (
        "a.jsonl",
        lines(*GOOD, b'{"id": "s", "text": "A lone surrogate \\ud800 in a text that is long enough."}'),
        None,
    ),
    "NUL": ("a.txt", b"NUL\0 in a text that is long enough to be kept by every step.", None),
}


@pytest.mark.parametrize("case", COUNTED)
def test_what_is_damaged_is_counted_with_its_place_and_the_others_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    name, data, damage = COUNTED[case]
    (folder / "texts" / name).write_bytes(data)
    assert execute(["corpus", "build", "r.toml", "--set", "name=new"]) == 0
    said = capsys.readouterr().err
    corpus = folder / "runs" / "new" / "corpus"
    kept = json.loads((corpus / "funnel.json").read_text())["kept"]
    count = sum(row["documents"] for domains in kept.values() for row in domains.values())
    assert count >= 31 if name == "a.txt" else count >= 70
    rows = compressed_lines(corpus / "damaged.jsonl.zst")
    rows += [row for batch in read_ledger(corpus) for row in batch.to_pylist()]
    if damage:
        assert any(damage.items() <= row.items() for row in rows), rows
        assert damage["reason"].removeprefix("id.") in said


def test_a_vocabulary_larger_than_the_text_allows_is_lowered_and_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        execute(["tokenizer", "train", "r.toml", "--set", "name=new", "--set", "tokenizer.vocab_size=50K"])
        == 0
    )
    assert "vocab_size" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["manifest.json", "model.safetensors"])
def test_a_corrupt_checkpoint_is_said_and_the_one_before_is_taken(
    folder: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    assert execute(["run", "r.toml"]) == 0
    path = folder / "runs" / "small" / "checkpoints" / "step-00000004" / damage
    path.write_bytes(path.read_bytes()[:-9])
    capsys.readouterr()
    assert execute(["evaluate", "small", "--json"]) == 0
    captured = capsys.readouterr()
    assert {row["step"] for row in json.loads(captured.out)} == {3}
    assert f"step 4: {path.relative_to(folder)}" in captured.err
    assert execute(["run", "r.toml"]) == 0
    said = capsys.readouterr().err
    assert "resumed at step 3" in said
    assert execute(["checkpoint", "verify", "small"]) == 0


def test_a_full_disk_costs_nothing_once_there_is_room_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, command in (("shard-", NEW), ("model.safetensors", ON)):
        with monkeypatch.context() as patch:
            full_disk(folder, patch, name)
            assert execute(list(command)) == 1
        assert execute(list(command)) == 0
