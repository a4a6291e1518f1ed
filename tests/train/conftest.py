"""A small run on real text, prepared once: two domains, several epochs, four micro-batches a step."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics

import pytest

from danlu.recipe import parse
from danlu.workflow.run import hold, open_run
from danlu.workflow.stages import prepare
from small_run import CODE, tables


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run whose text, tokenizer, shards and plan are made, and no more."""
    base = tmp_path_factory.mktemp("small")
    for folder in ("code", "prose"):
        (base / folder).mkdir()
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in CODE:
        text = (library / f"{name}.py").read_text(encoding="utf-8")
        (base / "code" / f"{name}.py").write_text(text[:1100], encoding="utf-8")
    for name in sorted(topics)[:24]:
        (base / "prose" / f"{name}.txt").write_text(topics[name][:600], encoding="utf-8")
    run = open_run(parse(tables()), base, base / "runs")
    with hold(run):
        prepare(run)
    return run.directory


@pytest.fixture
def small(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared run that a test may train in."""
    shutil.copytree(prepared, tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def python() -> Callable[[str], int]:
    """Runs a script in a process of its own and returns its exit code."""

    def start(script: str) -> int:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode

    return start
