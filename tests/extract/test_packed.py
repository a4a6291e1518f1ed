"""Compressed bytes: members, breaks, bombs."""

import bz2
import gzip
import io
import os
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.extract import packed
from danlu.extract.packed import BrokenStreamError, decompress

CODECS = ["gzip", "bz2", "zstd"]


def compress(codec, data):
    if codec == "zstd":
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return gzip.compress(data) if codec == "gzip" else bz2.compress(data)


def expand(codec, data, size=100_000):
    """What comes out, and the reason why no more does."""
    read = decompress(io.BytesIO(data).read, codec, "a.packed")
    pieces = []
    try:
        pieces.extend(iter(lambda: read(size), b""))
    except BrokenStreamError as error:
        return b"".join(pieces), error.reason
    return b"".join(pieces), ""


@pytest.mark.parametrize("codec", CODECS)
@given(members=st.lists(st.binary(max_size=300), min_size=1, max_size=4), size=st.integers(1, 50))
def test_members_follow_one_another(codec, members, size):
    assert expand(codec, b"".join(compress(codec, data) for data in members), size) == (b"".join(members), "")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1, 4095, 65_535, 65_536, 65_537, 1_000_000])
def test_sizes_around_a_piece(codec, size):
    for data in (bytes(size), os.urandom(size)):
        assert expand(codec, compress(codec, data), 30_000) == (data, "")


@pytest.mark.parametrize("codec", CODECS)
def test_every_cut_is_noticed(codec):
    data = compress(codec, bytes(range(256)) * 9)
    for cut in range(len(data)):
        found, reason = expand(codec, data[:cut])
        assert reason == "truncated"
        assert (bytes(range(256)) * 9).startswith(found)


@pytest.mark.parametrize("codec", CODECS)
def test_every_flipped_bit_of_a_checked_stream_is_noticed_or_harmless(codec):
    data = b"some text, " * 50
    sound = compress(codec, data)
    for place in range(len(sound)):
        found, reason = expand(codec, sound[:place] + bytes([sound[place] ^ 16]) + sound[place + 1 :])
        assert reason or found == data or codec == "zstd"


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_of_another_kind_is_corrupt(codec):
    assert expand(codec, b"this is plain text, not compressed at all") == (b"", "corrupt")


@pytest.mark.parametrize("codec", CODECS)
def test_what_follows_a_whole_member_does_not_harm_it(codec):
    sound = compress(codec, b"text" * 1000)
    assert expand(codec, sound + b"garbage") == (b"text" * 1000, "corrupt")
    if codec == "zstd":
        return  # zeros between frames are no padding there
    assert expand(codec, sound + bytes(100_000)) == (b"text" * 1000, "")
    assert expand(codec, sound + bytes(9) + sound) == (b"text" * 2000, "")


def test_what_comes_before_a_break_is_given():
    noise = os.urandom(1_000_000).hex().encode()
    data = bytearray(gzip.compress(noise))
    data[len(data) // 2] ^= 255
    data[len(data) // 2 + 1 : len(data) // 2 + 400] = bytes(399)
    found, reason = expand("gzip", bytes(data))
    assert reason == "corrupt"
    assert len(found) > 700_000
    assert found[:700_000] == noise[:700_000]


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_given_up(monkeypatch, codec):
    monkeypatch.setattr(packed, "BOMB_BYTES", 1_000_000)
    found, reason = expand(codec, compress(codec, bytes(30_000_000)))
    assert reason == "bomb"
    assert 900_000 <= len(found) < 3_000_000


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_behind_text_is_found_too(monkeypatch, codec):
    monkeypatch.setattr(packed, "BOMB_BYTES", 1_000_000)
    text = os.urandom(2_000_000)
    found, reason = expand(codec, compress(codec, text) + compress(codec, bytes(30_000_000)))
    assert (reason, found[: len(text)]) == ("bomb", text)


@pytest.mark.parametrize("codec", CODECS)
def test_text_that_repeats_itself_is_no_bomb(monkeypatch, codec):
    monkeypatch.setattr(packed, "BOMB_BYTES", 4_000_000)
    data = b"".join(b'{"text": "row %d", "label": 0}\n' % n for n in range(300_000))
    assert expand(codec, compress(codec, data)) == (data, "")


def test_the_file_is_not_read_ahead():
    taken = []

    def read(size):
        taken.append(size)
        return zlib.compress(b"", 1, 31) * 100 if len(taken) < 100 else b""

    decompress(read, "gzip", "a.gz")
    assert not taken


def with_window(data, log):
    """A frame of zstd whose header asks for a window of 2**log bytes, as `zstd --long=LOG` writes it."""
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    frame = bytearray(stream.compress(data) + stream.flush())
    assert not frame[4] & 0x20, "a frame of known size has no window"
    frame[5] = (log - 10) << 3
    return bytes(frame)


@pytest.mark.parametrize("log", [27, 28, 31])
def test_a_window_as_large_as_zstd_writes_one_is_read(log):
    data = os.urandom(300_000) * 3
    frame = with_window(data, log)
    assert expand("zstd", frame) == (data, "")
    assert expand("zstd", compress("zstd", data) + frame + frame) == (data * 3, "")
    found, reason = expand("zstd", frame[:-1])
    assert (found, reason) == (data, "truncated")
    found, reason = expand("zstd", frame[: len(frame) // 2])
    assert reason == "truncated"
    assert data.startswith(found)
    assert len(data) // 20 < len(found)


def test_a_window_that_zstd_never_writes_is_corrupt():
    assert expand("zstd", with_window(b"text" * 1000, 40)) == (b"", "corrupt")


def test_no_memory_for_a_window_is_an_error_that_says_what_to_do(monkeypatch):
    class Poor:
        def __init__(self, **_):
            pass

        def decompressobj(self):
            return self

        def decompress(self, _):
            raise zstandard.ZstdError("zstd decompressor error: Allocation error : not enough memory")

    monkeypatch.setattr(zstandard, "ZstdDecompressor", Poor)
    with pytest.raises(InputError, match=r"a\.packed: no memory for its zstd window.*again without --long"):
        expand("zstd", with_window(b"text", 31))


@pytest.mark.parametrize("level", [-5, 1, 19])
@pytest.mark.parametrize("has_size", [True, False])
@pytest.mark.parametrize("has_checksum", [True, False])
def test_every_kind_of_frame_is_read(level, has_size, has_checksum):
    compressor = zstandard.ZstdCompressor(
        level=level, write_content_size=has_size, write_checksum=has_checksum
    )
    skipped = b"\x5a\x2a\x4d\x18" + (70_000).to_bytes(4, "little") + bytes(70_000)
    noise = os.urandom(400_000)
    for data in (b"", b"a", b"ab" * 150, b"ab" * 40_000, bytes(500_000), noise, noise[:1000] * 300):
        frame = compressor.compress(data)
        assert expand("zstd", frame + skipped + frame) == (data * 2, "")
        assert expand("zstd", frame + skipped[:-1]) == (data, "truncated")
        assert expand("zstd", frame[:-1])[1] == "truncated"


def test_many_small_frames_are_read_at_once():
    frames = b"".join(compress("zstd", b"%d\n" % number) for number in range(20_000))
    assert expand("zstd", frames) == (b"".join(b"%d\n" % number for number in range(20_000)), "")
