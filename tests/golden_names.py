"""The golden files for tokenizers, packing and mixtures as named values, and the marks of who shows which."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent / "golden"
_FILES = {"tokenizer": "tokenizer_golden.json", "packing": "packing.json", "mixture": "mixture.json"}
_WHOLE = ("*/byte_level_alphabet", "*/freq", "*/bfd_stats", "*/concat_trunc", "mixture/do*", "mixture/odm")
_WHOLE_IN = ("*/byte_level_bpe/?*", "*/unigram_em_step/?*", "*/bpe_toy/?*", "*/sentencepiece/?*/?*")
"""Dictionaries that are one value."""


def _named(value: Any, name: str) -> dict[str, Any]:
    whole = any(fnmatchcase(name, pattern) for pattern in (*_WHOLE, *_WHOLE_IN))
    if whole or not isinstance(value, dict):
        return {name: value}
    return {
        key: leaf for part, inner in value.items() for key, leaf in _named(inner, f"{name}/{part}").items()
    }


GOLDEN = {
    name: value
    for title, file in _FILES.items()
    for name, value in _named(json.loads((_FOLDER / file).read_text(encoding="utf-8")), title).items()
}
SHOWN: list[str] = []

INPUTS = [
    "*/freq",
    "*/byte_level_bpe/corpus",
    "*/byte_level_bpe/repeat",
    "*/byte_level_bpe/vocab_size",
    "*/sentencepiece/*/kw",
    "*/unigram_em_step/init_logprob",
    "packing/*/lengths",
    "packing/*/L",
    "mixture/sizes",
]
"""What the other values were made from; the tests read them."""

NOT_OURS = {
    "packing/lognormal/bfd": "not written out for 200 documents; its figures are shown",
    "tokenizer/sentencepiece/seed usage line*": "a remark, shown in test_seed_claims.py",
    "mixture/resampling_by_document/*": "a rule that danlu does not have, shown in test_seed_claims.py",
    "mixture/doremi": "danlu does not search for weights; the formula is shown in test_seed_claims.py",
    "mixture/doremi_domain_excess": "danlu does not search for weights: no proxy runs, no excess loss",
    "mixture/doge_step": "danlu does not search for weights: no gradients by domain",
    "mixture/odm": "danlu does not search for weights while it trains: a run's order is fixed beforehand",
}
"""Names, and why danlu has no such value."""


def matching(*patterns: str) -> list[str]:
    return [name for name in GOLDEN if any(fnmatchcase(name, pattern) for pattern in patterns)]


def shows(*patterns: str) -> pytest.MarkDecorator:
    """Runs a test for every value whose name matches, but for those that have a reason not to."""
    found = [name for name in matching(*patterns) if name not in matching(*NOT_OURS)]
    SHOWN.extend(found)
    return pytest.mark.parametrize("name", found)
