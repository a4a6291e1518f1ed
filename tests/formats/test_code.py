"""Source code: files of a tree, files of a repository."""

import io
import subprocess

import pytest

from danlu.formats.code import language_of, read_code, read_repository
from danlu.formats.raw import Damage, Piece


def read(data, name="a.py", limit=1000):
    return list(read_code(io.BytesIO(data).read, name, limit))


def test_a_file_is_a_document_with_its_language():
    (raw,) = read(b"\xef\xbb\xbfprint('\xc3\xbc')\r\n", "src/a.PY")
    assert (raw.text, raw.group, raw.metadata) == ("print('ü')\r\n", "src/a.PY", {"code_language": "Python"})
    assert read(b"x", "notes.unknown")[0].metadata == {}
    assert read(b" \n") == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x7fELF\0\0", "binary"),
        ("今天天气很好，我们去公园。".encode("gb18030"), "undecodable"),
        (b"x" * 1001, "too_long"),
    ],
)
def test_what_is_no_text_is_a_damage_and_stops_nothing(data, reason):
    (damage,) = read(data)
    assert isinstance(damage, Damage)
    assert damage.reason == reason


def test_a_stray_byte_is_replaced():
    (raw,) = read(b"# \xc3\xbcber \xc3\xbc \xff\n")
    assert (raw.replaced, raw.text) == (1, "# über ü \ufffd\n")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("x/Makefile", "Makefile"),
        ("CMakeLists.txt", "CMake"),
        ("a.txt", "Text"),
        ("a.rs.gz", "Rust"),
        ("README", ""),
        ("a.tar", ""),
    ],
)
def test_languages_by_name(name, language):
    assert language_of(name) == language


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for name, data in {
        "a.c": b"int x;",
        "b.bin": b"\0",
        "c.py": b"x" * 2000,
        "d.rs": "// ä".encode("latin-1"),
    }.items():
        (folder / name).write_bytes(data)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return folder, commit.stdout.strip()


def test_a_repository_in_parts_is_the_repository(repository):
    folder, commit = repository

    def part(start, end, encoding="utf-8"):
        return list(
            read_repository(folder, Piece("project", "project", start, end, 9, commit), encoding, 1000)
        )

    whole = part(0, None)
    assert [item.source for item in whole] == ["project/a.c", "project/b.bin", "project/c.py", "project/d.rs"]
    assert [getattr(item, "reason", item) for item in whole[1:3]] == ["binary", "too_long"]
    assert part(0, 1) + part(1, 3) + part(3, 4) == whole
    assert part(3, 4, "latin-1")[0].text == "// ä"
