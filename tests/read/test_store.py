"""Parts of the corpus: round trip, layout, damage, full disk."""

import errno
import os

import pytest

from danlu.errors import DamagedError, DanluError, MissingError
from danlu.read.store import list_domains, list_parts, part_path, read_part, write_part
from danlu.records import Document


def documents(count):
    return [
        Document(
            *(f"id{n}", f"text {n} 文\n" * (n % 50), "a.txt", "prose", "a.txt", n, n + 9),
            metadata={"url": f"http://a/{n}", "title": "文"} if n % 3 else {},
            language="zh" if n % 2 else "",
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 1023, 9001])
def test_documents_survive_the_way_to_disk(tmp_path, count):
    path = part_path(tmp_path, "train", "prose", 0)
    write_part(path, documents(count))
    assert list(read_part(path)) == documents(count)


def test_the_layout_is_split_domain_part(tmp_path):
    for domain, number in (("prose", 1), ("prose", 0), ("code", 0)):
        write_part(part_path(tmp_path, "train", domain, number), documents(2))
    (tmp_path / "train" / "empty").mkdir()
    assert list_domains(tmp_path, "train") == ["code", "prose"]
    assert list_domains(tmp_path, "validation") == []
    names = [path.relative_to(tmp_path).as_posix() for path in list_parts(tmp_path, "train", "prose")]
    assert names == ["train/prose/part-00000.parquet", "train/prose/part-00001.parquet"]


def test_a_corpus_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(MissingError, match="danlu corpus build"):
        list_domains(tmp_path / "none", "train")
    with pytest.raises(MissingError, match="part-00000"):
        list(read_part(part_path(tmp_path, "train", "prose", 0)))


def test_every_flipped_byte_of_the_text_is_noticed(tmp_path):
    path = part_path(tmp_path, "train", "prose", 0)
    write_part(path, documents(300))
    sound = path.read_bytes()
    for place in range(200, len(sound) // 2, 97):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 4]) + sound[place + 1 :])
        with pytest.raises(DamagedError, match="is damaged"):
            list(read_part(path))


def test_a_truncated_part_is_noticed(tmp_path):
    path = part_path(tmp_path, "train", "prose", 0)
    write_part(path, documents(30))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedError, match="type the same command again"):
        list(read_part(path))


def test_a_full_disk_leaves_the_old_part_and_nothing_else(tmp_path, monkeypatch):
    path = part_path(tmp_path, "train", "prose", 0)
    write_part(path, documents(3))

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DanluError, match="No space left on device"):
        write_part(path, documents(5))
    assert list(read_part(path)) == documents(3)
    assert list(path.parent.iterdir()) == [path]


def test_parts_are_in_order_of_their_numbers(tmp_path):
    numbers = [100_000, 99_999, 2, 1_000_000, 100_001]
    for number in numbers:
        write_part(part_path(tmp_path, "train", "prose", number), [])
    expected = [part_path(tmp_path, "train", "prose", number) for number in sorted(numbers)]
    assert list_parts(tmp_path, "train", "prose") == expected
