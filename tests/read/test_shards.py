"""Shards read one by one give what the sources give when read whole."""

import gzip
import io
import json
import subprocess
from itertools import pairwise

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import InputError
from danlu.formats import streams
from danlu.formats.streams import split_lines
from danlu.read.documents import read_documents
from danlu.read.settings import Source
from danlu.read.shards import Shard, plan_shards, read_shard
from web_archive import PAGE, response

LIMIT = 500
SIZES = [7, 100, 1_000, 10**9]


def lines(count):
    texts = ["", "a", "ü" * 40, "x" * 600, "two words\r", "文" * 90]
    return [
        json.dumps({"text": texts[n % 6] + str(n), "id": n, "url": f"u{n}"}, ensure_ascii=bool(n % 2))
        for n in range(count)
    ]


@pytest.fixture
def folder(tmp_path):
    files = {
        "a.jsonl": "\ufeff" + "\n".join(lines(40)),
        "b.jsonl": "\n\n" + "\r\n".join(lines(9)) + "\n\n  \n{bad\n" + "[1]\n" * 9,
        "c.txt": "one\n\ntwo\r\n" + "long " * 200 + "\nlast",
        "d.txt": "\n" * 50,
        "e.md": "first\npart\n\nsecond part\n\n\n" * 20,
        "empty.txt": "",
        "empty.jsonl": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    (tmp_path / "f.jsonl.gz").write_bytes(gzip.compress("\n".join(lines(30)).encode()))
    table = pa.table({"text": [f"row {n} " * 9 for n in range(50)], "url": ["u"] * 50})
    pq.write_table(table, tmp_path / "g.parquet", row_group_size=7)
    (tmp_path / "h.parquet").write_bytes((tmp_path / "g.parquet").read_bytes()[:-9])
    (tmp_path / "i.warc").write_bytes(
        response(number=1) + response(b"x", status="500 Bad") + response(number=3)
    )
    (tmp_path / "j.html").write_text(PAGE)
    repository = tmp_path / "code"
    repository.mkdir()
    for number in range(9):
        (repository / f"{number}.py").write_text(f"x = {number}\n" * number)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    return tmp_path


SOURCES = [
    Source(domain="records", paths=["*.jsonl", "*.jsonl.gz"]),
    Source(domain="lines", paths=["*.txt"], document="line"),
    Source(domain="paragraphs", paths=["*.md", "c.txt"], document="blank_line"),
    Source(domain="rows", paths=["*.parquet"]),
    Source(domain="web", paths=["*.warc", "*.html"]),
    Source(domain="code", paths=["code", "*.md"], format="code", language="en"),
]


@pytest.mark.parametrize("size", SIZES)
def test_shards_in_order_are_the_sources(folder, size):
    shards = plan_shards(SOURCES, folder, size)
    assert [shard.number for shard in shards] == list(range(len(shards)))
    expected_damages, damages = [], []
    expected = [
        document
        for source in SOURCES
        for document in read_documents(source, folder, LIMIT, expected_damages.append)
    ]
    found = [
        document for shard in shards for document in read_shard(shard, SOURCES, folder, LIMIT, damages.append)
    ]
    assert found == expected
    assert len(expected) > 150
    assert [(damage.reason, damage.source) for damage in damages] == [
        (damage.reason, damage.source) for damage in expected_damages
    ]


def test_small_files_are_put_together_and_large_ones_cut(folder):
    sizes = {size: [shard.size for shard in plan_shards(SOURCES, folder, size)] for size in SIZES}
    assert len(sizes[10**9]) == len(SOURCES)
    assert len(sizes[7]) > 1_000
    shards = plan_shards(SOURCES[:1], folder, 1_000)
    assert max(shard.size for shard in shards if ".gz" not in shard.pieces[0].name) <= 1_000
    parts = [piece for shard in shards for piece in shard.pieces if piece.name == "a.jsonl"]
    assert (parts[0].start, parts[-1].end) == (0, None)
    assert all(left.end == right.start for left, right in pairwise(parts))


def test_no_shard_holds_two_sources(folder):
    shards = plan_shards([SOURCES[0], SOURCES[0]], folder, 10**9)
    assert [shard.source for shard in shards] == [0, 1]
    assert shards[0].pieces == shards[1].pieces


def test_a_shard_survives_json(folder):
    for shard in plan_shards(SOURCES, folder, 300):
        assert Shard.from_json(json.loads(json.dumps(shard.to_json()))) == shard


def test_a_damage_in_a_later_part_says_the_byte(folder):
    damages = []
    for shard in plan_shards([Source(domain="d", paths=["b.jsonl"])], folder, 200):
        list(read_shard(shard, [Source(domain="d", paths=["b.jsonl"])], folder, 10_000, damages.append))
    data = (folder / "b.jsonl").read_bytes()
    (bad,) = (damage for damage in damages if damage.reason == "malformed_json")
    assert bad.line is None
    assert bad.detail.startswith(f"at byte {data.index(b'{bad')}: ")


def test_another_encoding_is_not_cut(tmp_path):
    (tmp_path / "a.txt").write_bytes("eins\nzwei\n".encode("utf-16") * 50)
    source = Source(domain="d", paths=["a.txt"], document="line", encoding="utf-16")
    assert len(plan_shards([source], tmp_path, 10)) == 1


def test_an_unknown_format_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "a.log").touch()
    with pytest.raises(InputError, match=r"a\.log: its name ends in none of"):
        plan_shards([Source(domain="d", paths=["*.log"])], tmp_path, 10)


def test_a_file_that_has_gone_is_named(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    source = Source(domain="d", paths=["a.txt"])
    (shard,) = plan_shards([source], tmp_path, 10)
    (tmp_path / "a.txt").unlink()
    with pytest.raises(InputError, match=r"a\.txt cannot be read: No such file"):
        list(read_shard(shard, [source], tmp_path, 10, print))


@given(
    data=st.lists(st.sampled_from([b"\n", b"a", b"bcd", b"\r\n"]), max_size=40).map(b"".join),
    cuts=st.lists(st.integers(0, 90), max_size=6),
    limit=st.integers(1, 9),
)
def test_lines_of_parts_are_the_lines(data, cuts, limit):
    def part(start, end):
        stream = io.BytesIO(data)
        stream.seek(max(0, start - 1))
        return list(split_lines(stream.read, limit, start, end))

    bounds = [0, *sorted(cuts), None]
    parts = [span for start, end in pairwise(bounds) for span in part(start, end)]
    # An empty line behind the last line end is none of a part that begins there.
    assert [span for span in parts if span.start < len(data)] == [
        span for span in part(0, None) if span.start < len(data)
    ]


def test_files_of_unknown_size_are_spread_and_never_cut(tmp_path, monkeypatch):
    files = fsspec.filesystem("memory")
    files.pipe({f"/unknown/{number}.txt": b"one\ntwo\n" for number in range(6)})
    found = {f"/unknown/{number}.txt": {"type": "file", "size": None} for number in range(6)}
    monkeypatch.setattr(type(files), "glob", lambda *_, **__: found)
    source = Source(domain="d", paths=["memory://unknown/*.txt"], document="line")
    assert [len(shard.pieces) for shard in plan_shards([source], tmp_path, 130_000_000)] == [2, 2, 2]
    assert [len(shard.pieces) for shard in plan_shards([source], tmp_path, 4)] == [1] * 6


def verdict(source, base, size):
    """The texts and the counted damages, or the words of the error."""
    damages = []
    shards = plan_shards([source], base, size)
    try:
        texts = [
            document.text
            for shard in shards
            for document in read_shard(shard, [source], base, 500, damages.append)
        ]
    except InputError as error:
        return str(error)
    return texts, [damage.reason for damage in damages]


@pytest.mark.parametrize("judged", [3_000, 1 << 22])
@pytest.mark.parametrize("order", ["sound first", "bad first", "one bad", "bad in the middle"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_no_shard_size_changes_the_verdict_on_an_encoding(tmp_path, monkeypatch, name, order, judged):
    monkeypatch.setattr(streams, "JUDGED_BYTES", judged)
    form = '{{"text": "{}"}}\n' if name == "a.jsonl" else "{}\n"
    sound = [form.format(f"{n} Élève à l'été").encode() for n in range(300)]
    bad = [form.format(f"{n} caf\xe9 cr\xe8me").encode("latin-1") for n in range(100)]
    lines = {
        "sound first": sound + bad,
        "bad first": bad + sound[:20],
        "one bad": sound + bad[:1],
        "bad in the middle": sound[:150] + bad + sound[150:],
    }[order]
    (tmp_path / name).write_bytes(b"".join(lines))
    source = Source(domain="d", paths=[name], document="line" if name == "a.txt" else "file")
    whole = verdict(source, tmp_path, 10**9)
    assert isinstance(whole, str) == (order == "bad first")
    for size in (7, 50, 900, 4_000):
        assert verdict(source, tmp_path, size) == whole
