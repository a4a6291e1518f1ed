"""Published mixtures by name: the shares that a paper gives, of the domains as it names them.

Decides: only figures that the named paper prints (presets.toml, each with its place); a mixture that follows another
in training is a preset of its own, to be named in a stage. Costs: one small file.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Preset:
    """Shares of the tokens (any unit; 0: not read), and where they are printed."""

    source: str
    weights: dict[str, float]


@lru_cache(maxsize=1)
def read_presets() -> dict[str, Preset]:
    """All that are known, by name."""
    data = importlib.resources.files("danlu.mixture").joinpath("presets.toml").read_text(encoding="utf-8")
    return {name: Preset(**row) for name, row in tomllib.loads(data).items()}
