"""What a training will read of each domain, on one page: a picture of the shares over the tokens, epochs, the figures.

Decides: the domain that gives most is at the bottom of the picture; all figures are as given. Guarantees: one
self-contained file, without scripts. Costs: some 300 bytes a domain and stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from danlu.chart.bar import Bar, bar_chart
from danlu.chart.markup import Html, columns, figure, table
from danlu.chart.page import Section, page
from danlu.chart.stack import Band, stack_chart
from danlu.files import write_bytes
from danlu.log import human

Rows = Sequence[Mapping[str, Any]]

HEADER = (
    *("stage", "domain", "from", "until", "share", "tokens", "samples", "epochs", "epochs so far"),
    *("has tokens", "documents", "worth"),
)
WORTH = (
    "Repeated text teaches less each time: so many passes are worth as many times the domain's text in new text "
    "(Muennighoff et al. 2023, fitted on English web text)."
)


def write_mixture_page(path: Path, rows: Rows) -> None:
    """Writes the page atomically.

    A row is of one domain in one stage: stage (from 1), first_token, until_token, domain, share, tokens, samples,
    epochs (in the stage), total_epochs (up to its end), unique_tokens, documents, repeat_value (effective tokens after
    it over unique ones). A domain that a stage does not read may be missing there.
    """
    text = page("danlu: the mixture", page_sections(rows), _subtitle(rows))
    write_bytes(path, text.encode("utf-8", "replace"))


def page_sections(rows: Rows) -> list[Section]:
    """The parts of the page."""
    return [
        Section("Shares and epochs", columns([_picture(rows), _epochs(rows)]), WORTH),
        Section("Figures", _figures(rows)),
    ]


def _subtitle(rows: Rows) -> str:
    stages, domains = len(_stages(rows)), len(_domains(rows))
    words = [f"{human(rows[-1]['until_token'])} tokens", f"{domains} domain{'s' * (domains > 1)}"]
    return ", ".join([*words, *([f"{stages} stages"] if stages > 1 else [])])


def _stages(rows: Rows) -> dict[int, Mapping[str, Any]]:
    """A row of each stage, in order."""
    found: dict[int, Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: int(row["stage"])):
        found.setdefault(row["stage"], row)
    return found


def _domains(rows: Rows) -> list[str]:
    """By the tokens that they give over the run, most first."""
    tokens: dict[str, int] = {}
    for row in rows:
        tokens[row["domain"]] = tokens.get(row["domain"], 0) + row["tokens"]
    return sorted(tokens, key=lambda domain: (-tokens[domain], domain))


def _picture(rows: Rows) -> Html:
    stages = _stages(rows)
    edges = [next(iter(stages.values()))["first_token"], *(row["until_token"] for row in stages.values())]
    shares = {(row["stage"], row["domain"]): row["share"] for row in rows}
    bands = [
        Band(domain, [shares.get((stage, domain), 0.0) for stage in stages]) for domain in _domains(rows)
    ]
    title = "Share of each domain in the tokens" + (", by stage" if len(stages) > 1 else "")
    return figure(stack_chart(edges, bands, title, "tokens"), title)


def _epochs(rows: Rows) -> Html:
    # The last row of a domain holds what it comes to in the whole run.
    last = {row["domain"]: row for row in sorted(rows, key=lambda row: int(row["stage"]))}
    title = "Passes over its text in the whole run, and what they are worth"
    bars = [
        Bar(
            domain,
            last[domain]["total_epochs"],
            f"{last[domain]['total_epochs']:.2f}, worth {last[domain]['repeat_value']:.2f}",
        )
        for domain in _domains(rows)
    ]
    return figure(bar_chart(bars, title), title)


def _figures(rows: Rows) -> Html:
    order = {domain: number for number, domain in enumerate(_domains(rows))}
    cells = [
        [
            str(row["stage"]),
            row["domain"],
            human(row["first_token"]),
            human(row["until_token"]),
            f"{row['share']:.2%}",
            f"{row['tokens']:,}",
            f"{row['samples']:,}",
            f"{row['epochs']:.2f}",
            f"{row['total_epochs']:.2f}",
            f"{row['unique_tokens']:,}",
            f"{row['documents']:,}",
            f"{row['repeat_value']:.2f}",
        ]
        for row in sorted(rows, key=lambda row: (int(row["stage"]), order[row["domain"]]))
    ]
    return table(HEADER, cells, text_columns=2)
