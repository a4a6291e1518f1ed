"""A model's card: the JSON file beside it that says what it was trained on and what its perplexities mean.

Guarantees: written whole or not at all; the same data give the same card; one that is not of its model is refused by
the model's size. Costs: nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

from danlu.errors import DamagedError, MismatchError
from danlu.files import read_json, write_json
from danlu.lm.settings import CARD_SUFFIX
from danlu.lm.tokens import Kind

FORMAT = 2
PERCENTS = 99


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a model that was trained here."""

    format: int
    tokens: Kind
    """What its words are."""
    order: int
    """Words of its longest n-grams; it may be less than was asked for where the texts are short."""
    ngrams: list[int]
    """How many there are of each order."""
    prune: list[int]
    """Of each order, n-grams that occur no more often than this were left out."""
    discounts: list[list[float]]
    """Of each order, for counts of one, two, and three and more."""
    fallback: list[int]
    """The orders for which there was too little text to compute discounts."""
    documents: int
    """Trained on, with at least one character."""
    words: int
    data_digest: str
    """SHA-256 over the texts, held-out ones included."""
    held_out_documents: int
    """Not trained on, with at least one word."""
    held_out_perplexity: float | None
    """Of all of them as one text."""
    percentiles: list[float]
    """1st to 99th of the perplexities of the held-out documents; none where there are none."""
    model_bytes: int
    """The size of the model's file."""
    held_out_median_words: int = 0
    """The median length of the held-out documents: perplexities compare documents that are about as long."""

    def percentile(self, share: float) -> float:
        """The perplexity below which a share of documents, 0.01 to 0.99, lies."""
        place = min(max(share * 100.0 - 1.0, 0.0), PERCENTS - 1.0)
        below = min(int(place), PERCENTS - 2)
        low, high = self.percentiles[below : below + 2]
        return low + (place - below) * (high - low)


def card_path(model: Path) -> Path:
    """Where a model's card is."""
    return model.with_name(model.name + CARD_SUFFIX)


def write_card(model: Path, card: Card) -> None:
    """Writes the card of a model."""
    write_json(card_path(model), asdict(card))


def read_card(model: Path) -> Card | None:
    """The card of a model, None where it has none.

    Raises DamagedError where it is not a card, MismatchError where the model is another one.
    """
    path = card_path(model)
    if not path.is_file():
        return None
    card = _understood(path, read_json(path))
    if model.stat().st_size != card.model_bytes:
        raise MismatchError(
            f"{path} is the card of a model of {card.model_bytes} bytes, but {model.name} has "
            f"{model.stat().st_size}; train again or remove the card"
        )
    return card


def _understood(path: Path, value: Any) -> Card:
    names = {field.name for field in fields(Card)}
    if not isinstance(value, dict) or set(value) != names or value["format"] != FORMAT:
        raise DamagedError(f"{path} is not a card that this version can read; train the model again")
    card = Card(**value)
    whole = card.tokens in get_args(Kind) and isinstance(card.model_bytes, int)
    numbers = isinstance(card.percentiles, list) and all(isinstance(p, float | int) for p in card.percentiles)
    if not whole or not numbers or len(card.percentiles) not in (0, PERCENTS):
        raise DamagedError(
            f"{path} is damaged: its tokens, sizes or percentiles are none; train the model again"
        )
    return card
