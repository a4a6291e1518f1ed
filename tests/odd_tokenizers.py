"""For each key of `[tokenizer]` another value, and the settings under which it changes the file that is trained."""

from __future__ import annotations

from typing import Any

# Every character of the small corpus fits, and something is learned beside them.
_BPE = {"tokenizer.kind": "bpe", "tokenizer.vocab_size": 420}
_SENTENCEPIECE = {"tokenizer.kind": "sentencepiece_bpe", "tokenizer.vocab_size": 900}
_WORDPIECE = {"tokenizer.kind": "wordpiece", "tokenizer.vocab_size": 300}

TOKENIZERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "kind": ("char", {}),
    "vocab_size": (300, {}),
    "pretokenizer": ("gpt2", {}),
    "score": ("likelihood", _WORDPIECE),
    "character_coverage": (0.98, _BPE),
    "byte_fallback": (False, _BPE),
    "max_token_length": (3, {}),
    "split_digits": (False, _SENTENCEPIECE),
    "dummy_prefix": (False, _SENTENCEPIECE),
    "special_ids": ({"pad": 0, "bos": 1, "eos": 2}, {}),
    "sample_bytes": (2000, {}),
}
