"""What is known of LaTeX's commands and environments: vocabulary.toml, read once.

Decides: which names keep their meaning whatever a paper or a style file defines them as, since the text is built on
them. Costs: 20 ms, once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("vocabulary.toml")
METADATA = frozenset(("title", "author", "date", "keywords", "abstract"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tables of vocabulary.toml, which explains them."""

    headings: Mapping[str, int]
    groups: Mapping[str, frozenset[str]]
    theorems: Mapping[str, str]
    environment_arguments: Mapping[str, str]
    text: Mapping[str, str]
    accents: Mapping[str, str]
    arguments: Mapping[str, str]

    fixed: frozenset[str]
    """Commands that no source defines anew: the structure of the text hangs on them."""
    known: frozenset[str]
    """All commands with a meaning here, which the internals of a style file do not define anew."""


@cache
def load_vocabulary() -> Vocabulary:
    """The vocabulary, the same object each time."""
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    groups = {name: frozenset(names) for name, names in tables.pop("groups").items()}
    for name in ("environment_arguments", "arguments"):
        tables[name] = {key: spec.replace(" ", "") for key, spec in tables[name].items()}
    held = (tables["headings"], groups["run_in"], groups["citations"], groups["references"])
    fixed = groups["fixed"].union(METADATA, *held)
    known = fixed.union(tables["text"], tables["accents"], tables["arguments"], groups["dimensions"])
    return Vocabulary(groups=groups, fixed=fixed, known=known, **tables)
