"""Every source file has its test at the mirrored path: src/danlu/read/files.py, tests/read/test_files.py."""

from __future__ import annotations

from pathlib import Path

import pytest

import house

WITHOUT: dict[str, str] = {
    "__main__.py": "one line; tests/test_cli_help.py starts it",
}
"""Source files without a test of their own, and why. cli/ is exempt: its commands are tried in test_cli_help."""


@pytest.mark.parametrize("path", house.FILES, ids=house.name)
def test_has_a_mirror(path: Path) -> None:
    if path.name == "__init__.py" or path.parent.name == "cli" or house.name(path) in WITHOUT:
        return
    mirror = house.ROOT / "tests" / path.relative_to(house.SOURCE).with_name(f"test_{path.name}")
    assert mirror.is_file(), f"write {mirror.relative_to(house.ROOT)}, or list the reason here"
    assert "def test_" in mirror.read_text(encoding="utf-8")


def test_exceptions_exist() -> None:
    assert all((house.SOURCE / name).is_file() for name in WITHOUT)
