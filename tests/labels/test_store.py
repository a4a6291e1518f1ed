"""Labels on disk: the last one stands, a taken back one does not, a torn line is counted; examples."""

import json

import pytest

from danlu.errors import DamagedError, MissingError
from danlu.labels.store import (
    Joined,
    Label,
    Said,
    Stored,
    add_label,
    hash_of,
    join_labels,
    read_labels,
    standing,
    write_examples,
)

WHEN = "2026-01-02T03:04:05+00:00"


def label(text, value, who="ann", scale="keep"):
    return Label(7, f"id of {text}", "web", hash_of(text), value, who, WHEN, scale)


def write(path, *labels):
    for one in labels:
        add_label(path, one)
    return read_labels(path)


def test_what_is_added_is_read(tmp_path):
    given = (label("a", "keep"), label("b \ud800 字\n", "drop"), label("a", 3, scale="0-5"), label("a", None))
    assert write(tmp_path / "new" / "labels.jsonl", *given) == Stored(given, 0)
    assert read_labels(tmp_path / "none.jsonl") == Stored((), 0)


def test_the_last_label_stands_and_scales_are_apart(tmp_path):
    given = [
        *(label("a", "keep"), label("b", "keep"), label("a", "drop"), label("b", None)),
        *(label("a", "keep", "bob"), label("a", 5, scale="0-5")),
    ]
    found = standing(given, "keep")
    assert {who: {key: one.label for key, one in own.items()} for who, own in found.items()} == {
        "ann": {hash_of("a"): "drop"},
        "bob": {hash_of("a"): "keep"},
    }
    assert standing([label("a", "keep"), label("a", None)], "keep") == {}


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_line_is_counted_and_the_next_label_is_whole(tmp_path, cut):
    path = tmp_path / "labels.jsonl"
    write(path, label("a", "keep"), label("b", "drop"))
    path.write_bytes(path.read_bytes()[:-cut])
    whole = (label("a", "keep"), *([label("b", "drop")] if cut == 1 else []), label("c", "keep"))
    assert write(path, label("c", "keep")) == Stored(whole, int(cut > 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "maybe"}, "'maybe' is not on the scale"),
        ({"label": True, "scale": "0-5"}, "True is not on the scale"),
        ({"scale": "0-9"}, "is no label"),
        ({"colour": "red"}, "is no label"),
    ],
)
def test_what_is_no_label_is_named_by_its_line(tmp_path, change, message):
    path = tmp_path / "labels.jsonl"
    write(path, label("a", "keep"))
    row = json.loads(path.read_text()) | change
    path.write_text(path.read_text() + json.dumps(row) + "\n")
    with pytest.raises(DamagedError, match=f"jsonl:2.*{message}"):
        read_labels(path)


def test_examples_are_what_most_said(tmp_path):
    given = [
        *(label("a", "keep"), label("a", "keep", "bob"), label("a", "drop", "eve")),
        *(label("b", "keep"), label("b", "drop", "bob"), label("c\ud800", "drop")),
    ]
    joined = join_labels(["a", "b", "c\ud800", "unlabelled"], standing(given, "keep"), "keep")
    assert joined == Joined((Said("a", "keep", 3), Said("c\ud800", "drop", 1)), 1)
    write_examples(tmp_path / "examples.jsonl", joined)
    assert [json.loads(line) for line in (tmp_path / "examples.jsonl").read_text().splitlines()] == [
        {"text": "a", "label": "keep", "labels": 3},
        {"text": "c\ud800", "label": "drop", "labels": 1},
    ]


def test_points_are_averaged(tmp_path):
    given = standing([label("a", 2, "ann", "0-5"), label("a", 5, "bob", "0-5")], "0-5")
    assert join_labels(["a", "b"], given, "0-5") == Joined((Said("a", 3.5, 2),), 0)
    with pytest.raises(MissingError, match="no label to write"):
        write_examples(tmp_path / "examples.jsonl", join_labels(["b"], given, "0-5"))
    assert not (tmp_path / "examples.jsonl").exists()


def test_texts_are_known_by_all_their_characters():
    assert len({hash_of(text) for text in ("", " ", "\0", "a", "a\n", "a\r\n", "\ud800", "?", "河")}) == 9
