"""Examples from labelled rows and from two sides: every label is understood, refused or counted."""

import gzip
import json

import numpy as np
import pytest

from danlu.errors import InputError
from danlu.scorers.examples import Columns, find_files, is_held_out, read_labelled, read_sides

JIGSAW = """id,comment_text,toxic,severe_toxic,insult
1,"A fine, good day",0,0,0
2,"You
are bad",1,0,1
3,Not labelled,-1,-1,-1
4,,1,0,0
5,"A fine, good day",0,0,0
6,Mean,0,0,1
7,short row,0
"""


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def pairs(examples):
    return list(zip(examples.texts, examples.labels.tolist(), strict=True))


def test_jigsaws_columns(tmp_path):
    (tmp_path / "train.csv").write_text(JIGSAW)
    columns = Columns("comment_text", ("toxic", "severe_toxic", "insult"))
    found = read_labelled([str(tmp_path / "*.csv")], columns)
    assert pairs(found) == [("A fine, good day", 0.0), ("You\nare bad", 1.0), ("Mean", 1.0)]
    assert found.left_out == {"duplicate": 1, "malformed": 1, "no_text": 1, "unknown_label": 1}
    assert found.sources == (("train.csv", 3),)


@pytest.mark.parametrize(
    ("label", "side"),
    [(1, 1), (0, 0), (True, 1), (False, 0), (1.0, 1), (0.7, 1), (0.2, 0), ("keep", 1), ("DROP", 0)],
)
def test_labels_that_need_no_explanation(tmp_path, label, side):
    name = write_rows(tmp_path / "a.jsonl", [{"text": "one", "label": label}])
    assert pairs(read_labelled([name], Columns())) == [("one", side)]


def test_labels_that_are_named(tmp_path):
    rows = [{"text": f"text {label}", "label": label} for label in ("hate", "offensive", "neither", 3)]
    name = write_rows(tmp_path / "a.jsonl", [*rows, {"text": "none"}, {"text": "nothing", "label": None}])
    with pytest.raises(InputError, match=r"'hate', 'offensive', 'neither', '3'.*say which are positive"):
        read_labelled([name], Columns())
    found = read_labelled([name], Columns(positive=("hate", "offensive")))
    assert found.labels.tolist() == [1, 1, 0, 0]
    assert found.left_out == {"no_label": 2}


def test_a_scale_of_five(tmp_path):
    labels = [0, 5, "3", 2.5, 6, -1, "many", None, float("nan")]
    rows = [{"text": f"text {number}", "score": label} for number, label in enumerate(labels)]
    name = write_rows(tmp_path / "a.jsonl", rows)
    found = read_labelled([name], Columns(labels=("score",), scale="0-5"))
    assert found.labels.tolist() == [0, 5, 3, 2.5]
    assert found.left_out == {"no_label": 1, "unknown_label": 4}


def test_equal_texts_count_once(tmp_path):
    rows = [{"text": "same", "label": label} for label in (1, 1, 0)]
    found = read_labelled([write_rows(tmp_path / "a.jsonl", rows)], Columns())
    assert pairs(found) == [("same", 1.0)]
    assert found.left_out == {"conflicting": 1, "duplicate": 1}


def test_two_sides(tmp_path):
    (tmp_path / "good.txt").write_text("One paragraph\nof two lines.\n\n\n \nAnother.\n")
    with gzip.open(tmp_path / "bad.jsonl.gz", "wt") as file:
        file.write('{"text": "Menu"}\nno json\n[1]\n\n{"text": 3}\n{"text": "Another."}\n')
    found = read_sides([str(tmp_path / "g*.txt")], [str(tmp_path / "bad.*")])
    assert pairs(found) == [("One paragraph\nof two lines.", 1.0), ("Another.", 1.0), ("Menu", 0.0)]
    assert found.left_out == {"conflicting": 1, "malformed": 2, "no_text": 1}


def test_what_cannot_be_read_is_named(tmp_path):
    def refused(said, name, columns=None):
        with pytest.raises(InputError, match=said):
            read_labelled([name], columns or Columns())

    refused("no file matches", str(tmp_path / "*.csv"))
    (tmp_path / "a.txt").write_text("text")
    refused("has no labels", str(tmp_path / "a.txt"))
    (tmp_path / "a.pdf").write_text("text")
    refused(r"read from \.jsonl", str(tmp_path / "a.pdf"))
    refused("no column 'label'; it has text", write_rows(tmp_path / "a.jsonl", [{"text": "one"}]))
    refused("no example was found", write_rows(tmp_path / "b.jsonl", []))
    (tmp_path / "a.csv").write_text('text,label\n"open,1\n')
    refused("no CSV file", str(tmp_path / "a.csv"))
    with pytest.raises(InputError, match="no column 'body'"):
        read_sides([str(tmp_path / "a.txt")], [str(tmp_path / "a.jsonl")], "body")


def test_files_come_once_and_sorted(tmp_path):
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).touch()
    (tmp_path / "folder.csv").mkdir()
    found = find_files([str(tmp_path / "*.csv"), str(tmp_path / "a.csv")])
    assert [path.name for path in found] == ["a.csv", "b.csv"]


def test_what_is_held_out_goes_by_the_text_alone():
    texts = [f"text {number}" for number in range(4000)]
    held = is_held_out(texts, 0.25)
    assert abs(held.mean() - 0.25) < 0.03
    assert np.array_equal(is_held_out(texts[::-1], 0.25)[::-1], held)
    assert not (held & ~is_held_out(texts, 0.5)).any()
    assert is_held_out(["\ud800"], 0.5).shape == (1,)
