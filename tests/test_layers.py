"""Who may import whom, as data. Imports inside functions count; a folder that is not in the table fails."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

import pytest

import house

ROOT_MODULES = {"errors", "config", "expressions", "records", "files", "rng", "log", "toml"}
"""Importable by all; import only one another."""

ALWAYS = {"words", "jobs", "chart"}
"""Folders importable by all; import only root modules."""

TRAIN = {
    *(
        "tokenizer",
        "shards",
        "mixture",
        "tokens",
        "objective",
        "attention",
        "model",
        "precision",
        "optim",
        "parallel",
        "checkpoint",
    ),
    *("recovery", "monitor", "plan", "generate", "evaluate"),
}
EVERYTHING = {"*"}
MAY_IMPORT: dict[str, set[str]] = {
    **{folder: set() for folder in ALWAYS},
    **{folder: set() for folder in ("extract", "quality", "objective")},
    **{folder: {"extract"} for folder in ("rules", "dedup", "pii", "scorers")},
    **{folder: {"extract"} for folder in ("dumps", "publications", "latex")},
    "formats": {"extract", "dumps", "publications", "latex"},
    "read": {"extract", "formats"},
    "lm": set(),
    "labels": {"account", "read"},
    **{folder: set() for folder in ("attention", "precision", "optim", "monitor")},
    "tokenizer": {"read"},
    "account": {"read"},
    "corpus": {
        *("account", "formats", "read", "tokenizer"),
        *("quality", "rules", "dedup", "lm", "scorers", "pii"),
    },
    "shards": {"read", "tokenizer"},
    "mixture": set(),
    "tokens": {"account", "shards", "mixture", "tokenizer", "objective"},
    "model": {"attention"},
    "parallel": {"model", "attention", "precision"},
    "plan": {"model/shape", "model/count", "optim/schedule", "mixture"},
    "checkpoint": {"parallel"},
    "generate": {"model", "tokenizer", "objective", "checkpoint"},
    "evaluate": {"generate", "model", "tokenizer", "shards", "tokens", "objective", "checkpoint"},
    "recovery": {"checkpoint", "monitor"},
    "export": {"checkpoint", "model", "tokenizer"},
    "report": {"account", "evaluate", "monitor", "plan", "tokenizer"},
    "train": TRAIN,
    "study": {"train", *TRAIN},
    "dashboard": {"shards", "tokens", "tokenizer", "monitor", "plan"},
    "workflow": EVERYTHING,
    "cli": EVERYTHING,
}
NEVER = {"workflow": {"dashboard", "cli"}}
"""What a folder that may import everything may not."""

RECIPE_READERS = {"train", "study", "workflow", "dashboard", "cli"}

NO_TORCH = {
    *("dumps", "publications", "latex", "formats", "lm", "pii", "labels"),
    *(
        "extract",
        "read",
        "quality",
        "rules",
        "dedup",
        "account",
        "corpus",
        "tokenizer",
        "shards",
        "mixture",
        "tokens",
        "objective",
        "plan",
        "report",
        "chart",
        "words",
        "jobs",
    ),
    *ROOT_MODULES,
    *("recipe", "model/shape", "model/count", "optim/schedule"),
}
"""Folders and modules that never load torch, not even through what they import."""

BANNED = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
"""They run code when they read a file."""

EXTRAS = {
    "transformers": "hf",
    **dict.fromkeys(("resiliparse", "fastwarc", "trafilatura", "fasttext"), "corpus"),
    **dict.fromkeys(("mwparserfromhell", "pypdfium2", "kenlm"), "corpus"),
    "ray": "cluster",
    **dict.fromkeys(("sentencepiece", "fastokens"), "tokenizers"),
}
"""Third-party packages outside the core, imported where they are used, and the extra that brings them."""

PROVIDED_BY = {"typer": {"typer", "click"}}
"""Core packages that bring an import of another name."""


def owner(module: str) -> str:
    """The folder of a module, or the root module itself."""
    return module.partition("/")[0]


def refusal(importer: str, imported: str) -> str | None:
    """Why one module may not import another; None where it may."""
    source, target = owner(importer), owner(imported)
    if imported in ROOT_MODULES:
        return None
    if importer in ROOT_MODULES:
        return "root modules import only one another"
    if imported.endswith("/settings"):
        return None
    if importer.endswith("/settings"):
        return "a settings.py imports only root modules and other settings.py"
    if importer == "recipe":
        return "recipe.py composes settings.py only"
    if imported == "recipe":
        return (
            None
            if source in RECIPE_READERS
            else "only train, study, workflow, dashboard and cli read the recipe"
        )
    if source == target or importer == "__main__" or target in ALWAYS:
        return None
    allowed = MAY_IMPORT[source]
    if target in NEVER.get(source, ()) or not ({target, imported, "*"} & allowed):
        return f"{source} may import {', '.join(sorted(allowed)) or 'no other folder'}"
    return None


def test_every_folder_is_in_the_table() -> None:
    assert {folder.name for folder in house.FOLDERS} <= set(MAY_IMPORT)
    assert all(folder.parent == house.SOURCE for folder in house.FOLDERS), "no folder inside a folder"


@pytest.mark.parametrize("path", house.FILES, ids=house.name)
def test_imports_follow_the_table(path: house.Path) -> None:
    wrong = []
    for line, dotted in house.imports(path):
        imported = house.own_module(dotted)
        reason = imported and refusal(house.module(path), imported)
        if reason:
            wrong.append(f"{house.name(path)}:{line} imports {imported}: {reason}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("shards/build", "read/store", True),
        ("tokens/order", "model/shape", False),
        ("tokens/order", "model/settings", True),
        ("plan/memory", "model/count", True),
        ("plan/memory", "model/network", False),
        ("quality/length", "corpus/build", False),
        ("model/loss", "recipe", False),
        ("train/loop", "recipe", True),
        ("workflow/run", "cli/main", False),
        ("workflow/run", "export/huggingface", True),
        ("config", "read/settings", False),
        ("read/settings", "read/files", False),
        ("chart/line", "monitor/history", False),
        ("recovery/replay", "checkpoint/load", True),
    ],
)
def test_the_table_says(importer: str, imported: str, allowed: bool) -> None:
    assert (refusal(importer, imported) is None) is allowed


def chain_to_torch(module: str, seen: set[str]) -> list[str]:
    """The imports that lead from a module to torch, [] where none does."""
    path = house.SOURCE / f"{module}.py"
    for _, dotted in house.imports(path):
        if dotted.split(".")[0] in ("torch", "transformers"):
            return [module, dotted]
        imported = house.own_module(dotted)
        if imported and imported not in seen:
            seen.add(imported)
            chain = chain_to_torch(imported, seen)
            if chain:
                return [module, *chain]
    return []


@pytest.mark.parametrize("path", house.FILES, ids=house.name)
def test_torch_stays_out(path: house.Path) -> None:
    module = house.module(path)
    if owner(module) in NO_TORCH or module in NO_TORCH or path.name == "settings.py":
        assert not chain_to_torch(module, {module})


def test_third_party_imports_are_declared() -> None:
    project = tomllib.loads((house.ROOT / "pyproject.toml").read_text())["project"]
    core = {re.split(r"[<>=!~\[ ]", item)[0] for item in project["dependencies"]}
    core = {name for package in core for name in PROVIDED_BY.get(package, {package})}
    wrong = []
    for path in house.FILES:
        for line, dotted in house.imports(path):
            package = dotted.split(".")[0]
            if package in BANNED:
                wrong.append(f"{house.name(path)}:{line}: {package} is banned: it runs code from files")
            elif package not in {*core, *EXTRAS, *sys.stdlib_module_names, "danlu"}:
                wrong.append(f"{house.name(path)}:{line}: {package} is not a dependency in pyproject.toml")
    assert not wrong, "\n".join(wrong)


def test_nothing_loads_pickles_or_runs_text() -> None:
    wrong = []
    for path in house.FILES:
        for node in ast.walk(house.tree(path)):
            if not isinstance(node, ast.Call):
                continue
            call = ast.unparse(node.func)
            shell = any(word.arg == "shell" for word in node.keywords)
            if call in ("torch.load", "eval", "exec", "os.system", "os.popen", "__import__") or shell:
                wrong.append(f"{house.name(path)}:{node.lineno}: {call}")
    assert not wrong, "\n".join(wrong)
