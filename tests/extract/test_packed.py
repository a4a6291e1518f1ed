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

from danlu.extract import packed
from danlu.extract.packed import BrokenStreamError, decompress

CODECS = ["gzip", "bz2", "zstd"]


def compress(codec, data):
    if codec == "zstd":
        return zstandard.ZstdCompressor(write_checksum=True).compress(data)
    return gzip.compress(data) if codec == "gzip" else bz2.compress(data)


def expand(codec, data, size=100_000):
    """What comes out, and the reason why no more does."""
    read = decompress(io.BytesIO(data).read, codec)
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


@pytest.mark.parametrize("codec", ["gzip", "bz2"])
def test_what_follows_a_whole_member_does_not_harm_it(codec):
    sound = compress(codec, b"text" * 1000)
    assert expand(codec, sound + b"garbage") == (b"text" * 1000, "corrupt")
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

    decompress(read, "gzip")
    assert not taken
