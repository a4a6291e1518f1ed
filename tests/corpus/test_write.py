"""Parts of a size, and lines of JSON."""

import errno
import io
import json
import os
from pathlib import Path

import pytest
import zstandard

from danlu.corpus.write import Lines, PartWriter
from danlu.errors import DanluError
from danlu.read.store import list_parts, read_part
from danlu.records import Document


def test_a_part_is_written_when_it_is_full(tmp_path):
    writer = PartWriter(tmp_path, part_bytes=100)
    documents = [Document(str(n), "x" * 40, "s", "prose", "g") for n in range(7)]
    for document in documents:
        writer.add("train", document, 40)
    assert len(list_parts(tmp_path, "train", "prose")) == 2
    writer.close()
    parts = list_parts(tmp_path, "train", "prose")
    assert [len(list(read_part(part))) for part in parts] == [3, 3, 1]
    assert [document for part in parts for document in read_part(part)] == documents


def test_lines_are_json_and_checked(tmp_path):
    path = tmp_path / "a.jsonl.zst"
    with Lines(path) as lines:
        lines.add({"id": "é"})
        lines.add({"id": "\ud800"})
    text = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read().decode()
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["é", "?"]


def test_a_full_disk_is_a_clean_error(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DanluError, match="No space left"), Lines(tmp_path / "a.jsonl.zst") as lines:
        lines.add({})


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only where there is a device that is always full")
def test_a_write_to_a_full_device_is_a_clean_error():
    with pytest.raises(DanluError, match="cannot write /dev/full"), Lines(Path("/dev/full")) as lines:
        lines.add({"id": "x" * 9999})
