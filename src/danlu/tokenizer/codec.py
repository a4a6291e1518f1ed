"""Text <-> ids with one tokenizer.json, of any kind that danlu trains.

Guarantees: a special token's name inside a text stays text, or the file is refused; so it is where it would leave out
in silence what it does not know, and where it has no end-of-text token. `first_change` shows what does not come back as
it was: byte-level BPE and byte fallback do, WordPiece and unknown characters do not. Costs: about 2 MB of text a
second and core; many times as much with `fastokens`.
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
from danlu.tokenizer.encoder import Encoder

BOS, EOS, PAD, UNK = "<|begin_of_text|>", "<|end_of_text|>", "<|pad|>", "<|unk|>"
SPECIAL_TOKENS = (BOS, EOS, PAD)
"""Ids 0, 1, 2 of a tokenizer that danlu trains; UNK follows in kinds that need one."""

BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
"""What byte fallback calls its tokens; a literal "<0x0A>" in a text is not one of them."""

SPACE = "▁"
"""Stands for a space in SentencePiece's pieces."""

PROBES = (
    "",
    " ",
    "  two  spaces \n\n\tand a tab, 12345.6; it's Don'T\r\nb\rc ",
    "\x00\x01\x1b\x7f\u0085\u00a0\u200b\ufeff\ufffd\ufffe",
    "👩‍👩‍👧‍👦 e\u0301 ﬁ Å ½ ²Ⅷ ſ ١٢٣",
    "丹炉炼字，一字千金。한글 \u1112\u1161\u11ab العربية שלום नमस्ते 𝔘𝔫𝔦 \U0010ffff",
    f"{BOS}{EOS}{PAD}{UNK}<|endoftext|></s><s><unk>[UNK]<0x41><0x0A>##a",
    "a" * 300 + " " * 300 + "好" * 300,
)
"""Texts that are easy to change."""

_BOS_NAMES = (BOS, "<s>", "<bos>", "<|bos|>", "<|startoftext|>")
_EOS_NAMES = (EOS, "<|endoftext|>", "</s>", "<eos>", "<|eos|>")
_PAD_NAMES = (PAD, "<pad>", "<|padding|>", "[PAD]", "<|finetune_right_pad_id|>")
_SHOWN_BEFORE, _SHOWN_BEHIND = 8, 4
_BYTE_SYMBOLS = frozenset(pre_tokenizers.ByteLevel.alphabet())


class Codec:
    """A loaded tokenizer. Build with `Codec.load` or `Codec.from_bytes`."""

    def __init__(self, tokenizer: Tokenizer, description: Mapping[str, Any], sha256: str, where: str) -> None:
        self._tokenizer = tokenizer
        self._encoder = Encoder(tokenizer, description, PROBES)
        special = {t["content"]: int(t["id"]) for t in description.get("added_tokens") or () if t["special"]}
        eos = _first(special, _EOS_NAMES)
        if eos is None:
            raise InputError(
                f"{where} has no end-of-text token (one of {', '.join(_EOS_NAMES)}, marked special); "
                f"documents could not be told apart. Add one, or let danlu train a tokenizer"
            )
        bos, pad = _first(special, _BOS_NAMES), _first(special, _PAD_NAMES)
        self._description = description
        self.is_byte_level = _is_byte_level(description)
        """Whether one character of a token stands for one byte."""
        self.kind: str = "byte_bpe" if self.is_byte_level else str(description["model"]["type"]).lower()
        self.sha256 = sha256
        """Of the file's bytes: what shards and checkpoints are compared by."""
        self.eos_id: int = eos
        self.bos_id: int = eos if bos is None else bos
        """EOS where the tokenizer has no BOS, as GPT-2 does."""
        self.pad_id: int = eos if pad is None else pad
        self.vocab_size: int = max(tokenizer.get_vocab(with_added_tokens=True).values()) + 1
        self._special_ids = frozenset(special.values())
        plain = tokenizer.get_vocab(with_added_tokens=False)
        self.missing_bytes = sorted(_BYTE_SYMBOLS - plain.keys()) if self.is_byte_level else []
        """Byte symbols that the vocabulary lacks: such bytes of a text are lost. None in a tokenizer of ours."""
        self._byte_tokens = {} if self.is_byte_level else {plain[b]: b for b in BYTE_TOKENS if b in plain}
        self.unknown_id: int | None = unknown_id(description, plain)
        """The id of what it does not know, for kinds that have one."""
        self._refuse_forgery(special, where)

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
        _refuse_silent_losses(description, where)
        return cls(tokenizer, description, hashlib.sha256(data).hexdigest(), where)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without BOS or EOS."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_documents(self, texts: Sequence[str]) -> list[npt.NDArray[np.uint32]]:
        """BOS + ids + EOS of each text, in the library's threads; the ids equal `encode`.

        Through `fastokens` where it is installed and agrees, see `danlu.tokenizer.encoder`.
        """
        self._encoder.compare_first(texts)
        return [self._document(ids) for ids in self._encoder.encode(texts)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens left out; bytes that are no UTF-8 become U+FFFD."""
        text: str = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def token_bytes(self) -> npt.NDArray[np.int64]:
        """UTF-8 bytes of each token, int64 (vocab_size,): 0 for special tokens and unused ids.

        Exact for byte-level BPE and characters with byte fallback; SentencePiece's prefix counts as a space, an
        unknown as nothing, and WordPiece's lost spaces are not counted.
        """
        counts = np.zeros(self.vocab_size, dtype=np.int64)
        plain = self._tokenizer.get_vocab(with_added_tokens=False)
        continuation = self._description["model"].get("continuing_subword_prefix") or ""
        spaces = SPACE in json.dumps(self._description.get("decoder"), ensure_ascii=False)
        for token, number in self._tokenizer.get_vocab(with_added_tokens=True).items():
            if token in plain and self.is_byte_level:
                # In the byte alphabet one character stands for one byte; an added token is plain text.
                counts[number] = len(token)
            else:
                text = token.replace(SPACE, " ") if spaces else token
                counts[number] = len(text.removeprefix(continuation).encode())
        counts[list(self._byte_tokens)] = 1
        counts[[*sorted(self._special_ids), *([] if self.unknown_id is None else [self.unknown_id])]] = 0
        return counts

    def first_change(self, text: str) -> tuple[str, str] | None:
        """The first place of a text that does not come back as it was, with a little around it, and what it becomes.

        None for a text that comes back; SentencePiece's sign for a space is the one thing that byte fallback does not
        bring back.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        back = self.decode(encoding.ids)
        if back == text:
            return None
        if self.unknown_id in encoding.ids:
            start, end = encoding.offsets[encoding.ids.index(self.unknown_id)]
            return text[start:end], str(self._tokenizer.id_to_token(self.unknown_id))
        shared = min(len(text), len(back))
        place = next((i for i in range(shared) if text[i] != back[i]), shared)
        shown = slice(max(0, place - _SHOWN_BEFORE), place + _SHOWN_BEHIND)
        return text[shown], back[shown]

    def _refuse_forgery(self, special: Mapping[str, int], where: str) -> None:
        """A name that the model itself finds in a text would forge the end of a document, or a byte."""
        names = {**special, **{token: number for number, token in self._byte_tokens.items()}}
        for name, number in names.items():
            ids = self.encode(name)
            # A name with unknown characters has the unknown token, one with rare ones has byte tokens.
            if number in ids and number != self.unknown_id and self.decode(ids) != name:
                raise InputError(
                    f"{where} reads the text {name!r} as the token {number} of that name, so that a text could forge "
                    f"it. Give that piece of the model so low a score that it is never chosen, or train a tokenizer"
                )

    def _document(self, ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        document = np.empty(len(ids) + 2, dtype=np.uint32)
        document[0], document[-1] = self.bos_id, self.eos_id
        document[1:-1] = ids
        return document


def _first(special: Mapping[str, int], names: Sequence[str]) -> int | None:
    return next((special[name] for name in names if name in special), None)


def _is_byte_level(description: Mapping[str, Any]) -> bool:
    """Whether text goes through the byte alphabet, directly or as a step of a sequence."""
    if (description.get("model") or {}).get("type") != "BPE":
        return False
    before = description.get("pre_tokenizer") or {}
    steps = [before, *(before.get("pretokenizers") or ())]
    return any(step.get("type") == "ByteLevel" for step in steps)


def unknown_id(description: Mapping[str, Any], vocab: Mapping[str, int]) -> int | None:
    """The id of what a tokenizer.json (as JSON values) does not know, None where it knows everything."""
    model = description["model"]
    number = model.get("unk_id")
    return int(number) if number is not None else vocab.get(model.get("unk_token") or "")


def _refuse_silent_losses(description: Mapping[str, Any], where: str) -> None:
    """A model without bytes and without an unknown token leaves out what it does not know."""
    model = description["model"]
    if _is_byte_level(description) or model.get("unk_token") or model.get("unk_id") is not None:
        return
    vocab = model.get("vocab")
    if model.get("byte_fallback") and set(BYTE_TOKENS) <= vocab.keys():
        return
    raise InputError(
        f"{where} is neither byte-level nor has it byte tokens or an unknown token: it would leave out in silence "
        f"what it does not know. Use one that has, or let danlu train a tokenizer"
    )
