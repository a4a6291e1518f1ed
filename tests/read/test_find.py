"""Which files a source names."""

import pytest

from danlu.errors import InputError
from danlu.read.find import find_files
from danlu.read.settings import Source


@pytest.fixture
def folder(tmp_path):
    for name in ("b.txt", "a.txt", ".hidden.txt", "deep/er/c.txt", "deep/d.md", "odd[1].txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def names(folder, *paths):
    return [file.name for file in find_files(Source(domain="d", paths=list(paths)), folder)]


def test_globs_are_sorted_deduplicated_and_leave_out_hidden_files(folder):
    assert names(folder, "**/*.txt", "b.txt") == ["a.txt", "b.txt", "deep/er/c.txt", "odd[1].txt"]


def test_a_file_that_a_link_reaches_again_is_read_once(folder):
    (folder / "z.txt").symlink_to(folder / "a.txt")
    assert names(folder, "a.txt", "z.txt") == ["a.txt"]


def test_hidden_files_are_read_when_named(folder):
    assert names(folder, ".hidden.txt") == [".hidden.txt"]
    assert names(folder, ".*.txt") == [".hidden.txt"]


def test_a_name_with_wildcard_characters_is_taken_as_it_is_first(folder):
    assert names(folder, "odd[1].txt") == ["odd[1].txt"]


def test_absolute_globs_work_and_keep_names_relative_to_the_recipe(folder):
    assert names(folder, f"{folder}/deep/**/*") == ["deep/d.md", "deep/er/c.txt"]
    assert names(folder / "deep", f"{folder}/a.txt") == [f"{folder}/a.txt"]


def test_texts_of_python_are_not_files(folder):
    assert names(folder, "python:stdlib") == []


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("*.rst", r"no file matches '\*.rst' in /.*corpus.source.paths"),
        ("missing.txt", "missing.txt does not exist"),
        ("deep", r"is a folder; write a glob of its files, e.g. 'deep/\*\*/\*.txt'"),
        ("s3://bucket/x.txt", "only local files"),
    ],
)
def test_nothing_found_names_the_glob_and_what_to_do(folder, pattern, message):
    with pytest.raises(InputError, match=message):
        names(folder, pattern)
