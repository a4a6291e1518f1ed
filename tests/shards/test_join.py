"""What belongs together becomes one text with its parts named; nothing is lost, and memory is bounded by buckets."""

import json
import random

import pytest

from danlu.read.store import list_parts, read_part, write_part
from danlu.records import Document
from danlu.shards import join as module
from danlu.shards.join import PARTS, folder_roots, join_domain


def files(count, seed=3):
    """Files of many repositories, some in none, in any order."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        repository = draw.choice(["", "a/b", "c", "丹", "a"])
        text = draw.choice(["", "x", "好 🚀\n", "two\n\nparagraphs", "\x00"]) * draw.randrange(4)
        found.append(
            Document(
                id=f"file-{number}",
                text=text,
                source=f"repos/{draw.choice(['one', 'two'])}/{draw.randrange(4)}.py",
                domain="code",
                group="g",
                start=draw.randrange(9),
                end=draw.randrange(9, 20),
                metadata={"repository": repository} if repository else {},
            )
        )
    return found


def joined(tmp_path, documents, field="repository", roots=(), parts=3):
    """The counts and the documents that come of it."""
    paths = []
    for number in range(parts):
        path = tmp_path / "corpus" / "code" / f"part-{number:05d}.parquet"
        write_part(path, documents[number::parts])
        paths.append(path)
    facts = tmp_path / "facts.json"
    argument = {
        "parts": list(map(str, paths)),
        "field": field,
        "roots": list(roots),
        "directory": str(tmp_path / "train" / "code"),
        "facts": str(facts),
        "key": "k",
    }
    join_domain(argument)
    assert not list((tmp_path / "train" / "code").glob(".tmp-*"))
    found = [doc for path in list_parts(tmp_path, "train", "code") for doc in read_part(path)]
    return json.loads(facts.read_text()), found


@pytest.mark.parametrize(("most", "buckets"), [(16_000_000, 128), (16_000_000, 1), (7, 5), (1, 128)])
def test_nothing_is_lost_and_parts_are_named(tmp_path, monkeypatch, most, buckets):
    monkeypatch.setattr(module, "_MOST_BYTES", most)
    monkeypatch.setattr(module, "_MOST_BUCKETS", buckets)
    monkeypatch.setattr(module, "PART_BYTES", 40)
    documents = files(120)
    by_id = {document.id: document for document in documents}
    facts, found = joined(tmp_path, documents)
    seen = []
    for document in found:
        if PARTS not in document.metadata:
            assert not by_id[document.id].metadata
            assert document.text == by_id[document.id].text
            seen.append(document.id)
            continue
        rows = json.loads(document.metadata[PARTS])
        members = [by_id[number] for number, *_ in rows]
        assert document.text == "\n\n".join(member.text for member in members)
        assert len({member.metadata["repository"] for member in members}) == 1
        assert [tuple(row) for row in rows] == [
            (m.id, m.source, m.start, m.end, len(m.text.encode())) for m in members
        ]
        assert [(m.source, m.start, m.id) for m in members] == sorted(
            (m.source, m.start, m.id) for m in members
        )
        assert len(document.text.encode()) <= most or len(members) == 1
        assert (document.start, document.end) == (0, len(document.text.encode()))
        seen += [member.id for member in members]
    assert sorted(seen) == sorted(by_id)
    assert len({document.id for document in found}) == len(found)
    alone = sum(not document.metadata for document in documents)
    together = len(found) - alone
    assert facts == {
        "key": "k",
        "documents": 120 - alone,
        "joined": together,
        "alone": alone,
        "parts": len(list((tmp_path / "train" / "code").iterdir())),
    }
    assert together == 4 if most > 7 else together > 4


def test_the_same_bytes_again(tmp_path):
    def parts():
        joined(tmp_path, files(50))
        return {path.name: path.read_bytes() for path in (tmp_path / "train" / "code").iterdir()}

    assert parts() == parts()


def test_a_long_repository_goes_on_in_another_document(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 10)
    documents = [
        Document(str(n), "abcd", f"{n}.py", "code", "g", metadata={"repository": "r"}) for n in range(5)
    ]
    _, found = joined(tmp_path, documents)
    assert [(d.id, d.text) for d in found] == [
        ("joined:r", "abcd\n\nabcd"),
        ("joined/2:r", "abcd\n\nabcd"),
        ("joined/3:r", "abcd"),
    ]


def test_by_folder(tmp_path):
    names = ["repos/a/x.py", "repos/a/deep/y.py", "repos/b/x.py", "repos/top.py", "else/a/x.py"]
    documents = [Document(name, name, name, "code", "g") for name in names]
    facts, found = joined(tmp_path, documents, "folder", ["repos"], parts=1)
    assert [(d.id, d.text) for d in found] == [
        ("repos/top.py", "repos/top.py"),
        ("else/a/x.py", "else/a/x.py"),
        *sorted(
            [
                ("joined:repos/a", "repos/a/deep/y.py\n\nrepos/a/x.py"),
                ("joined:repos/b", "repos/b/x.py"),
            ]
        ),
    ]
    assert (facts["documents"], facts["joined"], facts["alone"]) == (3, 2, 2)


def test_roots_are_what_stands_before_the_wildcard(tmp_path):
    patterns = ["repos/**/*.py", "*.zip", "mine/django", f"{tmp_path}/texts/*/a.txt", "/else/*/b", "x.py"]
    assert folder_roots(patterns, tmp_path) == ["repos", "", "mine", "texts", "/else", ""]
