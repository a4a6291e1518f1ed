"""Files are plain safetensors, the same bytes every time, and damage of any kind is named."""

import errno
import os

import numpy as np
import pytest
from safetensors.numpy import load_file

from danlu.errors import DamagedError, DanluError, MissingError
from danlu.shards import tensor_file as module
from danlu.shards.tensor_file import map_file, open_tensors, verify_tensors, write_tensors

ARRAYS = {
    "ids": np.arange(7, dtype=np.uint16),
    "wide": np.array([2**32 - 1], dtype=np.uint32),
    "hashes": np.array([2**64 - 1, 5], dtype=np.uint64),
    "offsets": np.array([-1, 2**62, 3], dtype=np.int64),
    "empty": np.zeros(0, dtype=np.int64),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.safetensors"
    write_tensors(path, ARRAYS, {"note": "丹炉"})
    return path


def test_round_trip(path):
    arrays, metadata = open_tensors(path)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert metadata["note"] == "丹炉"
    verify_tensors(path)


def test_maps_are_read_only(path):
    with pytest.raises(ValueError, match="read-only"):
        open_tensors(path)[0]["ids"][0] = 1


def test_a_file_takes_one_map_and_gives_it_back(path, monkeypatch):
    maps = []
    monkeypatch.setattr(module, "map_file", lambda path: maps.append(map_file(path)) or maps[-1])
    arrays, _ = open_tensors(path)
    assert len(maps) == 1
    with pytest.raises(BufferError):
        maps[0].close()  # the arrays are views of it
    arrays.clear()
    maps[0].close()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EMFILE, r"Too many open files.*ulimit -n"),
        (errno.ENOMEM, r"Cannot allocate memory.*vm\.max_map_count"),
    ],
)
def test_what_the_system_limits_is_named(path, monkeypatch, number, said):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("mmap.mmap", refuse)
    with pytest.raises(DanluError, match=rf"t\.safetensors cannot be mapped into memory: {said}"):
        open_tensors(path)


def test_the_library_reads_it(path):
    for name, array in load_file(path).items():
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_same_bytes_in_any_order(path, tmp_path):
    other = tmp_path / "o.safetensors"
    write_tensors(other, dict(reversed(ARRAYS.items())), {"note": "丹炉"})
    assert other.read_bytes() == path.read_bytes()


def test_missing(tmp_path):
    with pytest.raises(MissingError):
        open_tensors(tmp_path / "none")


def test_every_cut_is_noticed(path):
    data = path.read_bytes()
    for size in range(0, len(data), 5):
        path.write_bytes(data[:size])
        with pytest.raises(DamagedError, match=r"t\.safetensors"):
            verify_tensors(path)


def test_every_changed_byte_of_the_arrays_is_noticed(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    for place in range(start, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(DamagedError, match=r"t\.safetensors.*checksum"):
            verify_tensors(path)


def test_full_disk_keeps_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(DanluError, match="No space left"):
        write_tensors(path, {"ids": np.zeros(9, dtype=np.int64)}, {})
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
