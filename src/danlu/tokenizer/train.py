"""Trains a byte-level BPE on a sample of the corpus, or adopts a given tokenizer.json.

Guarantees: the same texts in any order give the same file; all 256 bytes are in the vocabulary, so every text
encodes; equal counts are merged smaller pair of ids first (the rule of `tokenizers`). Costs: about 2 MB of text a
second; memory grows with the distinct words, not with the text (Sennrich et al. 2016; Radford et al. 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from danlu.errors import InputError
from danlu.files import write_bytes
from danlu.log import progress
from danlu.tokenizer.codec import BOS, SPECIAL_TOKENS, Codec
from danlu.tokenizer.pretokens import make_pretokenizer, training_pieces
from danlu.tokenizer.settings import TokenizerSettings

FILE_NAME = "tokenizer.json"
_MIN_PAIR_COUNT = 2
_PIECE_CHARACTERS = 65_536


@dataclass(frozen=True, slots=True)
class TrainedTokenizer:
    """What a tokenizer stage did. `reason` says why the vocabulary is smaller than the recipe asked for."""

    path: Path
    sha256: str
    vocab_size: int
    asked_vocab_size: int
    sample_documents: int
    sample_bytes: int
    reason: str | None


def train_tokenizer(
    settings: TokenizerSettings, texts: Callable[[], Iterator[str]], directory: Path
) -> TrainedTokenizer:
    """Trains on `texts()` and writes tokenizer.json into `directory`. Raises InputError where there is no text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = make_pretokenizer(settings.pretokenizer)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocab_size,
        min_frequency=_MIN_PAIR_COUNT,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    sample = _Sample(texts)
    tokenizer.train_from_iterator(sample.pieces(), trainer)
    if not sample.bytes:
        raise InputError("there is no text to train the tokenizer on; the corpus is empty")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A {BOS} $B", special_tokens=[(BOS, SPECIAL_TOKENS.index(BOS))]
    )
    data = tokenizer.to_str(pretty=True).encode()
    codec = Codec.from_bytes(data, "the tokenizer just trained")
    write_bytes(directory / FILE_NAME, data)
    return _report(settings, codec, directory, sample.documents, sample.bytes)


def adopt_tokenizer(settings: TokenizerSettings, path: Path, directory: Path) -> TrainedTokenizer:
    """Copies a given tokenizer.json into `directory`, byte for byte, once it is known to be usable."""
    codec = Codec.load(path)
    if codec.missing_bytes:
        raise InputError(
            f"{path} has no token for {len(codec.missing_bytes)} of the 256 bytes, so that texts with them would be "
            f"changed in silence. Use a byte-level tokenizer with the whole alphabet, or let danlu train one"
        )
    write_bytes(directory / FILE_NAME, path.read_bytes())
    return _report(settings.model_copy(update={"vocab_size": codec.vocab_size}), codec, directory, 0, 0)


class _Sample:
    """Counts what the trainer reads."""

    def __init__(self, texts: Callable[[], Iterator[str]]) -> None:
        self._texts = texts
        self.documents = self.bytes = 0

    def pieces(self) -> Iterator[str]:
        with progress("train tokenizer", None, "bytes") as bar:
            for text in self._texts():
                size = len(text.encode())
                self.documents += 1
                self.bytes += size
                yield from training_pieces(text, _PIECE_CHARACTERS)
                bar.advance(size)


def _report(
    settings: TokenizerSettings, codec: Codec, directory: Path, documents: int, sample_bytes: int
) -> TrainedTokenizer:
    reason = None
    if codec.vocab_size < settings.vocab_size:
        reason = (
            f"tokenizer.vocab_size = {settings.vocab_size} was lowered to {codec.vocab_size}: the sample of "
            f"{sample_bytes} bytes has no further pair that occurs {_MIN_PAIR_COUNT} times"
        )
    return TrainedTokenizer(
        path=directory / FILE_NAME,
        sha256=codec.sha256,
        vocab_size=codec.vocab_size,
        asked_vocab_size=settings.vocab_size,
        sample_documents=documents,
        sample_bytes=sample_bytes,
        reason=reason,
    )
