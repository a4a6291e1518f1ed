"""How text is cut before tokens are learned, and where a long text may be cut in two without changing its tokens.

Decides the patterns, by name. Guarantees: a token never crosses a cut; a text cut after a line break between two
visible characters gives the same tokens as the whole, under each of the patterns. Costs: one scan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from danlu.tokenizer.settings import Pretokenizer

_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}{_TAIL}"
"""Llama 3's pattern (that of cl100k with plain quantifiers): digits in groups of at most three."""

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_CJK_SIGNS = "\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_TEX_SIGNS = r"\\{}$&^_~#%"
PATTERNS: dict[Pretokenizer, str] = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": LLAMA3,
    "digits": rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{_TAIL}",
    # Neither punctuation nor a Latin word is glued to a run of Chinese or of kana.
    "cjk": rf"{_SHORT}|\p{{Han}}+|[\p{{Hiragana}}\p{{Katakana}}ー]+|[{_CJK_SIGNS}]"
    rf"|[^\r\n\p{{L}}\p{{N}}{_CJK_SIGNS}]?[^\P{{L}}{_CJK}]+|\p{{N}}{{1,3}}{_TAIL}",
    # What stands before the first word of a line is one token, however deep.
    "code": rf"(?<=[\r\n])[ \t]+(?=\S)|{LLAMA3}",
    "latex": rf"\\(?:[A-Za-z@]+\*?|[^A-Za-z@\r\n])?|[{_TEX_SIGNS}]|{_SHORT}"
    rf"|[^\r\n\p{{L}}\p{{N}}{_TEX_SIGNS}]?\p{{L}}+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{N}}{_TEX_SIGNS}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
"""What each pre-token looks like; gpt2 is Radford et al. 2019, llama3 Dubey et al. 2024."""

LONGEST_RUN = 512
"""In training, a run without a space (or of nothing else) is cut after so many characters: no token gets there."""

_SAFE_CUT = re.compile(r"(?<=\S\n)(?=\S)")
_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN}}}(?=\S)|\s{{{LONGEST_RUN}}}(?=\s)")


def make_pretokenizer(name: Pretokenizer, byte_level: bool = True) -> pre_tokenizers.PreTokenizer:
    """The pre-tokenizer of the recipe's `tokenizer.pretokenizer`, into bytes or into characters."""
    if name == "gpt2" and byte_level:
        return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    split = pre_tokenizers.Split(Regex(PATTERNS[name]), "isolated")
    if not byte_level:
        return split
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def make_word_splitter() -> pre_tokenizers.PreTokenizer:
    """WordPiece's words: spaces go, punctuation and each Chinese character stand alone (Devlin et al. 2019)."""
    return pre_tokenizers.Sequence(
        [pre_tokenizers.BertPreTokenizer(), pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated")]
    )


def allows_cuts(description: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json (as JSON values) uses one of the patterns as it is, so that cuts are safe."""
    # An added token is looked for before the pattern: it may lie on a cut, or take white space in front of it.
    added = (token for token in description.get("added_tokens") or () if not token["special"])
    return (
        description.get("normalizer") is None
        and description.get("pre_tokenizer") in _known()
        and not any("\n" in token["content"] or token["lstrip"] for token in added)
    )


@cache
def _known() -> tuple[Any, ...]:
    known = []
    for name in get_args(Pretokenizer):
        for byte_level in (True, False):
            tokenizer = Tokenizer(models.BPE())
            tokenizer.pre_tokenizer = make_pretokenizer(name, byte_level)
            known.append(json.loads(tokenizer.to_str())["pre_tokenizer"])
    return tuple(known)


def cut_safely(text: str, characters: int) -> list[str]:
    """Pieces of a text of about `characters` each, cut only where every pattern cuts anyway."""
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
