"""Trains an n-gram language model from texts, in bounded memory and offline: ARPA and a card beside it.

Decides: a share of the documents, by the hash of their text, is held out and measured afterwards: the percentiles of
their perplexities are the buckets of the step `perplexity`. Guarantees: the same texts in the same order give the same
bytes, whatever the memory; nothing is at `path` until all of it is, its card included. Costs: 1.1 to 1.6 MB/s of text;
on disk beside `path` some 100 bytes an n-gram while it runs; memory `memory_bytes`, the held-out texts and some 300
bytes a distinct word. With little memory the model is read several times to measure what is held out.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from danlu.errors import InputError
from danlu.files import TEMPORARY, disk_errors, sync_directory
from danlu.lm.arpa import MOST_ORDER
from danlu.lm.arpa_write import write_arpa
from danlu.lm.card import FORMAT, PERCENTS, Card, write_card
from danlu.lm.count import Vocabulary, add_counts, count_texts
from danlu.lm.kneser_ney import (
    Counts,
    Discounts,
    Gram,
    adjust_counts,
    discounts_of,
    sections,
    split_mass,
    suffix_columns,
)
from danlu.lm.query import Doubles, load_part, perplexity
from danlu.lm.runs import Sorter
from danlu.lm.tokens import Kind, Sentences, cut
from danlu.rng import hash_text
from danlu.words.text import encode

MEMORY_BYTES = 1 << 30
LEAST_MEMORY_BYTES = 1 << 16
HELD_OUT_CHARACTERS = 16_000_000
"""What is held out stays in memory; documents beyond it are trained on."""
_BYTES_AN_NGRAM = 96
"""Of a held-out n-gram while it is measured: its key three times, and its share of a table."""

Progress = Callable[[str, int], None]
"""Told of each stage and how much of it is done: ("read", characters), then ("estimate", order), ("write", order)."""


def train_lm(
    texts: Iterable[str],
    path: Path,
    *,
    order: int = 5,
    tokens: Kind = "words",
    prune: Sequence[int] = (),
    memory_bytes: int = MEMORY_BYTES,
    held_out_share: float = 0.05,
    progress: Progress | None = None,
) -> Card:
    """Trains a model of n-grams of up to `order` words and writes it to `path`, its card beside it.

    `prune`: for each order from 1 on, n-grams that occur no more often than this are left out; the last holds for the
    orders after it; unigrams are never left out. Raises InputError for texts without words or settings that contradict.
    """
    report = progress or _report_nothing
    thresholds = _thresholds(order, prune)
    if memory_bytes < LEAST_MEMORY_BYTES or not 0.0 <= held_out_share < 1.0:
        raise InputError(
            f"train_lm: memory_bytes from {LEAST_MEMORY_BYTES}, held_out_share from 0 to below 1"
        )
    folder = path.with_name(f"{TEMPORARY}{path.name}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            card = _train(texts, folder, order, tokens, thresholds, memory_bytes, held_out_share, report)
            model = folder / "model.arpa"
            sync_directory(model)
            # The card first: a model without one would be read as made elsewhere, one with another's is refused.
            write_card(path, card)
            model.replace(path)
            sync_directory(path.parent)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return card


def _report_nothing(_stage: str, _done: int) -> None:
    return


def _thresholds(order: int, prune: Sequence[int]) -> list[int]:
    """One for each order."""
    if not 2 <= order <= MOST_ORDER:
        raise InputError(f"train_lm: order must be from 2 to {MOST_ORDER}, not {order}")
    thresholds = [*prune[:order]] or [0]
    thresholds += [thresholds[-1]] * (order - len(thresholds))
    if thresholds[0] != 0 or thresholds != sorted(thresholds) or len(prune) > order:
        raise InputError(
            f"train_lm: prune must begin with 0, must not fall and has at most {order} numbers, "
            f"e.g. 0 0 1: {list(prune)} is not so"
        )
    return thresholds


def _train(
    texts: Iterable[str],
    folder: Path,
    order: int,
    tokens: Kind,
    thresholds: list[int],
    memory_bytes: int,
    held_out_share: float,
    report: Progress,
) -> Card:
    parting = _Parting(held_out_share, report)
    vocabulary = Vocabulary()
    sorter = Sorter(folder / "ngrams", order + 1, suffix_columns(order), memory_bytes, add_counts)
    words = count_texts(parting.training(texts), tokens, order, vocabulary, sorter)
    if not words:
        raise InputError("train_lm: there is no word in the texts, so that there is nothing to learn from")
    counts = adjust_counts(sorter.blocks(order), order, thresholds, folder)
    discounts = _estimate(folder, counts, thresholds, memory_bytes, report)
    ngrams = _ngrams(counts, len(vocabulary.words))
    grams = sections(folder, len(ngrams), len(vocabulary.words), discounts[0], memory_bytes)
    model = folder / "model.arpa"
    write_arpa(model, vocabulary.words, ngrams, _reporting(grams, report))
    measured = _measure(model, parting.held_out, tokens, len(ngrams), memory_bytes)
    return Card(
        format=FORMAT,
        tokens=tokens,
        order=len(ngrams),
        ngrams=ngrams,
        prune=thresholds[: len(ngrams)],
        discounts=[list(discount.amounts) for discount in discounts],
        fallback=[n for n, discount in enumerate(discounts, 1) if discount.fallback],
        documents=parting.documents,
        words=words,
        data_digest=parting.digest.hexdigest(),
        held_out_documents=measured.documents,
        held_out_perplexity=measured.overall,
        percentiles=measured.percentiles,
        model_bytes=model.stat().st_size,
        held_out_median_words=measured.median_words,
    )


class _Parting:
    """Tells documents to train on from those to measure."""

    def __init__(self, share: float, report: Progress) -> None:
        self._below, self._report = int(share * 2**64), report
        self.held_out: list[str] = []
        self.documents = 0
        self.digest = hashlib.sha256()

    def training(self, texts: Iterable[str]) -> Iterator[str]:
        """The documents to train on; the others are kept in `held_out`."""
        read, held = 0, 0
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            self.digest.update(len(data).to_bytes(8, "little") + data)
            read += len(text)
            self._report("read", read)
            # By the text, so that copies of one document are on one side.
            if hash_text(data) < self._below and held + len(text) <= HELD_OUT_CHARACTERS:
                self.held_out.append(text)
                held += len(text)
            elif text:
                self.documents += 1
                yield text


def _estimate(
    folder: Path, counts: list[Counts], thresholds: list[int], memory_bytes: int, report: Progress
) -> list[Discounts]:
    """The discounts of each order that has n-grams; the files that the probabilities are made from."""
    discounts = [discounts_of(count.tally) for count in takewhile(lambda count: count.kept, counts)]
    for words in range(2, len(discounts) + 1):
        report("estimate", words)
        split_mass(folder, words, discounts[words - 1], thresholds[words - 1], memory_bytes)
    return discounts


def _ngrams(counts: list[Counts], vocabulary: int) -> list[int]:
    """How many n-grams each order of the model has; `<unk>` and `<s>` are never counted but are in it."""
    kept = [count.kept for count in takewhile(lambda count: count.kept, counts)]
    return [vocabulary, *kept[1:]]


def _reporting(sections: Iterator[Iterator[Gram]], report: Progress) -> Iterator[Iterator[Gram]]:
    for order, section in enumerate(sections, 1):
        report("write", order)
        yield section


class _Measured(NamedTuple):
    """Documents, the perplexity of all as one, the percentiles of those of each, and the median of their words."""

    documents: int
    overall: float | None
    percentiles: list[float]
    median_words: int


def _measure(model: Path, texts: list[str], tokens: Kind, order: int, memory_bytes: int) -> _Measured:
    """The held-out texts with at least one word."""
    scores: dict[int, list[Doubles]] = {}
    words: dict[int, int] = {}
    for batch in _batches(texts, tokens, memory_bytes // (_BYTES_AN_NGRAM * order)):
        loaded = load_part(model, [sentences for _, sentences in batch])
        for number, sentences in batch:
            scores.setdefault(number, []).append(loaded.score(sentences))
            words[number] = words.get(number, 0) + len(sentences.starts)
    if not scores:
        return _Measured(0, None, [], 0)
    # The sums are those of whole texts, wherever the memory parted them.
    whole = {number: np.concatenate(parts) for number, parts in scores.items()}
    sums = {number: float(lines.sum()) for number, lines in whole.items()}
    each = [perplexity(sums[number], words[number], len(lines)) for number, lines in whole.items()]
    overall = perplexity(sum(sums.values()), sum(words.values()), sum(map(len, whole.values())))
    percentiles = np.percentile(each, range(1, PERCENTS + 1)).tolist()
    return _Measured(len(each), overall, percentiles, int(np.median(list(words.values()))))


def _batches(texts: list[str], tokens: Kind, most: int) -> Iterator[list[tuple[int, Sentences]]]:
    """The texts by number, in parts of whole sentences; up to `most` words and marks together, or one sentence."""
    batch: list[tuple[int, Sentences]] = []
    size = 0
    for number, text in enumerate(texts):
        for part in _parts(cut(encode(text), tokens), most):
            more = len(part.starts) + 2 * len(part.lines)
            if batch and size + more > most:
                yield batch
                batch, size = [], 0
            batch.append((number, part))
            size += more
    if batch:
        yield batch


def _parts(text: Sentences, most: int) -> Iterator[Sentences]:
    """A text in parts of whole sentences, up to `most` words and marks each, or one sentence."""
    sizes = text.lines + 2 * np.arange(1, len(text.lines) + 1)
    word = line = 0
    while line < len(text.lines):
        last = max(int(np.searchsorted(sizes, word + 2 * line + most, "right")), line + 1)
        end = int(text.lines[last - 1])
        yield Sentences(text.codes, text.starts[word:end], text.ends[word:end], text.lines[line:last] - word)
        word, line = end, last
