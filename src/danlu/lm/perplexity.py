"""How well an n-gram model of its language expects a document: CCNet's perplexity and its three buckets.

Decides: the model of the document's language, else that of "*"; a document without a model, or without words, is kept
and its measures are not numbers, so that the ledger counts it. Head, middle and tail are parted at the recipe's
cutoffs, else at the percentiles on the model's card (Wenzek et al. 2020: the 30th and 60th). Guarantees: a model
without cutoffs is refused where a bucket is to be dropped. Costs: 10 to 17 MB/s, 2 MB/s for a
binary of KenLM; each process holds each model in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from danlu.errors import InputError, MissingError
from danlu.lm.card import Card, read_card
from danlu.lm.query import Binary, Model, load_model, text_perplexity
from danlu.lm.settings import ANY, BUCKETS, Perplexity
from danlu.lm.tokens import Kind, cut
from danlu.words.text import Measured, Text

MEASURES: tuple[str, ...] = ("perplexity", "bucket")
"""Buckets are 0 head, 1 middle, 2 tail."""
_NOT_MEASURED = (math.nan, math.nan)


class _Loaded(NamedTuple):
    model: Model | Binary
    card: Card | None


def measure(text: Text, settings: Perplexity) -> Measured:
    """The perplexity and the bucket. Raises a DanluError for a model that cannot be used."""
    language = text.language if text.language in settings.models else ANY
    if language not in settings.models:
        return Measured(text, _NOT_MEASURED)
    path = Path(settings.models[language])
    loaded = _load(path)
    cutoffs = _cutoffs(language, path, loaded.card, settings)
    value = text_perplexity(loaded.model, cut(text.codes, _kind(loaded.card, settings)))
    if math.isnan(value):
        return Measured(text, _NOT_MEASURED)
    bucket = math.nan if cutoffs is None else float(sum(value >= cutoff for cutoff in cutoffs))
    return Measured(text, (value, bucket))


def decide(values: Sequence[float], settings: Perplexity) -> str:
    """ "" keeps; else "too_perplexing" or the name of a bucket that is not kept."""
    value, bucket = values
    if settings.max_perplexity is not None and value > settings.max_perplexity:
        return "too_perplexing"
    if math.isnan(bucket):
        return ""
    name = BUCKETS[int(min(max(bucket, 0.0), len(BUCKETS) - 1))]
    return "" if name in settings.keep else name


def forget_files() -> None:
    """The models are read anew by the next text: for a process that builds a second time."""
    _load_version.cache_clear()


def _kind(card: Card | None, settings: Perplexity) -> Kind:
    if settings.tokens != "auto":
        return settings.tokens
    return card.tokens if card else "spaces"


def _cutoffs(language: str, path: Path, card: Card | None, settings: Perplexity) -> tuple[float, ...] | None:
    """Where middle and tail begin; None where nothing says so and every bucket is kept."""
    given = settings.cutoffs.get(language) or settings.cutoffs.get(ANY)
    if given:
        return tuple(given)
    if card and card.percentiles:
        return card.percentile(settings.head_share), card.percentile(settings.middle_share)
    if set(settings.keep) == set(BUCKETS):
        return None
    reason = "its card has no held-out documents" if card else "it has no card"
    raise InputError(
        f"perplexity.keep: {path} does not say where head, middle and tail part ({reason}); give "
        f"cutoffs.{language} = [HEAD_BELOW, MIDDLE_BELOW], or train a model of more documents"
    )


def _load(path: Path) -> _Loaded:
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise MissingError(f"perplexity.models: {path} cannot be read: {error.strerror}") from error
    return _load_version(path, changed)


@lru_cache(maxsize=64)
def _load_version(path: Path, changed: int) -> _Loaded:  # noqa: ARG001 - a file that changes is another one
    return _Loaded(load_model(path), read_card(path))
