"""Which files a source names."""

import subprocess
import sys

import fsspec
import pytest

from danlu.errors import InputError, MissingError, Stopped
from danlu.read.find import find_files, whole_pieces
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
    ],
)
def test_nothing_found_names_the_glob_and_what_to_do(folder, pattern, message):
    with pytest.raises(InputError, match=message):
        names(folder, pattern)


@pytest.fixture
def remote():
    files = fsspec.filesystem("memory")
    files.pipe({f"/bucket/{name}": b"x" for name in ("b.txt", "a.txt", "deep/c.txt", "d.md", "e?f.txt")})
    yield files
    files.rm("/bucket", recursive=True)


def test_urls_have_globs_too(folder, remote):
    url = "memory:///bucket"
    assert names(folder, f"{url}/*.txt") == [f"{url}/a.txt", f"{url}/b.txt", f"{url}/e?f.txt"]
    assert names(folder, f"{url}/**/c.txt", "b.txt", f"{url}/d.md") == [
        "b.txt",
        f"{url}/d.md",
        f"{url}/deep/c.txt",
    ]
    assert names(folder, f"{url}/e?f.txt", f"{url}/e?f.txt") == [f"{url}/e?f.txt"]
    assert names(folder, f"file://{folder}/b.txt") == [f"file://{folder}/b.txt"]


def test_a_remote_file_has_a_mark_that_changes_with_it(folder, remote):
    source = Source(domain="d", paths=["memory://bucket/a.txt"])
    before = find_files(source, folder)
    assert find_files(source, folder) == before
    remote.pipe({"/bucket/a.txt": b"y"})
    assert find_files(source, folder)[0].mark != before[0].mark


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("memory://bucket/none.txt", "memory://bucket/none.txt does not exist"),
        ("memory://bucket/*.rst", r"no file matches 'memory://bucket/\*.rst'"),
        ("nonsense://a/b", "nonsense://a/b cannot be opened"),
    ],
)
def test_a_url_without_files_is_named(folder, remote, pattern, message):
    with pytest.raises(InputError, match=message):
        names(folder, pattern)


def test_a_missing_package_for_a_url_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MissingError, match=r"s3://bucket/x\.txt needs a package .*: pip install s3fs"):
        names(folder, "s3://bucket/x.txt")


def test_a_listing_that_fails_is_named(folder, remote, monkeypatch):
    def fail(*_, **__):
        raise PermissionError("access denied")

    monkeypatch.setattr(type(remote), "glob", fail)
    with pytest.raises(InputError, match=r"memory://bucket/\* cannot be listed: access denied"):
        names(folder, "memory://bucket/*")


@pytest.fixture
def repository(folder):
    place = folder / "project"
    place.mkdir()
    (place / "a.py").write_text("x = 1")
    git = ["git", "-C", str(place), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    return place


@pytest.mark.parametrize("pattern", ["project", "p*", "project/", "**/*"])
def test_a_repository_is_one_piece_at_its_commit(folder, repository, pattern):
    source = Source(domain="d", paths=[pattern], format="code")
    pieces = {piece.name: piece for piece in whole_pieces(source, folder)}
    assert "project/a.py" not in pieces
    assert (len(pieces["project"].revision), pieces["project"].size) == (40, 5)
    assert find_files(source, folder)[-1].mark == pieces["project"].revision


def test_a_folder_is_no_repository_for_texts(folder, repository):
    with pytest.raises(InputError, match="project is a folder; write a glob"):
        names(folder, "project")
    with pytest.raises(
        InputError, match=r"deep is a folder and no git repository; write a glob .*'deep/../.'"
    ):
        find_files(Source(domain="d", paths=["deep"], format="code"), folder)
    assert names(folder, "project/*.py") == ["project/a.py"]


def test_texts_of_python_are_pieces(folder):
    (piece,) = whole_pieces(Source(domain="d", paths=["python:stdlib"]), folder)
    assert (piece.path, piece.start, piece.end) == ("python:stdlib", 0, None)


def listed(monkeypatch, remote, **info):
    monkeypatch.setattr(type(remote), "info", lambda *_: {"name": "/bucket/a.txt", "type": "file", **info})
    (piece,) = whole_pieces(Source(domain="d", paths=["memory://bucket/a.txt"]), None)
    return piece.size, piece.can_cut


def test_a_file_of_unknown_size_counts_as_a_guess(remote, monkeypatch):
    assert listed(monkeypatch, remote, size=None) == (64_000_000, False)
    assert listed(monkeypatch, remote) == (64_000_000, False)
    assert listed(monkeypatch, remote, size=9, partial=False) == (9, False)
    assert listed(monkeypatch, remote, size=0, partial=True) == (0, True)


def test_a_listing_that_is_stopped_is_stopped(folder, remote, monkeypatch):
    def stop(*_, **__):
        raise Stopped("asked to stop")

    monkeypatch.setattr(type(remote), "glob", stop)
    with pytest.raises(Stopped):
        names(folder, "memory://bucket/*")
