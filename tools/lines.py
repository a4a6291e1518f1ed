"""Prints the lines of src by folder and their change against a commit: growth must be argued.

Counts every .py file that git tracks or would track. The base is the first argument, else the commit before HEAD.
Without git, or without an earlier commit, the change is left out.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = "src/danlu"


def git(*arguments: str) -> str | None:
    """The output of a git command, None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def folder(path: str) -> str:
    """ "src/danlu/read/files.py" -> "read"; a root module -> "(root)"."""
    parts = Path(path).relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "(root)"


def lines_now() -> Counter[str]:
    """Lines by folder in the working tree."""
    lines: Counter[str] = Counter()
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        lines[folder(str(path.relative_to(ROOT)))] += len(path.read_bytes().splitlines())
    return lines


def lines_at(commit: str) -> Counter[str] | None:
    """Lines by folder at a commit, None where there is no such commit."""
    # `git grep -c ""` counts the lines of every file of a commit in one call.
    listing = git("grep", "-c", "", commit, "--", f"{SOURCE}/*.py")
    if listing is None:
        return None
    lines: Counter[str] = Counter()
    for entry in listing.splitlines():
        _, path, count = entry.rsplit(":", 2)
        lines[folder(path)] += int(count)
    return lines


def main() -> None:
    """Prints the table."""
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD~1"
    now, before = lines_now(), lines_at(base)
    rows = [(name, now[name], before[name] if before else 0) for name in sorted({*now, *(before or ())})]
    rows.append(("total", now.total(), before.total() if before else 0))
    print(f"lines of {SOURCE}" + (f", change against {base}" if before else ""))
    for name, count, old in rows:
        print(f"  {name:<12}{count:>7,}" + (f"{count - old:>+8,}" if before else ""))


if __name__ == "__main__":
    main()
