"""Small scorers: texts of two kinds that words tell apart, and a scorer trained on them."""

from __future__ import annotations

import random

import numpy as np

from danlu.scorers.examples import Examples, Source
from danlu.scorers.model_file import Scorer
from danlu.scorers.settings import Features, Training
from danlu.scorers.train import train_scorer

PROSE = ("river", "night", "morning", "field", "water", "village", "stone", "garden", "winter", "letter")
MENU = ("login", "cart", "home", "search", "contact", "privacy", "cookies", "share", "menu", "sitemap")
SMALL = Features(bucket_bits=12, max_characters=4, read_characters=400)


def small_text(random_words: random.Random, share: float, words: int = 12) -> str:
    """So many words, about this share of them of prose."""
    chosen = [random_words.choice(PROSE if random_words.random() < share else MENU) for _ in range(words)]
    return " ".join(chosen)


def small_examples(count: int = 300, scale: str = "binary", seed: int = 1) -> Examples:
    """Texts of which the label says how much of them is prose."""
    words = random.Random(seed)
    levels = [0.1, 0.9] if scale == "binary" else [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    texts: dict[str, float] = {}
    while len(texts) < count:
        level = words.randrange(len(levels))
        texts[small_text(words, levels[level])] = float(level)
    return Examples(
        tuple(texts), np.array(list(texts.values())), (Source("made.jsonl", count),), {"no_text": 2}
    )


def small_scorer(**settings: object) -> Scorer:
    """A scorer of such examples; `settings` are those of the training."""
    training = Training.model_validate({"features": SMALL.model_dump(), "held_out": 0.3, **settings})
    return train_scorer(small_examples(scale=training.scale), training)
