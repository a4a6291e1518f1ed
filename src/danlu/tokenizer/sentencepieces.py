"""SentencePiece: trains its BPE and Unigram, and turns a .model into an equal tokenizer.json.

Decides: lines are what it learns from, cut at spaces where they are long, since it drops overlong ones; what it never
reads, its own two reserved characters, line breaks and what its coverage leaves out, is counted. A .model is read
without the package. Guarantees: control, unknown and byte pieces are never read out of a text. Costs: the package holds
the sample in memory (Kudo & Richardson 2018).
"""

from __future__ import annotations

import base64
import io
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from danlu.errors import InputError, MissingError, RecipeError
from danlu.tokenizer.codec import BYTE_TOKENS, PROBES, SPACE
from danlu.tokenizer.feed import NAMES, Feed, Learned, unreachable_score
from danlu.tokenizer.settings import TokenizerSettings

_LINE_CHARACTERS = 4096
_MOST_LINE_BYTES = 1 << 20
_THREADS = 8
"""Sums of the threads are added up in their order, so that a fixed number keeps the model the same."""
_RESERVED = ("\0", "\u2585")
"""A line with one of these is dropped as a whole by the package."""
_ENDS = re.compile("[\0\u2585\n]+")
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_UNIGRAM, _BPE, _, _CHAR = range(1, 5)


def train_sentencepiece(settings: TokenizerSettings, feed: Feed) -> Learned:
    """A model of the package and the tokenizer.json that equals it."""
    try:
        import sentencepiece
    except ImportError:
        raise MissingError(
            f"tokenizer.kind = {settings.kind!r} needs the package sentencepiece: "
            f'pip install "danlu[tokenizers]"'
        ) from None
    data, characters = io.BytesIO(), Counter[str]()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_lines(feed, characters, settings.dummy_prefix),
            model_writer=data,
            **_options(settings),
        )
    except (RuntimeError, OSError) as error:
        raise _explained(error, settings, feed) from error
    model = data.getvalue()
    made = from_model(model, "the model just trained")
    feed.leave_out_all_but({" ", *(piece for piece in made.get_vocab() if len(piece) == 1)}, characters)
    notes = tuple(filter(None, [disagreement(made, model)]))
    return Learned(made, notes, {"tokenizer.model": model})


def disagreement(tokenizer: Tokenizer, model: bytes) -> str | None:
    """What to say where a tokenizer.json reads one of `PROBES` otherwise than the package reads the .model."""
    try:
        import sentencepiece
    except ImportError:
        return "not compared with the package sentencepiece, which is not installed"
    package = sentencepiece.SentencePieceProcessor(model_proto=model)
    tokenizer.encode_special_tokens = True
    for text in PROBES:
        if package.encode(text) != tokenizer.encode(text, add_special_tokens=False).ids:
            return (
                f"the package sentencepiece reads {text[:24]!r} otherwise: tokenizer.json cannot express every rule "
                f"of a normaliser, nor its choice between readings of one score"
            )
    return None


def from_model(data: bytes, where: str) -> Tokenizer:
    """The tokenizer that a .model describes. Raises InputError for a file that is none or cannot be expressed."""
    model = _read_model(data, where)
    if any(kind == _USER_DEFINED for _, _, kind in model.pieces):
        raise InputError(
            f"{where} has pieces defined by its user, which no tokenizer.json can express equally"
        )
    if model.kind not in (_UNIGRAM, _BPE, _CHAR) or model.suffix or not model.escaped:
        raise InputError(
            f"{where} is of a kind of SentencePiece that no tokenizer.json can express: word models, spaces at the "
            f"end of words or left as they are"
        )
    special = [
        {"id": number, "content": piece, "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for number, (piece, _, kind) in enumerate(model.pieces)
        if kind in (_CONTROL, _UNKNOWN)
    ]
    description = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": _normalizer(model),
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": _decoder(model),
        "model": _unigram(model) if model.kind == _UNIGRAM else _bpe(model),
    }
    return Tokenizer.from_str(json.dumps(description))


@dataclass(frozen=True)
class _Model:
    pieces: list[tuple[str, float, int]]
    """Name, score and kind, by id."""
    kind: int
    byte_fallback: bool
    suffix: bool
    charsmap: bytes
    dummy_prefix: bool
    squeezed: bool
    """Whether spaces at the ends and repeated ones go."""
    escaped: bool


def _options(settings: TokenizerSettings) -> dict[str, Any]:
    ids = dict.fromkeys(NAMES, -1) | settings.ids_of_roles()
    return {
        "model_type": settings.kind.removeprefix("sentencepiece_"),
        "vocab_size": settings.vocab_size,
        "hard_vocab_limit": False,
        "character_coverage": settings.character_coverage,
        "byte_fallback": settings.byte_fallback,
        "split_digits": settings.split_digits,
        "max_sentencepiece_length": settings.longest_token(),
        "max_sentence_length": _MOST_LINE_BYTES,
        # Any other normaliser changes texts for good, and `tokenizers` does not follow it to the letter.
        "normalization_rule_name": "identity",
        "add_dummy_prefix": settings.dummy_prefix,
        "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True,
        # Where a control piece's name can be spelt out, Unigram never prefers the piece itself.
        "required_chars": _required(settings),
        "num_threads": _THREADS,
        "minloglevel": 2,
        **{f"{role}_id": number for role, number in ids.items()},
        **{f"{role}_piece": name for role, name in NAMES.items()},
    }


def _lines(feed: Feed, characters: Counter[str], adds_space: bool) -> Iterator[str]:
    """The sample as the package wants it: lines of bounded length without what would make it drop them.

    Counts what it gives by character, and what it does not give as left out.
    """
    for piece in feed.bounded_pieces():
        counts = Counter(piece)
        breaks, reserved = counts.pop("\n", 0), {sign: counts.pop(sign, 0) for sign in _RESERVED}
        cuts = 0
        for part in _ENDS.split(piece):
            given = 0
            for line in _short(part) if len(part) > _LINE_CHARACTERS else (part,):
                given += len(line)
                # The package takes carriage returns at an end as the line's.
                bare = line.rstrip("\r")
                breaks += len(line) - len(bare)
                counts["\r"] -= len(line) - len(bare)
                if bare:
                    yield bare
            cuts += len(part) - given
        characters.update(counts)
        feed.leave_out("line breaks", breaks)
        feed.leave_out(
            "characters that SentencePiece reserves",
            sum(count * len(sign.encode()) for sign, count in reserved.items()),
        )
        feed.leave_out("spaces at which a long line is cut", 0 if adds_space else cuts)


def _short(line: str) -> Iterator[str]:
    """A line cut at a space every so many characters, or anywhere where there is none."""
    start = 0
    while len(line) - start > _LINE_CHARACTERS:
        space = line.rfind(" ", start + 1, start + _LINE_CHARACTERS)
        end = space if space > 0 else start + _LINE_CHARACTERS
        yield line[start:end]
        # The package puts a space before each line.
        start = end + (space > 0)
    if line[start:]:
        yield line[start:]


def _required(settings: TokenizerSettings) -> str:
    if settings.kind != "sentencepiece_unigram":
        return ""
    names = [NAMES[role] for role in settings.ids_of_roles()]
    return "".join(sorted(set("".join([*names, *(BYTE_TOKENS if settings.byte_fallback else ())]))))


def _explained(error: Exception, settings: TokenizerSettings, feed: Feed) -> Exception:
    """The package's findings in the recipe's terms."""
    if not feed.bytes:
        return InputError("there is no text to train the tokenizer on; the corpus is empty")
    if found := re.search(r"required_chars\. (\d+) vs (\d+)", str(error)):
        return RecipeError(
            f"tokenizer.vocab_size = {settings.vocab_size} is too small: the sample has {found[2]} characters and "
            f"special pieces at character_coverage = {settings.character_coverage:g}. Ask for more, or cover less"
        )
    return InputError(f"SentencePiece could not train a tokenizer: {error}")


def _normalizer(model: _Model) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    if model.charsmap:
        steps.append(
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.charsmap).decode()}
        )
    if model.squeezed:
        steps.append({"type": "Replace", "pattern": {"Regex": "^ +| +$"}, "content": ""})
        steps.append({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "})
    if model.dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE})
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": SPACE})
    return {"type": "Sequence", "normalizers": steps}


def _decoder(model: _Model) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if model.dummy_prefix:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}


def _unigram(model: _Model) -> dict[str, Any]:
    scores = [score for _, score, kind in model.pieces if kind == _NORMAL]
    hidden = [piece for piece, _, kind in model.pieces if kind != _NORMAL]
    low = unreachable_score(scores, hidden)
    return {
        "type": "Unigram",
        "unk_id": next(number for number, piece in enumerate(model.pieces) if piece[2] == _UNKNOWN),
        "vocab": [[piece, score if kind == _NORMAL else low] for piece, score, kind in model.pieces],
        "byte_fallback": model.byte_fallback,
    }


def _bpe(model: _Model) -> dict[str, Any]:
    ids = {piece: number for number, (piece, _, kind) in enumerate(model.pieces) if kind == _NORMAL}
    ranked = [
        (-score, number, cut, piece)
        for number, (piece, score, kind) in enumerate(model.pieces)
        if kind == _NORMAL
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
    merges = [[piece[:cut], piece[cut:]] for _, _, cut, piece in sorted(ranked)]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": next(piece for piece, _, kind in model.pieces if kind == _UNKNOWN),
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": model.byte_fallback,
        "ignore_merges": False,
        "vocab": {piece: number for number, (piece, _, _) in enumerate(model.pieces)},
        "merges": [] if model.kind == _CHAR else merges,
    }


def _read_model(data: bytes, where: str) -> _Model:
    """The fields that matter of `sentencepiece_model.proto`."""
    try:
        parts = list(_fields(data))
        trainer = dict(_fields(next(value for number, value in parts if number == 2)))
        normalizer = dict(_fields(next((value for number, value in parts if number == 3), b"")))
        pieces = [_piece(dict(_fields(value))) for number, value in parts if number == 1]
    except (StopIteration, ValueError, TypeError, IndexError, KeyError, struct.error) as error:
        raise InputError(f"{where} is not a readable SentencePiece model; restore it") from error
    if not any(kind == _UNKNOWN for _, _, kind in pieces) or len({p[0] for p in pieces}) < len(pieces):
        raise InputError(f"{where} is not a SentencePiece model: it has no unknown piece, or one twice")
    return _Model(
        pieces,
        kind=trainer.get(3, _UNIGRAM),
        byte_fallback=bool(trainer.get(35, 0)),
        suffix=bool(trainer.get(24, 0)),
        charsmap=normalizer.get(2, b""),
        dummy_prefix=bool(normalizer.get(3, 1)),
        squeezed=bool(normalizer.get(4, 1)),
        escaped=bool(normalizer.get(5, 1)),
    )


def _piece(fields: dict[int, Any]) -> tuple[str, float, int]:
    (score,) = struct.unpack("<f", fields.get(2, bytes(4)))
    return fields[1].decode(), float(score), int(fields.get(3, _NORMAL))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a protobuf message: an int, or bytes."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, place = _varint(data, place)
            yield number, value
            continue
        if wire == 2:
            size, place = _varint(data, place)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if place + size > len(data):
            raise ValueError("cut off")
        yield number, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
        if shift > 63:
            raise ValueError("number too long")
