"""Texts to ids by `tokenizers`, or by the package `fastokens` where it is installed and gives the same ids.

Decides: both read texts that are easy to get wrong and the first 250,000 characters; then one piece in 256, chosen by
its hash alone, so whatever the batch, the worker and the interruption. Guarantees: at the first difference, or where
the package cannot read a text, it is said, and that call and all that follow have the ids of `tokenizers`. Calls before
it, shards written from them among these, were compared by the same rule: right wherever compared, and an error in
pieces that were not chosen stays. Costs: `tokenizers` reads 2 MB of text a second and core, the package 15 to 110 for
BPE with pre-tokens; other kinds it does not read. Comparing takes a sixth of that; `tokenizers` has 250,000 characters
at work at once, in some 10 MB, or one longer text that can be cut nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from danlu.log import say
from danlu.rng import hash_text
from danlu.tokenizer.pretokens import allows_cuts, cut_safely

Ids = npt.NDArray[np.uint32]

COMPARED_FIRST = 250_000
"""Characters of the first texts that are encoded both ways."""
ONE_IN = 256
"""Pieces, of which one is encoded both ways afterwards."""

_PIECE = 8192
"""Characters. Both get long texts in pieces where that changes nothing: `tokenizers` slows down on them."""
_LONG_PIECE = 3 * _PIECE
_GROUP = 250_000
_FIRST_GROUP = 65_536
_SEED = 0x7E57
_SHOWN_BEFORE, _SHOWN_BEHIND = 4, 8


class Encoder:
    """One tokenizer, which reads a special token's name in a text as text."""

    def __init__(self, tokenizer: Tokenizer, description: Mapping[str, Any], probes: Sequence[str]) -> None:
        """`description` is the JSON of `tokenizer`, which is set to encode texts whole and names as text."""
        # A file may ask for its texts to be cut or padded; a corpus must be neither.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._description = {**description, "truncation": None, "padding": None}
        self._allows_cuts = allows_cuts(description)
        names = [token["content"] for token in description.get("added_tokens") or () if token["special"]]
        self._probes = [*probes, *(f"x{name} y{name}" for name in names)]
        self._package: Any = None
        self._is_tried = False
        self._left_to_compare = COMPARED_FIRST
        self.encoded = 0
        """Pieces whose ids were given away as the package reads them."""
        self.compared = 0
        """Pieces that both encoded, probes among them."""
        self.differed = 0
        """Those that the package read otherwise; it is not used any more where this is not 0."""

    @property
    def by(self) -> str:
        """The package that encodes now."""
        return "tokenizers" if self._package is None else "fastokens"

    def compare_first(self, texts: Sequence[str]) -> None:
        """To be called before `encode`: loads `fastokens`, and compares what is left of the first characters.

        Where it was never called, `tokenizers` encodes.
        """
        if not self._is_tried:
            self._is_tried = True
            self._load_package()
        if self._package is None or self._left_to_compare <= 0:
            return
        parts = (part for text in texts for piece in self._cut(text) for part in _parts(piece, _FIRST_GROUP))
        for group in _groups(parts, _FIRST_GROUP):
            self._agrees(group, [])
            self._left_to_compare -= sum(map(len, group))
            if self._package is None or self._left_to_compare <= 0:
                return

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The ids of each text, without BOS or EOS."""
        pieces = [self._cut(text) for text in texts]
        flat = [piece for of_text in pieces for piece in of_text]
        ids = iter(self._compared_ids(flat) or self._reference(flat))
        return [_joined([next(ids) for _ in of_text]) for of_text in pieces]

    def _cut(self, text: str) -> list[str]:
        return cut_safely(text, _PIECE) if self._allows_cuts else [text]

    def _reference(self, pieces: Sequence[str]) -> list[Ids]:
        """By `tokenizers`, some at a time, since its results are large."""
        return [
            np.array(encoding.ids, dtype=np.uint32)
            for group in _groups(pieces, _GROUP)
            for encoding in self._tokenizer.encode_batch_fast(group, add_special_tokens=False)
        ]

    def _load_package(self) -> None:
        try:
            import fastokens
        except ImportError:
            return
        try:
            self._package = fastokens.Tokenizer.from_json_str(json.dumps(self._description))
        except Exception as error:  # what the package raises for what it does not support is its own affair
            self._leave_package(str(error))
            return
        self._agrees(self._probes, [])

    def _compared_ids(self, pieces: Sequence[str]) -> list[Ids] | None:
        """By the package, the chosen ones compared; None where it is not used, or not any more."""
        ids = self._accelerated(pieces)
        if ids is None:
            return None
        chosen = [i for i, piece in enumerate(pieces) if len(piece) <= _LONG_PIECE and _is_chosen(piece)]
        # Of what can be cut nowhere, parts are compared as texts of their own.
        long = (part for piece in pieces if len(piece) > _LONG_PIECE for part in _parts(piece, _PIECE))
        compared = [*(pieces[i] for i in chosen), *filter(_is_chosen, long)]
        if not self._agrees(compared, [ids[i] for i in chosen]):
            return None
        self.encoded += len(pieces)
        return ids

    def _agrees(self, texts: Sequence[str], known: Sequence[Ids]) -> bool:
        """Whether the package reads them as `tokenizers` does; `known` are the ids that it gave for the first."""
        more = self._accelerated(texts[len(known) :])
        if more is None:
            return False
        wanted = self._reference(texts)
        pairs = zip([*known, *more], wanted, strict=True)
        wrong = [(found, right) for found, right in pairs if not np.array_equal(found, right)]
        if wrong:
            self._leave_package(f"it reads {self._excerpt(*wrong[0])!r} otherwise than tokenizers")
        self.compared += len(texts)
        self.differed += len(wrong)
        return not wrong

    def _accelerated(self, pieces: Sequence[str]) -> list[Ids] | None:
        """By the package; None where it is not used, or raises, and so is not any more."""
        if self._package is None or not pieces:
            return None if self._package is None else []
        try:
            flat, offsets = self._package.encode_batch_flat(
                list(pieces), add_special_tokens=False, split_special_tokens=True
            )
        except Exception as error:  # as above
            self._leave_package(str(error))
            return None
        ids, ends = np.frombuffer(flat, "<u4"), np.frombuffer(offsets, "<u8")
        return np.split(ids, ends[1:-1].astype(np.int64))

    def _leave_package(self, reason: str) -> None:
        self._package = None
        if not self.encoded:
            say(f"  fastokens is not used: {reason}")
            return
        say(
            f"  fastokens is not used from here on: {reason}. {self.encoded:,} pieces of text before have its ids, "
            f"which were right wherever they were compared, {self.compared:,} times; to have none of them, uninstall "
            f"it, remove the tokens and build them again"
        )

    def _excerpt(self, found: Ids, right: Ids) -> str:
        """The text where the first ids differ."""
        both = min(len(found), len(right))
        same = int(np.argmin(np.append(found[:both] == right[:both], False)))
        shown = right[max(0, same - _SHOWN_BEFORE) : same + _SHOWN_BEHIND]
        text: str = self._tokenizer.decode(shown.tolist(), skip_special_tokens=False)
        return text


def _is_chosen(piece: str) -> bool:
    return hash_text(piece, _SEED) % ONE_IN == 0


def _parts(piece: str, characters: int) -> Iterator[str]:
    return (piece[start : start + characters] for start in range(0, len(piece), characters))


def _groups(pieces: Iterable[str], characters: int) -> Iterator[list[str]]:
    """Lists of pieces with about so many characters each."""
    group: list[str] = []
    held = 0
    for piece in pieces:
        group.append(piece)
        held += len(piece)
        if held >= characters:
            yield group
            group, held = [], 0
    if group:
        yield group


def _joined(ids: Sequence[Ids]) -> Ids:
    return ids[0] if len(ids) == 1 else np.concatenate(ids)
