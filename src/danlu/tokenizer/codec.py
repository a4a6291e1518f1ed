"""Text <-> ids with one tokenizer.json.

Guarantees: every text encodes (byte-level BPE, no unknown) and decodes to itself; a special token's name inside a
text stays text; BOS, EOS and pad ids are known or the file is refused. Costs: about 1 MB of text a second and core.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, pre_tokenizers

from danlu.errors import InputError, MissingError
from danlu.tokenizer.pretokens import allows_cuts, cut_safely

BOS, EOS, PAD = "<|begin_of_text|>", "<|end_of_text|>", "<|pad|>"
SPECIAL_TOKENS = (BOS, EOS, PAD)
"""Ids 0, 1, 2 of a tokenizer that danlu trains."""

_BOS_NAMES = (BOS, "<s>", "<bos>", "<|bos|>", "<|startoftext|>")
_EOS_NAMES = (EOS, "<|endoftext|>", "</s>", "<eos>", "<|eos|>")
_PAD_NAMES = (PAD, "<pad>", "<|padding|>", "[PAD]", "<|finetune_right_pad_id|>")
_ENCODED_CHARACTERS = 8192
_BYTE_SYMBOLS = frozenset(pre_tokenizers.ByteLevel.alphabet())


class Codec:
    """A loaded tokenizer. Build with `Codec.load` or `Codec.from_bytes`."""

    def __init__(self, tokenizer: Tokenizer, description: Mapping[str, Any], sha256: str, where: str) -> None:
        self._tokenizer = tokenizer
        tokenizer.encode_special_tokens = True
        special = {t["content"]: int(t["id"]) for t in description.get("added_tokens") or () if t["special"]}
        eos = _first(special, _EOS_NAMES)
        if eos is None:
            raise InputError(
                f"{where} has no end-of-text token (one of {', '.join(_EOS_NAMES)}, marked special); "
                f"documents could not be told apart. Add one, or let danlu train a tokenizer"
            )
        bos, pad = _first(special, _BOS_NAMES), _first(special, _PAD_NAMES)
        self._allows_cuts = allows_cuts(description)
        self.sha256 = sha256
        """Of the file's bytes: what shards and checkpoints are compared by."""
        self.eos_id: int = eos
        self.bos_id: int = eos if bos is None else bos
        """EOS where the tokenizer has no BOS, as GPT-2 does."""
        self.pad_id: int = eos if pad is None else pad
        self.vocab_size: int = max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1
        self._special_ids = frozenset(special.values())
        self.missing_bytes = sorted(_BYTE_SYMBOLS - tokenizer.get_vocab(with_added_tokens=False).keys())
        """Byte symbols that the vocabulary lacks: such bytes of a text are lost. None in a tokenizer of ours."""

    @classmethod
    def load(cls, path: Path) -> Codec:
        """Reads a tokenizer.json. Raises MissingError, or InputError for a file that cannot be used."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise MissingError(f"there is no tokenizer {path}") from None
        except IsADirectoryError:
            raise InputError(f"{path} is a directory; name its tokenizer.json") from None
        return cls.from_bytes(data, str(path))

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Codec:
        """The tokenizer in the bytes of a tokenizer.json; `where` names it in errors."""
        try:
            description = json.loads(data)
            tokenizer = Tokenizer.from_buffer(data)
        except Exception as error:  # the library raises plain Exception
            raise InputError(
                f"{where} is not a readable tokenizer.json ({error}); restore it or train it again"
            ) from error
        # A file may ask for its texts to be cut or padded; a corpus must be neither.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        if not _is_byte_level(description):
            raise InputError(f"{where} is not a byte-level BPE, the only kind that is supported so far")
        return cls(tokenizer, description, hashlib.sha256(data).hexdigest(), where)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without BOS or EOS."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.uint32]]:
        """BOS + ids + EOS of each text, in the library's threads; the ids equal `encode`.

        Long texts are encoded in pieces where that changes nothing: the library slows down on them.
        """
        cut = [cut_safely(text, _ENCODED_CHARACTERS) if self._allows_cuts else [text] for text in texts]
        flat = [piece for pieces in cut for piece in pieces]
        encodings = iter(self._tokenizer.encode_batch_fast(flat, add_special_tokens=False))
        return [self._document([next(encodings).ids for _ in pieces]) for pieces in cut]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens left out; bytes that are no UTF-8 become U+FFFD."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def token_bytes(self) -> npt.NDArray[np.int64]:
        """UTF-8 bytes of each token, int64 (vocab_size,): 0 for special tokens and unused ids."""
        counts = np.zeros(self.vocab_size, dtype=np.int64)
        plain = self._tokenizer.get_vocab(with_added_tokens=False)
        for token, number in self._tokenizer.get_vocab(with_added_tokens=True).items():
            # In the byte alphabet one character stands for one byte; an added token is plain text.
            counts[number] = len(token) if token in plain else len(token.encode())
        counts[sorted(self._special_ids)] = 0
        return counts

    def _document(self, pieces: list[list[int]]) -> npt.NDArray[np.uint32]:
        ids = np.empty(sum(map(len, pieces)) + 2, dtype=np.uint32)
        ids[0], ids[-1] = self.bos_id, self.eos_id
        start = 1
        for piece in pieces:
            ids[start : start + len(piece)] = piece
            start += len(piece)
        return ids


def _first(special: Mapping[str, int], names: Sequence[str]) -> int | None:
    return next((special[name] for name in names if name in special), None)


def _is_byte_level(description: Mapping[str, Any]) -> bool:
    """Whether text goes through the byte alphabet, directly or as a step of a sequence."""
    if (description.get("model") or {}).get("type") != "BPE":
        return False
    before = description.get("pre_tokenizer") or {}
    steps = [before, *(before.get("pretokenizers") or ())]
    return any(step.get("type") == "ByteLevel" for step in steps)
