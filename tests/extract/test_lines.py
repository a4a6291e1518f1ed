"""Lines of files: plain, compressed, broken, in another encoding, endless."""

import bz2
import gzip
from pathlib import Path

import pytest
import zstandard

from danlu.errors import InputError
from danlu.extract import lines
from danlu.extract.lines import read_lines, without_compression

DATA = "\ufeffone\r\n\n字 three\n\nlast".encode()
PACKED = {
    "a.txt": DATA,
    "a.txt.gz": gzip.compress(DATA),
    "a.txt.bz2": bz2.compress(DATA),
    "a.txt.ZST": zstandard.compress(DATA),
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_lines_of_every_compression(tmp_path, monkeypatch, name, chunk):
    monkeypatch.setattr(lines, "_CHUNK_BYTES", chunk)
    path = tmp_path / name
    path.write_bytes(PACKED[name])
    assert list(read_lines(path)) == ["one\r\n", "\n", "字 three\n", "\n", "last"]
    assert without_compression(path).name == "a.txt"


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"gone\.txt cannot be read"):
        list(read_lines(tmp_path / "gone.txt"))
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"many words " * 100)[:30])
    with pytest.raises(InputError, match=r"cut\.txt\.gz is truncated"):
        list(read_lines(tmp_path / "cut.txt.gz"))
    (tmp_path / "gbk.txt").write_bytes(b"good\n" + "词".encode("gbk") + b"\n")
    with pytest.raises(InputError, match=r"gbk\.txt, line 2: not UTF-8"):
        list(read_lines(tmp_path / "gbk.txt"))
    monkeypatch.setattr(lines, "MOST_LINE_BYTES", 10)
    (tmp_path / "long.txt").write_bytes(b"x" * 11)
    with pytest.raises(InputError, match="longer than 10 bytes"):
        list(read_lines(tmp_path / "long.txt"))


def test_an_empty_file_has_no_lines(tmp_path):
    (tmp_path / "none").touch()
    assert list(read_lines(tmp_path / "none")) == []
    assert without_compression(Path("a.csv")) == Path("a.csv")
