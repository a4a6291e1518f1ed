"""Streams: decompressed, transcoded, split; memory stays bounded."""

import gzip
import io
import re
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from danlu.read import streams
from danlu.read.streams import BrokenStreamError, Span, open_stream, read_whole, split_stream


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


def compress(name, data):
    return (
        gzip.compress(data)
        if name.endswith(".gz")
        else zstandard.ZstdCompressor(write_checksum=True).compress(data)
    )


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_compressed_streams_may_have_several_frames(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(compress(name, b"one ") + compress(name, b"two"))
    with open_stream(path) as read:
        assert read_whole(read, 100).data == b"one two"


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
@pytest.mark.parametrize(
    ("cut", "reason"), [(lambda data: data[:-6], "truncated"), (lambda _: b"", "truncated")]
)
def test_a_truncated_stream_says_so(tmp_path, name, cut, reason):
    path = tmp_path / name
    path.write_bytes(cut(compress(name, bytes(range(256)) * 50)))
    with pytest.raises(BrokenStreamError) as caught, open_stream(path) as read:
        read_whole(read, 1 << 20)
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", ["a.gz", "a.zst"])
def test_a_stream_of_another_kind_is_corrupt(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"this is plain text, not compressed at all")
    with pytest.raises(BrokenStreamError) as caught, open_stream(path) as read:
        read_whole(read, 1 << 20)
    assert caught.value.reason == "corrupt"


def test_a_decompression_bomb_is_only_read_as_far_as_allowed(tmp_path):
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard.ZstdCompressor(level=1).compress(bytes(200_000_000)))
    with open_stream(path) as read:
        span = read_whole(read, 3_000_000)
    assert span.data is None
    assert span.end < 5_000_000


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "shift_jis", "utf-8-sig"])
def test_other_encodings_are_transcoded_across_chunks(tmp_path, monkeypatch, encoding):
    monkeypatch.setattr(streams, "CHUNK_BYTES", 3)
    text = "日本の文。" * 7
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    with open_stream(path, encoding) as read:
        assert read_whole(read, 1000).data == text.encode()
