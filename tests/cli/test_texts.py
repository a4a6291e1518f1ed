"""Texts of an option: which files they are, how each is read, and what is refused before anything is read."""

from collections import Counter

import pytest

from danlu.cli.texts import given_texts, held_out_texts, run_of
from danlu.errors import DanluError, UsageError

MOST = 10**6


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A folder of many endings, which is the current one's only child."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "perl"
    folder.mkdir()
    for name in ("a.pm", "b.pm", "c.xyz", "README"):
        (folder / name).write_text("sub burn { return 1; }\n\nsub rest { 0 }\n")
    rows = '{"text": "in a record", "domain": "its own", "lang": "de-AT"}\n{"text": "in another"}\n'
    (folder / "d.jsonl").write_text(rows)
    return folder


def count(*globs, document="file", limit=MOST):
    """Texts by domain."""
    return Counter(item.domain for item in given_texts(globs, limit, document))


def test_unknown_endings_are_plain_text_and_records_are_records():
    assert count("code=perl/*.pm") == {"code": 2}
    assert count("perl/*") == {"perl/*": 4 + 1, "its own": 1}
    assert count("code=perl/*.pm", "perl/c.xyz", document="blank_line") == {"code": 4, "perl/c.xyz": 2}
    assert {item.language for item in given_texts(["perl/d.jsonl"], MOST, "file")} >= {"de"}


def test_document_acts_on_plain_text_alone():
    assert count("all=perl/*", document="blank_line") == {"all": 4 * 2 + 1, "its own": 1}


def test_the_limit_is_of_each_glob():
    assert count("a=perl/*.pm", "b=perl/*.pm", limit=10) == {"a": 1, "b": 1}


def test_a_path_with_an_equals_sign_names_no_domain(files):
    (files / "x=1.txt").write_text("one")
    assert count("perl/x=1.txt") == {"perl/x=1.txt": 1}
    assert count("d=perl/x=1.txt") == {"d": 1}


def test_a_text_of_python_s_own():
    assert count("python:stdlib", limit=1000)["python:stdlib"] >= 1


def test_what_is_damaged_is_said(files, capsys):
    (files / "image.bin").write_bytes(b"\x89PNG\0\0\0" * 99)
    assert count("perl/*.bin", "d=perl/c.xyz") == {"d": 1}
    assert "damaged: 1 binary" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("glob", "document", "said"),
    [
        ("d=none.pm", "file", "no file matches 'none.pm'"),
        ("none*", "file", "no file matches 'none*'"),
        ("d=perl", "file", "'d=perl/**/*.txt'"),
        ("perl/", "file", "'perl/**/*.txt'"),
        ("d=", "file", "'d=**/*.txt'"),
        ("perl/d.jsonl", "line", "--document line has no effect"),
        ("perl/*.pm", "section", "--document section has no effect"),
    ],
)
def test_refusals(glob, document, said):
    with pytest.raises(DanluError) as caught:
        # Before the first text of another glob is read.
        next(given_texts(["perl/d.jsonl", glob], MOST, document))
    assert said in str(caught.value)
    assert "corpus.source" not in str(caught.value)


def test_no_run_holds_text_out():
    assert run_of("perl") is None
    with pytest.raises(UsageError, match="--text"):
        next(held_out_texts(["perl"], MOST))
