"""The tracked files of a repository at a commit."""

import os
import subprocess

import pytest

from danlu.errors import InputError, MissingError
from danlu.extract import git
from danlu.extract.git import head_of, is_repository, list_files, list_submodules, read_contents


def run(folder, *words):
    names = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": "/dev/null"}
    return subprocess.run(
        ["git", *words], cwd=folder, env=environment, check=True, capture_output=True
    ).stdout


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    (folder / "sub").mkdir()
    (folder / "b.py").write_text("print()\n")
    (folder / "sub" / "ünd \n.txt").write_bytes(b"\x00binary")
    (folder / "empty").touch()
    (folder / "link").symlink_to("b.py")
    run(folder, "add", ".")
    run(folder, "commit", "-q", "-m", "first")
    (folder / "b.py").write_text("changed, not committed\n")
    (folder / "untracked.py").write_text("x")
    return folder


def test_the_commit_is_read_and_not_the_folder(repository):
    files = list_files(repository, head_of(repository))
    assert [(file.path, file.size) for file in files] == [("b.py", 8), ("empty", 0), ("sub/ünd \n.txt", 7)]
    assert list(read_contents(repository, files)) == [b"print()\n", b"", b"\x00binary"]


def test_a_bare_repository_holds_the_same(repository, tmp_path):
    bare = tmp_path / "bare.git"
    run(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    assert is_repository(bare)
    assert list_files(bare, head_of(bare)) == list_files(repository, head_of(repository))


def test_submodules_are_listed_apart(repository, tmp_path):
    allowed = ("-c", "protocol.file.allow=always")
    run(repository, *allowed, "submodule", "add", "-q", str(repository), "other")
    run(repository, "commit", "-q", "-m", "second")
    commit = head_of(repository)
    assert list_submodules(repository, commit) == ["other"]
    assert "other" not in [file.path for file in list_files(repository, commit)]


def test_the_environment_leads_to_no_other_repository(repository, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    run(other, "init", "-q")
    expected = head_of(repository)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert head_of(repository) == expected


def test_a_folder_that_is_none(repository, tmp_path):
    assert is_repository(repository)
    assert not is_repository(repository / "sub")
    assert not is_repository(repository / "b.py")


def test_a_repository_without_a_commit_is_named(tmp_path):
    run(tmp_path, "init", "-q")
    with pytest.raises(InputError, match=rf"{tmp_path}: git cannot read the repository \(fatal"):
        head_of(tmp_path)


def test_a_missing_object_is_named(repository):
    files = list_files(repository, head_of(repository))
    missing = [files[0]._replace(object="0" * 40)]
    with pytest.raises(InputError, match=r"no content of b\.py"):
        list(read_contents(repository, missing))


def test_missing_git_is_named(repository, monkeypatch):
    monkeypatch.setattr(git, "_command", lambda path, *words: ["no-such-git", *words])
    with pytest.raises(MissingError, match="install git"):
        head_of(repository)
