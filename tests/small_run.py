"""A small run on real text, prepared once: two domains, several epochs, four micro-batches a step."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import pytest

from danlu.plan.plan import Plan, read_plan
from danlu.recipe import Recipe, parse
from danlu.workflow.run import hold, load_run, open_run
from danlu.workflow.stages import prepare

CODE = ("bisect", "heapq", "textwrap", "string", "shlex", "queue", "sched", "stat", "token", "types")


def write_texts(base: Path) -> None:
    """The texts of the small run: code/ from the standard library, prose/ from pydoc's topics."""
    for folder in ("code", "prose"):
        (base / folder).mkdir()
    library = Path(sysconfig.get_paths()["stdlib"])
    for name in CODE:
        text = (library / f"{name}.py").read_text(encoding="utf-8")
        (base / "code" / f"{name}.py").write_text(text[:1100], encoding="utf-8")
    for name in sorted(topics)[:24]:
        (base / "prose" / f"{name}.txt").write_text(topics[name][:600], encoding="utf-8")


def tables(**changes: Any) -> dict[str, Any]:
    """The recipe of the small run; `section__key=value` changes one key, `section={...}` several."""
    recipe: dict[str, Any] = {
        "name": "small",
        "seed": 7,
        "corpus": {
            "validation_share": 0.2,
            "source": [
                {"domain": "code", "paths": ["code/*.py"], "format": "txt"},
                {"domain": "prose", "paths": ["prose/*.txt"]},
            ],
        },
        "tokenizer": {"vocab_size": 320},
        "mixture": {"weights": {"code": 0.7, "prose": 0.3}, "max_epochs": 8.0},
        "model": {"width": 32, "layers": 2, "heads": 2, "kv_heads": 1, "ffn_width": 64},
        "train": {"steps": 40, "sequence_length": 64, "batch_tokens": 512, "micro_batch": 2},
        "optimizer": {"kind": "muon", "learning_rate": 0.01, "matrix_learning_rate": 0.02},
        "checkpoint": {"every_steps": 10, "keep_last": 2},
        "evaluate": {"every_steps": 0},
    }
    for key, value in changes.items():
        section, _, name = key.partition("__")
        recipe.setdefault(section, {}).update({name: value} if name else value)
    return recipe


def recipe_and_plan(directory: Path) -> tuple[Recipe, Plan]:
    return load_run(directory).recipe, read_plan(directory / "plan.json")


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run whose text, tokenizer, shards and plan are made, and no more."""
    base = tmp_path_factory.mktemp("small")
    write_texts(base)
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
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent)}
        return subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode

    return start
