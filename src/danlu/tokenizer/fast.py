"""Encodes with the package `fastokens`, where it is installed and gives the ids that `tokenizers` gives.

Decides: texts that are easy to get wrong and the first megabyte of the user's own are encoded both ways; a difference,
or a file that the package cannot read, leaves it unused and is said. Afterwards one text of every batch is encoded both
ways; a difference there is an error, since it may have come before. Costs: for BPE with pre-tokens 15 to 110 MB
of text a second and core instead of 2; other kinds are not sped up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from danlu.errors import MismatchError
from danlu.log import say

Ids = npt.NDArray[np.uint32]
Reference = Callable[[Sequence[str]], list[list[int]]]
"""Texts to their ids, by `tokenizers`."""

CHECKED_BYTES = 1_000_000
_RECHECKED_CHARACTERS = 20_000


class FastEncoder:
    """The package with one tokenizer.json, once it was found to agree; build with `make`."""

    def __init__(self, package: Any, reference: Reference) -> None:
        self._package, self._reference = package, reference

    @classmethod
    def make(
        cls, data: str, reference: Reference, probes: Sequence[str], texts: Sequence[str]
    ) -> FastEncoder | None:
        """For a tokenizer.json; None where the package is missing, cannot read it, or differs on a text."""
        try:
            import fastokens
        except ImportError:
            return None
        try:
            fast = cls(fastokens.Tokenizer.from_json_str(data), reference)
            wrong = fast.first_difference([*probes, *_first(texts, CHECKED_BYTES)])
        except Exception as error:  # what the package raises for what it does not support is its own affair
            say(f"  fastokens is not used: {error}")
            return None
        if wrong is not None:
            say(f"  fastokens is not used: it reads {wrong[:40]!r} otherwise than tokenizers")
            return None
        return fast

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text. Raises MismatchError where the text that is checked differs."""
        ids = self._encode(texts)
        place = min(range(len(texts)), key=lambda i: (not texts[i], len(texts[i])), default=None)
        if place is not None and len(texts[place]) <= _RECHECKED_CHARACTERS:
            (wanted,) = self._reference([texts[place]])
            if ids[place].tolist() != wanted:
                raise MismatchError(
                    f"fastokens reads {texts[place][:40]!r} otherwise than tokenizers, which it did not at the "
                    f"beginning. Uninstall fastokens, remove the tokens built with it, and build them again"
                )
        return ids

    def first_difference(self, texts: Sequence[str]) -> str | None:
        """The first text whose ids are not those of the reference."""
        pairs = zip(texts, self._encode(texts), self._reference(texts), strict=True)
        return next((text for text, found, wanted in pairs if found.tolist() != wanted), None)

    def _encode(self, texts: Sequence[str]) -> list[Ids]:
        flat, offsets = self._package.encode_batch_flat(
            list(texts), add_special_tokens=False, split_special_tokens=True
        )
        ids, ends = np.frombuffer(flat, "<u4"), np.frombuffer(offsets, "<u8")
        return np.split(ids, ends[1:-1].astype(np.int64)) if len(texts) else []


def _first(texts: Sequence[str], most_bytes: int) -> list[str]:
    taken = list[str]()
    for text in texts:
        if most_bytes <= 0:
            break
        taken.append(text[:most_bytes])
        most_bytes -= len(text)
    return taken
