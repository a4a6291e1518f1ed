"""A folder holds the pairs of one tokenizer and one run, and nobody's files are touched."""

import errno
import os

import pytest

from danlu.errors import DanluError, InputError, MissingError, UsageError
from danlu.files import sha256_file
from danlu.shards import export as module
from danlu.shards.export import export_tokens
from danlu.shards.megatron import open_pair
from killed import run_killed

PAIRS = ("train/code", "train/prose.v2", "validation/code")


@pytest.fixture
def tokenizer(tmp_path, codec, monkeypatch):
    """Stands for the file that the shards were made with."""
    path = tmp_path / "tokenizer.json"
    path.write_text('{"of": "the run"}')
    hashes = {sha256_file(path): codec.sha256}

    def load(path):
        codec.sha256 = hashes.get(sha256_file(path), sha256_file(path))
        return codec

    monkeypatch.setattr(module.Codec, "load", load)
    monkeypatch.setattr(module, "sha256_file", lambda path: hashes.get(sha256_file(path), sha256_file(path)))
    return path


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names(*pairs):
    endings = ("bin", "idx", "card.json", "documents.parquet")
    return {"tokenizer.json", *(f"{pair}.{ending}" for pair in pairs for ending in endings)}


@pytest.mark.parametrize("folder", ["new", "deep/er/new", "empty", "with.dot", "code.idx"])
def test_a_new_or_empty_folder(tokens, tokenizer, tmp_path, folder):
    (tmp_path / "empty").mkdir()
    written = export_tokens(tokens, tokenizer, tmp_path / folder)
    assert [str(prefix.relative_to(tmp_path / folder)) for prefix, _ in written] == list(PAIRS)
    assert set(files(tmp_path / folder)) == names(*PAIRS)
    assert (tmp_path / folder / "tokenizer.json").read_bytes() == tokenizer.read_bytes()


def test_again_replaces_and_removes_what_is_gone(tokens, tokenizer, tmp_path, write_domain, capsys):
    out = tmp_path / "out"
    export_tokens(tokens, tokenizer, out)
    first = files(out)
    export_tokens(tokens, tokenizer, out)
    assert files(out) == first
    assert "removed" not in capsys.readouterr().err
    other = tmp_path / "other"
    write_domain(other, "code", [8, 9, 10])
    export_tokens(other, tokenizer, out)
    assert set(files(out)) == names("train/code")
    assert open_pair(out / "train" / "code").lengths.tolist() == [8, 9, 10]
    assert not (out / "validation").exists()
    said = capsys.readouterr().err
    assert all(f"{out / pair} is removed" in said for pair in PAIRS[1:])


def test_another_tokenizer_is_refused_with_both_hashes(tokens, tokenizer, tmp_path, codec):
    out = tmp_path / "out"
    export_tokens(tokens, tokenizer, out)
    before, ours = files(out), codec.sha256
    other = tmp_path / "other.json"
    other.write_text("{}")
    for _ in range(2):
        with pytest.raises(UsageError, match="Name an empty or new folder, or remove that one") as raised:
            export_tokens(tokens, other, out)
        assert ours[:12] in str(raised.value)
        assert sha256_file(other)[:12] in str(raised.value)
        assert files(out) == before
        # The cards know it too.
        before.pop("tokenizer.json", None)
        (out / "tokenizer.json").unlink(missing_ok=True)


def test_a_tokenizer_of_another_alone_is_refused(tokens, tokenizer, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tokenizer.json").write_text("mine")
    with pytest.raises(UsageError, match=r"SHA-256, of tokenizer\.json"):
        export_tokens(tokens, tokenizer, tmp_path / "out")
    assert files(tmp_path / "out") == {"tokenizer.json": b"mine"}


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "train/notes.txt",
        "train/other.bin",
        "train/other.idx",
        "train/code.card.json.bak",
        "train/cache/x",
        "test/code.bin",
        ".hidden",
        ".tmp-mine",
        "train/web.card.json",
    ],
)
def test_files_of_the_user_are_refused_and_stay(tokens, tokenizer, tmp_path, name):
    out = tmp_path / "out"
    for export in (False, True):
        if export:
            (out / name).unlink()
            for parent in (out / name).relative_to(out).parents:
                if not any((out / parent).iterdir()):
                    (out / parent).rmdir()
            export_tokens(tokens, tokenizer, out)
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text('{"mine": 1}')
        before = files(out)
        with pytest.raises(UsageError, match=r"is not of an earlier export.*empty or new folder") as raised:
            export_tokens(tokens, tokenizer, out)
        assert "/".join(name.split("/")[:2]) in str(raised.value) or name.split("/")[0] in str(raised.value)
        assert files(out) == before


@pytest.mark.parametrize("place", ["afile", "afile/x", "afile/x/y", "train is a file", "x" * 300])
def test_what_can_be_no_folder_is_refused(tokens, tokenizer, tmp_path, place):
    (tmp_path / "afile").write_text("mine")
    (tmp_path / "train is a file").mkdir()
    (tmp_path / "train is a file" / "train").write_text("mine")
    with pytest.raises(UsageError):
        export_tokens(tokens, tokenizer, tmp_path / place)
    assert (tmp_path / "afile").read_text() == "mine"


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.ENOSPC])
def test_a_folder_that_cannot_be_made(tokens, tokenizer, tmp_path, monkeypatch, number):
    def refuse(path, *_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.mkdir", refuse)
    with pytest.raises(DanluError, match=rf"out.*{os.strerror(number)}"):
        export_tokens(tokens, tokenizer, tmp_path / "out")


def test_nothing_to_export(tokenizer, tmp_path):
    with pytest.raises(MissingError, match="no token shards"):
        export_tokens(tmp_path / "none", tokenizer, tmp_path / "out")


def test_a_tokenizer_that_cannot_be_read(tokens, tmp_path):
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(InputError, match=r"broken\.json"):
        export_tokens(tokens, tmp_path / "broken.json", tmp_path / "out")
    assert not (tmp_path / "out").exists()


KILLED = """
from types import SimpleNamespace
from danlu.shards import export
export.Codec = SimpleNamespace(load=lambda path: SimpleNamespace(
    sha256="a" * 64, vocab_size=300, bos_id=0, eos_id=1, pad_id=2))
export.sha256_file = lambda path: "a" * 64
export.export_tokens(*map(Path, sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("used", [False, True])
def test_killed_at_any_call_of_the_system_the_same_command_goes_on(
    tokens, tokenizer, tmp_path, write_domain, used
):
    export_tokens(tokens, tokenizer, tmp_path / "whole")
    whole = files(tmp_path / "whole")
    write_domain(tmp_path / "before", "gone", [4, 5])
    for place in range(1, 60, 6):
        out = tmp_path / f"out-{place}"
        if used:
            export_tokens(tmp_path / "before", tokenizer, out)
        killed = run_killed(place, KILLED, tokens, tokenizer, out)
        export_tokens(tokens, tokenizer, out)
        assert files(out) == whole
        if not killed:
            break
    assert place > 20
