"""The manifest: what it accepts, and what it refuses although its digest is right."""

import json

import pytest

from danlu.checkpoint.manifest import Entry, Manifest, read_manifest, step_name, verify
from danlu.errors import DamagedError, MismatchError
from danlu.files import digest

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
STATE = {"name": "state.json", "bytes": 0, "sha256": EMPTY}


def write(directory, body):
    (directory / "manifest.json").write_text(json.dumps({**body, "digest": digest(body)}))


def body(**changes):
    return {"format": "danlu-checkpoint", "version": 1, "step": 3, "files": [STATE], **changes}


def test_what_is_written_reads_back_and_verifies(tmp_path):
    directory = tmp_path / step_name(3)
    directory.mkdir()
    manifest = Manifest(3, (Entry("state.json", 0, EMPTY),))
    (directory / "manifest.json").write_bytes(manifest.encode())
    (directory / "state.json").touch()
    assert read_manifest(directory) == verify(directory) == manifest
    (directory / "state.json").write_bytes(b"x")
    with pytest.raises(DamagedError, match="1 bytes instead of 0"):
        verify(directory)


def test_a_later_version_says_what_to_do(tmp_path):
    write(tmp_path, body(version=2))
    with pytest.raises(MismatchError, match="format version 2; this danlu reads 1"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"step": -1},
        {"step": 1.0},
        {"step": True},
        {"step": None},
        {"files": []},
        {"files": None},
        {"files": 3},
        {"files": "state.json"},
        {"files": [STATE, STATE]},
        {"files": [STATE, "model"]},
        {"files": [STATE, {"name": "../../etc/passwd", "bytes": 0, "sha256": EMPTY}]},
        {"files": [STATE, {"name": "a/b", "bytes": 0, "sha256": EMPTY}]},
        {"files": [STATE, {"name": "manifest.json", "bytes": 0, "sha256": EMPTY}]},
        {"files": [STATE, {"name": ["a"], "bytes": 0, "sha256": EMPTY}]},
        {"files": [STATE, {"name": "a", "bytes": -1, "sha256": EMPTY}]},
        {"files": [STATE, {"name": "a", "bytes": 2.5, "sha256": EMPTY}]},
        {"files": [STATE, {"name": "a", "bytes": 0, "sha256": "abc"}]},
        {"files": [STATE, {"name": "a", "bytes": 0, "sha256": None}]},
        {"files": [STATE, {"name": "a", "bytes": 0}]},
    ],
)
def test_a_manifest_that_danlu_never_writes_is_refused(tmp_path, changes):
    write(tmp_path, body(**changes))
    with pytest.raises(DamagedError):
        read_manifest(tmp_path)


def test_no_manifest_and_a_huge_one_are_refused(tmp_path):
    with pytest.raises(DamagedError, match="never whole"):
        read_manifest(tmp_path)
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(DamagedError, match="too large"):
        read_manifest(tmp_path)
