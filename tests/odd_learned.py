"""Odd texts for the steps that score or search a text, most by files of the user: models and lists; see odd_texts.py.

The models are made when a bank is laid down, not when this is imported: making them takes numba and torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from odd_texts import PLAIN, Bank, Change

Make = Callable[[Path], Any]

TOWN = "the river runs by the old town"


def arpa(**rarer: float) -> str:
    """A model without contexts: log10 probability -1 for each word of it but these, -4 for any other."""
    words = {
        "<s>": -99.0,
        "</s>": -1.0,
        "<unk>": -4.0,
        **dict.fromkeys([*TOWN.split(), "roofs"], -1.0),
        **rarer,
    }
    lines = [f"{probability}\t{word}" for word, probability in words.items()]
    return "\n".join(["\\data\\", f"ngram 1={len(lines)}", "", "\\1-grams:", *lines, "", "\\end\\", ""])


def card_of(model: str) -> Make:
    """Its card: of a hundred documents one has a perplexity below 10, two have one below 20, and so on."""

    def write(path: Path) -> None:
        from danlu.lm.card import FORMAT, Card

        card = Card(
            format=FORMAT, tokens="words", order=1, ngrams=[model.count("\t")], prune=[0], discounts=[[0.0] * 3],
            fallback=[], documents=1, words=1, data_digest="", held_out_documents=100, held_out_perplexity=500.0,
            percentiles=[10.0 * percent for percent in range(1, 100)], model_bytes=len(model),
        )  # fmt: skip
        path.write_text(json.dumps(asdict(card)))

    return write


STONES = {"stone": -2.8, "moss": -3.0}
PAVED, ROOFLESS = arpa(**STONES), arpa(**STONES, roofs=-3.0)
PAVED_MODEL = {"models": {"*": "paved.arpa"}}
PERPLEXITY = Bank(
    {
        "plain": TOWN,
        "middle": " ".join(["stone"] * 9),
        "tail": " ".join(["moss"] * 9),
        "roofs": " ".join(["roofs"] * 9),
        "capitals": "The River, the Town.",
    },
    {
        "models": Change({"*": "roofless.arpa"}, {"roofs"}),
        "tokens": Change("spaces", {"capitals"}),
        "head_share": Change(0.5, {"middle"}),
        "middle_share": Change(0.9, {"tail"}),
        "cutoffs": Change({"*": [500.0, 600.0]}, {"middle"}),
        "keep": Change(["head", "middle"], {"middle"}),
        "max_perplexity": Change(500.0, {"tail"}, PAVED_MODEL),
    },
    {**PAVED_MODEL, "keep": ["head"]},
    "en",
    files={
        "paved.arpa": PAVED,
        "paved.arpa.card.json": card_of(PAVED),
        "roofless.arpa": ROOFLESS,
        "roofless.arpa.card.json": card_of(ROOFLESS),
    },
    touched={"middle", "tail"},
)


def scorer(positive: Literal["keep", "drop"]) -> Make:
    """One that is trained to tell prose, which is positive, from menus."""

    def write(path: Path) -> None:
        from danlu.scorers.model_file import save_scorer
        from small_scorers import small_scorer

        save_scorer(path, small_scorer(positive=positive, recall=1.0))

    return write


CLASSIFIER = Bank(
    {
        "plain": "the river and the village cart",
        "prose": "river night morning water village",
        "menu": "login cart home search menu",
    },
    {
        "name": Change("menus", {"menu"}),
        "model": Change("drop.safetensors", {"plain", "prose", "menu"}, {"model": "keep.safetensors"}),
        "min_score": Change(0.0, {"menu"}),
        "max_score": Change(0.9, {"prose"}),
    },
    {"model": "keep.safetensors", "min_score": 0.3},
    "en",
    {"keep.safetensors": scorer("keep"), "drop.safetensors": scorer("drop")},
    {"menu"},
)
KEYWORDS = Bank(
    {
        "plain": f"{PLAIN} There is one cheap flight.",
        "matches": f"{PLAIN} A cheap flight and free coins.",
        "share": "Free Coins!",
        "other": f"{PLAIN} It was the best loan, the best.",
    },
    {
        "name": Change("offers", {"matches", "share"}),
        "lists": Change({"en": "others.txt"}, {"matches", "share", "other"}),
        "max_matches": Change(2, {"matches"}),
        "max_share": Change(1.0, {"share"}),
    },
    {"lists": {"en": "words.txt"}, "max_matches": 1, "max_share": 0.5},
    "en",
    {"words.txt": "cheap flight\nfree coins\n", "others.txt": "best loan\nthe best\n"},
    {"matches", "share"},
)


def voters(**votes: float) -> Make:
    """A network to which these words make a text good or bad; see save_votes."""

    def write(path: Path) -> None:
        from small_transformers import save_votes

        save_votes(path, votes)

    return write


BAD = {"bad", "bad beginning", "bad window"}
TRANSFORMER = Bank(
    {
        "plain": PLAIN,
        "good": "the night and the field",
        "bad": "the field was under water",
        "morning": "by morning the river rose",
        "bad beginning": "water water by the field and night in the field by the river",
        "bad window": "water in the field and by night water in the field and night night",
    },
    {
        "name": Change("water", BAD),
        "model": Change("mornings", BAD | {"morning"}),
        "label": Change("bad", BAD | {"good"}),
        "min_score": Change(0.01, BAD),
        "max_score": Change(0.9, {"good"}),
        "max_tokens": Change(16, {"bad window"}),
        "windows": Change(2, {"bad beginning"}),
    },
    {"model": "nights", "label": "good", "min_score": 0.4, "max_tokens": 8},
    "en",
    {"nights": voters(night=1.0, water=-1.0), "mornings": voters(morning=-1.0)},
    BAD,
)
PII = Bank(
    {
        "plain": PLAIN,
        "mail": "Write to jane.roe@example.org for it.",
        "phone": "Call +44 20 7946 0958 at noon.",
        "name": "It was Jane Roe who said so.",
        "two": "Write to jane.roe@example.org or john.doe@example.org.",
    },
    {
        "action": Change("count", {"mail", "phone", "name", "two"}),
        "kinds": Change(["email", "name"], {"phone"}),
        "names": Change({"*": "others.txt"}, {"name"}),
        "max_items": Change(1, {"mail", "phone", "name"}, {"names": {"*": "names.txt"}, "action": "drop"}),
        "placeholders": Change({"email": "[mail]"}, {"mail", "two"}),
    },
    {"names": {"*": "names.txt"}},
    "en",
    files={"names.txt": "Jane Roe\n", "others.txt": "Max Mustermann\n"},
)
LEARNED = {
    "perplexity": PERPLEXITY,
    "classifier": CLASSIFIER,
    "keywords": KEYWORDS,
    "transformer": TRANSFORMER,
    "pii": PII,
}
"""The banks by the name of the step."""
