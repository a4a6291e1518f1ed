"""What the project's own text must not hold: a machine's paths, its surroundings, notes to self, shapeless names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import house

FORBIDDEN = {
    r"\.\./shared|/work/|/root/|/home/\w|/Users/\w": "a path of one machine",
    r"\bissue #?\d|\bissues show\b|\bcontracts\.md\b": "the project's surroundings",
    r"\bhttps?://(?!127\.)\d+\.\d+\.\d+\.\d+": "a host of one machine",
}
IN_SOURCE = {
    r"\b(?:TODO|FIXME|XXX|HACK)\b": "a note to self: do it, or open a ticket",
    r"^\s*#\s*(?:-{4,}|={4,}|#{4,})": "a banner",
    r"\bprint\(.*# *debug": "a debugging print",
}
SHAPELESS = {"utils", "util", "common", "core", "helpers", "misc", "tools", "components", "protocols", "base"}
TEXT = {".py", ".md", ".toml", ".txt", ".css", ".js", ""}


def project_files() -> list[Path]:
    """Every text file that is part of the project."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=house.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:  # an unpacked archive
        folders = ("src", "tests", "tools", "benchmarks", "docs")
        return [
            path for folder in folders for path in (house.ROOT / folder).rglob("*") if path.suffix == ".py"
        ]
    files = [house.ROOT / line for line in listing.stdout.splitlines()]
    return [path for path in files if path.suffix in TEXT and path.is_file() and path != Path(__file__)]


def findings(paths: list[Path], patterns: dict[str, str]) -> list[str]:
    """ "file:line: what it is: the line" for every match."""
    found = []
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            found += [
                f"{path.relative_to(house.ROOT)}:{number}: {what}: {line.strip()[:80]}"
                for pattern, what in patterns.items()
                if re.search(pattern, line)
            ]
    return found


def test_the_project_speaks_of_itself_alone() -> None:
    found = findings(project_files(), FORBIDDEN)
    assert not found, "\n".join(found)


def test_source_holds_no_notes_to_self() -> None:
    found = findings(house.FILES, IN_SOURCE)
    assert not found, "\n".join(found)


def test_names_have_a_shape() -> None:
    named = [*house.FILES, *house.FOLDERS]
    assert not [str(path) for path in named if path.stem in SHAPELESS], "name it for the question it answers"


@pytest.mark.parametrize(
    "line",
    ["see ../shared/x", "open('/root/a')", "as issue 3 says", "http://10.0.0.1/x"],
    ids=lambda line: line[:8],
)
def test_the_patterns_see(line: str, tmp_path: Path) -> None:
    assert any(re.search(pattern, line) for pattern in FORBIDDEN)
