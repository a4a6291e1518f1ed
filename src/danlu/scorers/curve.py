"""What a scorer reached on its held-out examples, as one page: precision and recall, scores of both sides, its card.

Decides: everything is drawn from the card alone, so that the page of a scorer made elsewhere can be written too.
Guarantees: one self-contained file, without scripts. Costs: some 40 KB.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from danlu.chart.line import Mark, Series, line_chart
from danlu.chart.markup import Html, columns, figure, headline, join, paragraph, table
from danlu.chart.page import Section, page
from danlu.files import write_bytes
from danlu.scorers.model_file import HIGHEST, Card

_CHOICES = (0.5, 0.8, 0.9, 0.95, 0.99)


def write_curve_page(path: Path, card: Card) -> None:
    """Writes the page of a scorer atomically."""
    sides = {"keep": "a high score is kept", "drop": "a high score is dropped"}
    subtitle = f"{card.data.held_out} held-out examples; {sides[card.positive]}"
    text = page(f"danlu: the scorer {card.name}", page_sections(card), subtitle)
    write_bytes(path, text.encode("utf-8", "replace"))


def page_sections(card: Card) -> list[Section]:
    """The parts of the page."""
    return [
        Section("Figures", _figures(card), "Of what was held out; the threshold was chosen there too."),
        Section(
            "Precision and recall",
            columns([_by_threshold(card), _by_recall(card)]) if _has_curve(card) else _none(),
        ),
        Section("Scores and thresholds", columns([_scores(card), _choices(card)])),
        Section("Card", _facts(card)),
    ]


def _figures(card: Card) -> Html:
    chosen = card.threshold
    facts = [(name.replace("_", " "), f"{value:.4f}", "") for name, value in card.metrics.items()]
    threshold = ("threshold", f"{chosen.value:.4g}", f"for {chosen.aim}")
    reached = ("there", f"{chosen.precision:.1%}", f"precision, recall {chosen.recall:.1%}")
    return headline([*facts, threshold, reached])


def _has_curve(card: Card) -> bool:
    return len(card.curve.thresholds) > 1


def _none() -> Html:
    return paragraph("All held-out examples have the same score.", "missing")


def _by_threshold(card: Card) -> Html:
    curve = card.curve
    # From low to high, since a line is named at its last point.
    lines = [
        Series(name, curve.thresholds[::-1], values[::-1], colour)
        for colour, (name, values) in enumerate((("precision", curve.precision), ("recall", curve.recall)))
    ]
    picture = line_chart(
        lines,
        "Precision and recall by threshold",
        "threshold",
        "share",
        marks=[Mark(card.threshold.value, "threshold")],
    )
    return figure(picture, f"From the threshold {card.threshold.value:.4g} on a text counts as found.")


def _by_recall(card: Card) -> Html:
    curve = card.curve
    picture = line_chart(
        [Series("precision", curve.recall, curve.precision)],
        "Precision by recall",
        "recall",
        "precision",
        marks=[Mark(card.threshold.recall, "threshold")],
    )
    base = card.data.held_out_positive / card.data.held_out
    return figure(picture, f"Taking everything has a precision of {base:.1%}.")


def _scores(card: Card) -> Html:
    sides = (card.curve.positive_bins, card.curve.negative_bins)
    width = HIGHEST[card.scale] / len(sides[0])
    middles = [(place + 0.5) * width for place in range(len(sides[0]))]
    lines = [
        Series(name, middles, [count / max(sum(bins), 1) for count in bins], colour)
        for colour, (name, bins) in enumerate(zip(("positive", "negative"), sides, strict=True))
    ]
    picture = line_chart(
        lines, "Scores of both sides", "score", "share", marks=[Mark(card.threshold.value, "threshold")]
    )
    return figure(picture, f"The share of each side's examples in each {width:g} of the score.")


def _choices(card: Card) -> Html:
    curve = card.curve
    rows = []
    for recall in _CHOICES:
        place = int(np.argmax(np.array(curve.recall) >= recall))
        found = (curve.thresholds[place], curve.precision[place], curve.recall[place])
        rows.append([f"{recall:.0%}", f"{found[0]:.4g}", f"{found[1]:.1%}", f"{found[2]:.1%}"])
    return table(
        ["asked recall", "threshold", "precision", "recall"], rows, "Thresholds that reach each recall"
    )


def _facts(card: Card) -> Html:
    data, features = card.data, card.features
    sources = table(
        ["file", "examples"], [[source.name, f"{source.examples:,}"] for source in data.sources], "Examples"
    )
    left = table(
        ["left out", "rows"],
        [[reason.replace("_", " "), f"{count:,}"] for reason, count in data.left_out.items()],
    )
    runs = f"words up to {features.word_ngram}, characters {features.min_characters} to {features.max_characters}"
    rows = [
        ["scale", card.scale],
        ["labels that are positive", f"from {card.cutoff:g} on"],
        ["trained on", f"{data.trained:,} ({data.trained_positive:,} positive)"],
        ["held out", f"{data.held_out:,} ({data.held_out_positive:,} positive)"],
        ["features", f"{runs}, in 2^{features.bucket_bits} buckets"],
        ["characters read of a text", f"{features.read_characters:,}"],
        ["strength (C)", f"{card.strength:g}"],
        ["passes", f"{card.passes} (at most {card.gap:.2%} above the best)"],
        ["examples, SHA-256", data.digest],
        ["weights, SHA-256", card.weights_sha256],
    ]
    return join([table(["", ""], rows, text_columns=2), sources, *([left] if data.left_out else [])])
