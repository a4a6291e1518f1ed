"""How text is cut before BPE, and where a long text may be cut in two without changing its tokens.

Decides the two patterns, GPT-2's and Llama 3's, by name. Guarantees: a merge never crosses a cut; a text cut after a
line break between two visible characters gives the same tokens as the whole. Costs: one scan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Llama 3's pattern (that of cl100k with plain quantifiers): digits in groups of at most three."""

LONGEST_RUN = 512
"""In training, a run without a space (or of nothing else) is cut after so many characters: no token gets there."""

_SAFE_CUT = re.compile(r"(?<=\S\n)(?=\S)")
_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN}}}(?=\S)|\s{{{LONGEST_RUN}}}(?=\s)")


def make_pretokenizer(name: str) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of the recipe's `tokenizer.pretokenizer`: "gpt2" or "llama3"."""
    if name == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    split = pre_tokenizers.Split(Regex(LLAMA3), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def allows_cuts(description: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json (as JSON values) uses one of the two patterns as they are, so that cuts are safe."""
    known = []
    for name in ("gpt2", "llama3"):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = make_pretokenizer(name)
        known.append(json.loads(tokenizer.to_str())["pre_tokenizer"])
    return description.get("normalizer") is None and description.get("pre_tokenizer") in known


def cut_safely(text: str, characters: int) -> list[str]:
    """Pieces of a text of about `characters` each, cut only where both patterns cut anyway."""
    pieces, start = [], 0
    while len(text) - start > characters and (cut := _SAFE_CUT.search(text, start + characters)):
        pieces.append(text[start : cut.start()])
        start = cut.start()
    pieces.append(text[start:])
    return pieces


def training_pieces(text: str, characters: int) -> Iterator[str]:
    """A text in pieces of bounded size for the trainer, overlong runs cut: memory stays bounded on any text."""
    for piece in cut_safely(text, characters):
        start = 0
        for run in _LONG_RUN.finditer(piece):
            yield piece[start : run.end()]
            start = run.end()
        yield piece[start:]
