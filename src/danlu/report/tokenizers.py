"""Tokenizers side by side on one page: bars of bytes a token and of fertility, and the figures as tables.

Decides: only what tokenizers share is drawn, in the order given, the baselines last. Guarantees: one self-contained
file, without scripts. Costs: some 2 KB for each tokenizer and group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from danlu.chart.bar import Bar, bar_chart
from danlu.chart.markup import Html, columns, figure, join, paragraph, table
from danlu.chart.page import Section, page
from danlu.files import write_bytes
from danlu.tokenizer.measure import Comparison, Figures

HEADER = ("bytes/token", "tokens/word", "unknown", "lossless", "MB/s")


def write_measure_page(path: Path, measured: Sequence[Comparison]) -> None:
    """Writes the page atomically."""
    total = measured[0].total
    subtitle = f"{len(measured)} tokenizers on {total.texts:,} texts, {total.bytes / 1e6:,.1f} MB"
    text = page("danlu: tokenizers side by side", page_sections(measured), subtitle)
    write_bytes(path, text.encode("utf-8", "replace"))


def page_sections(measured: Sequence[Comparison]) -> list[Section]:
    """The parts of the page."""
    sections = [
        Section(
            "In all",
            join([_pictures(measured), _totals(measured)]),
            "The more bytes a token holds, the fewer tokens a text costs; the baselines are for scale.",
        )
    ]
    for title, groups_of in (("By domain", _domains), ("By language", _languages)):
        names = list(groups_of(measured[0]))
        sections.append(
            Section(
                title,
                join([_groups(measured, groups_of, names), *(_drawn(measured, groups_of, names))]),
            )
        )
    notes = [paragraph(f"{one.name}: {one.note}", "note") for one in measured if one.note]
    return [*sections, *([Section("Not to train with", join(notes))] if notes else [])]


def row_of(figures: Figures) -> tuple[str, ...]:
    """The cells under `HEADER`."""
    rates = figures.rates()
    return (
        _number(rates["bytes_per_token"], ".2f"),
        _number(rates["fertility"], ".2f"),
        _number(rates["unknown_rate"], ".3%"),
        _number(rates["lossless_share"], ".1%"),
        _number(rates["encode_mb_per_second"], ".1f"),
    )


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def _domains(one: Comparison) -> Mapping[str, Figures]:
    return one.domains


def _languages(one: Comparison) -> Mapping[str, Figures]:
    return one.languages


def _bars(values: Sequence[tuple[Comparison, Figures]], rate: str, title: str) -> Html:
    rates = [(one, figures.rates()[rate]) for one, figures in values]
    bars = [
        Bar(f"{one.name}, {one.vocab_size:,}", value, f"{value:.2f}")
        for one, value in rates
        if not math.isnan(value)
    ]
    return figure(bar_chart(bars, title), title)


def _pictures(measured: Sequence[Comparison]) -> Html:
    values = [(one, one.total) for one in measured]
    return columns(
        [
            _bars(values, "bytes_per_token", "Bytes a token, with the size of the vocabulary"),
            _bars(values, "fertility", "Tokens a word, with the size of the vocabulary"),
        ]
    )


def _totals(measured: Sequence[Comparison]) -> Html:
    rows = [[one.name, f"{one.vocab_size:,}", *row_of(one.total), one.encoder or "-"] for one in measured]
    return table(["tokenizer", "vocabulary", *HEADER, "encoded by"], rows)


def _groups(
    measured: Sequence[Comparison],
    groups_of: Callable[[Comparison], Mapping[str, Figures]],
    names: Sequence[str],
) -> Html:
    rows = [
        [name, one.name, f"{groups_of(one)[name].bytes / 1e6:.2f}", *row_of(groups_of(one)[name])]
        for name in names
        for one in measured
    ]
    return table(["", "tokenizer", "MB", *HEADER], rows, text_columns=2)


def _drawn(
    measured: Sequence[Comparison],
    groups_of: Callable[[Comparison], Mapping[str, Figures]],
    names: Sequence[str],
) -> list[Html]:
    if len(names) < 2:
        return []
    pictures = []
    for name in names:
        values = [(one, groups_of(one)[name]) for one in measured]
        pictures.append(_bars(values, "bytes_per_token", f"Bytes a token: {name}"))
    return [columns(pictures)]
