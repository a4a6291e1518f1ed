"""Trains a tokenizer of the recipe's kind on a sample of the corpus, or adopts a given tokenizer.json or .model.

Guarantees: the same texts give the same file, in any order but for sentencepiece_unigram and a sample whose distinct
words do not fit into memory; special tokens have the ids that were asked for; what the vocabulary lacks, what of the
sample taught nothing and what a text would lose is said. Costs: see the kinds' own files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer, processors

from danlu.errors import InputError, MissingError
from danlu.files import write_bytes
from danlu.tokenizer.codec import BOS, EOS, PROBES, Codec
from danlu.tokenizer.feed import Feed, Learned
from danlu.tokenizer.settings import TokenizerSettings

FILE_NAME = "tokenizer.json"
MODEL_SUFFIX = ".model"


@dataclass(frozen=True, slots=True)
class TrainedTokenizer:
    """What a tokenizer stage did. `reason` says why the vocabulary is smaller than the recipe asked for, and what
    the tokenizer loses."""

    path: Path
    sha256: str
    vocab_size: int
    asked_vocab_size: int
    sample_documents: int
    sample_bytes: int
    left_out_bytes: int
    """Bytes of the sample that no token was learned of."""
    lossless: bool
    """Whether texts come back as they were; as far as probes that are easy to change show."""
    reason: str | None


def train_tokenizer(
    settings: TokenizerSettings, texts: Callable[[], Iterator[str]], directory: Path
) -> TrainedTokenizer:
    """Trains on `texts()` and writes tokenizer.json into `directory`, and the .model of a kind that has one.

    Raises InputError where there is no text, RecipeError where the vocabulary cannot hold its characters.
    """
    feed = Feed(texts)
    learned = _learn(settings, feed)
    if not feed.bytes:
        raise InputError("there is no text to train the tokenizer on; the corpus is empty")
    first = BOS if "bos" in settings.ids_of_roles() else EOS
    learned.tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A",
        pair=f"{first} $A {first} $B",
        special_tokens=[(first, learned.tokenizer.token_to_id(first))],
    )
    data = learned.tokenizer.to_str(pretty=True).encode()
    codec = Codec.from_bytes(data, "the tokenizer just trained")
    write_bytes(directory / FILE_NAME, data)
    for name, content in learned.files.items():
        write_bytes(directory / name, content)
    return _report(settings, codec, directory, feed, learned.notes)


def adopt_tokenizer(settings: TokenizerSettings, path: Path, directory: Path) -> TrainedTokenizer:
    """Takes a given file over once it is known to be usable: a tokenizer.json byte for byte, a .model as its equal."""
    data = load_file(path)
    codec = Codec.from_bytes(data, str(path))
    if codec.missing_bytes:
        raise InputError(
            f"{path} has no token for {len(codec.missing_bytes)} of the 256 bytes, so that texts with them would be "
            f"changed in silence. Use a byte-level tokenizer with the whole alphabet, or let danlu train one"
        )
    write_bytes(directory / FILE_NAME, data)
    settings = settings.model_copy(update={"vocab_size": codec.vocab_size})
    return _report(settings, codec, directory, Feed(lambda: iter(())), _notes(path, data))


def _notes(path: Path, data: bytes) -> tuple[str, ...]:
    if path.suffix != MODEL_SUFFIX:
        return ()
    from danlu.tokenizer.sentencepieces import disagreement

    return tuple(filter(None, [disagreement(Tokenizer.from_buffer(data), path.read_bytes())]))


def load_file(path: Path) -> bytes:
    """The bytes of the tokenizer.json that a file is, or that a SentencePiece .model equals."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise MissingError(f"there is no tokenizer {path}") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory; name its tokenizer.json") from None
    if path.suffix != MODEL_SUFFIX:
        return data
    from danlu.tokenizer.sentencepieces import from_model

    return from_model(data, str(path)).to_str(pretty=True).encode()


def _learn(settings: TokenizerSettings, feed: Feed) -> Learned:
    """By kind; imported here, since only some need numba or another package."""
    from danlu.tokenizer import subwords

    match settings.kind:
        case "byte_bpe":
            return subwords.train_byte_bpe(settings, feed)
        case "bpe":
            return subwords.train_bpe(settings, feed)
        case "char":
            return subwords.train_characters(settings, feed)
        case "wordpiece" if settings.score == "frequency":
            return subwords.train_wordpiece(settings, feed)
        case "wordpiece":
            from danlu.tokenizer.wordpiece import train_by_likelihood

            return train_by_likelihood(settings, feed)
        case "unigram":
            from danlu.tokenizer.unigram import train_unigram

            return train_unigram(settings, feed)
        case _:
            from danlu.tokenizer.sentencepieces import train_sentencepiece

            return train_sentencepiece(settings, feed)


def _report(
    settings: TokenizerSettings, codec: Codec, directory: Path, feed: Feed, notes: Sequence[str]
) -> TrainedTokenizer:
    said = list(notes)
    if codec.vocab_size < settings.vocab_size:
        said.append(
            f"tokenizer.vocab_size = {settings.vocab_size} was lowered to {codec.vocab_size}: the sample of "
            f"{feed.bytes} bytes has {_what_ended(settings)}"
        )
    said += [f"{size:,} bytes of the sample taught nothing: {why}" for why, size in feed.left_out.items()]
    # What the sample itself loses says more than a probe.
    examples = (*feed.rare_characters(), *feed.excerpts, *PROBES)
    lost = next(filter(None, map(codec.first_change, examples)), None)
    if lost is not None:
        said.append(f"not every text comes back as it was: {lost[0]!r} becomes {lost[1]!r}")
    return TrainedTokenizer(
        path=directory / FILE_NAME,
        sha256=codec.sha256,
        vocab_size=codec.vocab_size,
        asked_vocab_size=settings.vocab_size,
        sample_documents=feed.documents,
        sample_bytes=feed.bytes,
        left_out_bytes=feed.left_out.total(),
        lossless=lost is None,
        reason="; ".join(said) or None,
    )


def _what_ended(settings: TokenizerSettings) -> str:
    if settings.kind == "char":
        return "no further character"
    if "unigram" in settings.kind:
        return "no further piece that is worth its place"
    return "no further pair that occurs often enough"
