"""Streams: decompressed, transcoded, split; memory stays bounded."""

import gzip
import io
import re
import sys
import tracemalloc

import fsspec
import fsspec.implementations.memory
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError, MissingError, Stopped
from danlu.extract.packed import BrokenStreamError
from danlu.formats import streams
from danlu.formats.streams import (
    Span,
    judged_lines,
    open_file,
    open_stream,
    read_whole,
    split_lines,
    split_stream,
)


def in_pieces(data, size):
    """A read() that never gives more than `size` bytes, as a decompressor may."""
    stream = io.BytesIO(data)
    return lambda wanted: stream.read(min(wanted, size))


def split_slowly(data, pattern, limit):
    """All matches over the whole text at once."""
    spans, start = [], 0
    for match in [*re.finditer(pattern, data), None]:
        end = match.start() if match else len(data)
        spans.append(Span(start, end, data[start:end] if end - start <= limit else None))
        start = match.end() if match else end
    return spans


@given(
    data=st.lists(st.sampled_from([b"\n", b"\r\n", b" ", b"a", b"bc", b"--"]), max_size=60).map(b"".join),
    pattern=st.sampled_from([rb"\n", rb"\n(?:[ \t\r]*\n)+", rb"\-\-", rb"a"]),
    size=st.integers(1, 9),
    limit=st.integers(1, 20),
)
def test_splitting_in_pieces_equals_splitting_the_whole(data, pattern, size, limit):
    got = list(split_stream(in_pieces(data, size), re.compile(pattern), limit))
    assert got == split_slowly(data, pattern, limit)


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"bcd", b"--"]), max_size=60).map(b"".join),
    pattern=st.sampled_from([rb"\n", rb"\-\-"]),
    size=st.integers(1, 9),
)
def test_spans_that_are_let_go_early_keep_their_places(data, pattern, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "_OVERLAP_BYTES", 3)
        got = list(split_stream(in_pieces(data, size), re.compile(pattern), 4))
    assert got == split_slowly(data, pattern, 4)


def test_a_span_that_is_too_long_is_let_go_while_it_is_read():
    def endless(size, left=[200]):  # noqa: B006 - the state of the stream
        left[0] -= 1
        return b"x" * size if left[0] > 0 else b"\nshort" if left[0] == 0 else b""

    tracemalloc.start()
    spans = list(split_stream(endless, re.compile(rb"\n"), 1_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert spans[0].data is None
    assert spans[0].end == 199 * streams.CHUNK_BYTES
    assert spans[1].data == b"short"
    assert peak < 8_000_000


def test_reading_whole_stops_at_the_limit():
    assert read_whole(in_pieces(b"12345", 2), 5) == Span(0, 5, b"12345")
    assert read_whole(in_pieces(b"123456", 2), 5).data is None


def test_a_decompression_bomb_is_only_read_as_far_as_allowed(tmp_path):
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard.ZstdCompressor(level=1).compress(bytes(200_000_000)))
    with open_stream(path) as read:
        span = read_whole(read, 3_000_000)
    assert span.data is None
    assert span.end < 5_000_000


@pytest.fixture
def remote():
    files = fsspec.filesystem("memory")
    files.pipe({"/bucket/a.txt": b"one\ntwo\n", "/bucket/a.txt.gz": gzip.compress(b"packed")})
    yield files
    files.rm("/bucket", recursive=True)


def test_a_url_is_read_like_a_file(remote):
    with open_stream("memory://bucket/a.txt") as read:
        assert read_whole(read, 99).data == b"one\ntwo\n"
    with open_stream("memory://bucket/a.txt", start=4) as read:
        assert read_whole(read, 99).data == b"two\n"
    with open_stream("memory://bucket/a.txt.gz") as read:
        assert read_whole(read, 99).data == b"packed"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_connection_that_breaks_off_is_no_damage(remote, monkeypatch, name):
    def fail(*_):
        raise ConnectionResetError("reset by peer")

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFile, "read", fail)
    words = f"memory://bucket/{name} broke off .*reset by peer.*same command again"
    with pytest.raises(InputError, match=words), open_stream(f"memory://bucket/{name}") as read:
        read_whole(read, 99)


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("memory://bucket/none.txt", InputError, "cannot be read"),
        ("nonsense://a/b", InputError, "nonsense"),
        ("s3://bucket/a", MissingError, "pip install s3fs"),
    ],
)
def test_a_url_that_cannot_be_opened_is_named(remote, url, error, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(error, match=f"{url}.*{words}"), open_file(url):
        pass


def test_lines_of_a_part_begin_in_it():
    data = b"one\ntwo\n\nthree"
    parts = [(0, 3), (3, 4), (4, 8), (8, None)]
    found = []
    for start, end in parts:
        stream = io.BytesIO(data)
        stream.seek(max(0, start - 1))
        found.append([span.data for span in split_lines(stream.read, 99, start, end)])
    assert found == [[b"one"], [], [b"two"], [b"", b"three"]]


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "shift_jis", "utf-8-sig"])
def test_other_encodings_are_transcoded_across_chunks(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(streams, "CHUNK_BYTES", 3)
    text = "日本の文。" * 7
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    with open_stream(path, encoding) as read:
        assert read_whole(read, 1000).data == text.encode()


def test_a_read_that_is_stopped_is_stopped(remote, monkeypatch):
    def stop(*_):
        raise Stopped("asked to stop")

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFile, "read", stop)
    with pytest.raises(Stopped), open_stream("memory://bucket/a.txt") as read:
        read_whole(read, 99)


def test_what_lies_behind_the_judged_head_of_a_file_refuses_nothing(monkeypatch):
    monkeypatch.setattr(streams, "JUDGED_BYTES", 12)
    bad = b"caf\xe9\n" * 99
    assert len(list(judged_lines(io.BytesIO(b"plain text\n" + bad).read, "a.txt", 99))) == 101
    for end in (None, 3):
        with pytest.raises(InputError, match=r"a\.txt is not UTF-8"):
            list(judged_lines(io.BytesIO(bad).read, "a.txt", 99, 0, end))
    assert len(list(judged_lines(io.BytesIO(bad[4:]).read, "a.txt", 99, 5))) == 99


@pytest.mark.parametrize("start", [0, 5])
def test_what_is_no_text_is_told_wherever_reading_begins(tmp_path, start):
    path = tmp_path / "a.txt"
    path.write_bytes(b"%PDF-1.4\n" * 9)
    with pytest.raises(BrokenStreamError) as error, open_stream(path, start=start, is_text=True):
        pass
    assert error.value.reason == "binary"
    path.write_bytes(b"plain\n" * 99_999)
    with open_stream(path, start=start, is_text=True) as read:
        assert read_whole(read, 1_000_000).data == (b"plain\n" * 99_999)[start:]
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with open_stream(packed, is_text=True) as read:
        assert read_whole(read, 1_000_000).data == path.read_bytes()
