"""Continues a prompt, token by token.

Decides: softmax sampling at a temperature; 0 takes the likeliest. Tokens that are never a training target (begin of
text, padding) are never drawn; end of text stops. Guarantees: draw n is a function of (seed, n) alone, so the same
logits give the same text on every machine; a piece that is streamed is whole characters, never half a UTF-8 sequence.
Costs: one call of `next_logits` a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from danlu.errors import DivergedError
from danlu.rng import generator

_REPLACEMENT = "�"
_LONGEST_HELD_BACK = 3
"""A UTF-8 character that lacks its end decodes to at most three replacement characters."""


class Vocabulary(Protocol):
    """What generation needs of a tokenizer; `danlu.tokenizer.codec.Codec` is one."""

    @property
    def bos_id(self) -> int:
        """What every text begins with."""

    @property
    def eos_id(self) -> int:
        """What ends a text; drawing it stops."""

    @property
    def pad_id(self) -> int:
        """Padding, which is never drawn."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; bytes that are no UTF-8 become U+FFFD."""


def generate(
    next_logits: Callable[[list[int]], Any],
    codec: Vocabulary,
    prompt: str,
    tokens: int,
    temperature: float = 0.8,
    seed: int = 1,
) -> str:
    """The continuation of a prompt, without the prompt: at most `tokens` tokens, fewer if the text ends."""
    return "".join(stream(next_logits, codec, prompt, tokens, temperature, seed))


def stream(
    next_logits: Callable[[list[int]], Any],
    codec: Vocabulary,
    prompt: str,
    tokens: int,
    temperature: float = 0.8,
    seed: int = 1,
) -> Iterator[str]:
    """The same continuation in pieces, each shown as soon as its characters are whole.

    `next_logits(ids)` gives the logits (V,) of the token after `ids`, which begin with BOS.
    """
    ids = [codec.bos_id, *codec.encode(prompt)]
    never = [number for number in {codec.bos_id, codec.pad_id} if number != codec.eos_id]
    drawn: list[int] = []
    shown = 0
    while len(drawn) < tokens:
        logits = np.asarray(next_logits(ids), dtype=np.float64).copy()
        logits[never] = -np.inf
        token = draw(logits, temperature, seed, len(drawn))
        if token == codec.eos_id:
            break
        ids.append(token)
        drawn.append(token)
        text = codec.decode(drawn)
        ready = _whole(text)
        if ready > shown:
            yield text[shown:ready]
            shown = ready
    rest = codec.decode(drawn)[shown:]
    if rest:
        yield rest


def draw(logits: npt.NDArray[np.float64], temperature: float, seed: int, position: int) -> int:
    """One token of softmax(logits / temperature), by inverse CDF. -inf excludes a token; NaN and +inf are an error."""
    if np.isnan(logits).any() or np.isposinf(logits).any() or np.isneginf(logits).all():
        raise DivergedError(f"the network gave logits that are not finite at token {position} of the text")
    if temperature <= 0.0:
        return int(np.argmax(logits))
    scaled = logits / temperature
    cumulative = np.cumsum(np.exp(scaled - scaled.max()))
    threshold = generator(seed, "generate", position).random() * cumulative[-1]
    return int(np.searchsorted(cumulative, threshold, side="right"))


def _whole(text: str) -> int:
    """How many characters of decoded text can no longer change when more tokens follow."""
    held_back = 0
    while held_back < min(_LONGEST_HELD_BACK, len(text)) and text[-1 - held_back] == _REPLACEMENT:
        held_back += 1
    return len(text) - held_back
