"""The recipe of a small run on real text, and how a test reads the run."""

from pathlib import Path
from typing import Any

from danlu.plan.plan import Plan, read_plan
from danlu.recipe import Recipe
from danlu.workflow.run import load_run

CODE = ("bisect", "heapq", "textwrap", "string", "shlex", "queue", "sched", "stat", "token", "types")


def tables(**changes: Any) -> dict[str, Any]:
    """The recipe of the small run; `section__key=value` changes one key."""
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
        "evaluate": {"every_steps": 0, "max_tokens": 512},
    }
    for key, value in changes.items():
        section, name = key.split("__")
        recipe[section][name] = value
    return recipe


def recipe_and_plan(directory: Path) -> tuple[Recipe, Plan]:
    return load_run(directory).recipe, read_plan(directory / "plan.json")
