"""The funnel in pictures and tables, for the report of a run and for the page of its corpus alike.

Decides: bars are by step, since reasons may be dozens; a step's share is of what reaches it. Costs: nothing measurable.
"""

from __future__ import annotations

from collections.abc import Iterator

from danlu.account.funnel import Count, Funnel, step_of
from danlu.chart.bar import Bar, bar_chart
from danlu.chart.markup import Html, columns, figure, paragraph, table
from danlu.log import human_bytes

NOTE = (
    "What each step drops, as a share of what reaches it; the first step to find a reason drops a document."
)


def funnel_pictures(funnel: Funnel) -> Html:
    """Bars by documents and by bytes, from what was read to what is kept."""
    pictures = [
        figure(bar_chart(list(_bars(funnel, by)), f"Funnel of the corpus, {by}"), caption)
        for by, caption in (
            ("documents", "By documents."),
            ("bytes", "By bytes as read; what is kept, as it is after cleaning."),
        )
    ]
    return columns(pictures)


def reasons_table(funnel: Funnel) -> Html:
    """Every reason in the order of the steps, the most frequent of a step first."""
    passed = funnel.passed()
    order = {step: place for place, step in enumerate(funnel.steps)}
    reasons = sorted(
        funnel.total_dropped().items(), key=lambda item: (order[step_of(item[0])], -item[1].documents)
    )
    rows = [
        [
            step_of(reason),
            reason.partition(".")[2].replace("_", " "),
            f"{count.documents:,}",
            share(count.documents, passed[step_of(reason)][0].documents),
            human_bytes(count.bytes),
        ]
        for reason, count in reasons
    ]
    if not rows:
        return paragraph("Nothing was dropped.", "missing")
    return table(["step", "reason", "documents", "of those that reach it", "text"], rows, text_columns=2)


def damage_table(funnel: Funnel) -> Html:
    """What could not be read as it should."""
    if not funnel.damaged:
        return paragraph("Everything could be read.", "missing")
    rows = [[reason.replace("_", " "), f"{number:,}"] for reason, number in funnel.damaged.items()]
    return table(["what", "times"], rows)


def share(part: float, whole: float) -> str:
    """A part in percent; nothing of nothing is a dash."""
    return f"{part / whole:.1%}" if whole else "-"


def _bars(funnel: Funnel, by: str) -> Iterator[Bar]:
    read = _amount(funnel.total_read(), by)
    yield Bar("read", read, _said(read, read, by))
    for step, (reached, dropped) in funnel.passed().items():
        if dropped.documents:
            lost = _amount(dropped, by)
            yield Bar(f"dropped by {step}", lost, _said(lost, _amount(reached, by), by), "lost")
    for split in funnel.kept:
        kept = _amount(funnel.total_kept(split), by)
        yield Bar(f"kept for {split}", kept, _said(kept, read, by), "good")


def _amount(count: Count, by: str) -> int:
    return count.documents if by == "documents" else count.bytes


def _said(amount: int, whole: int, by: str) -> str:
    shown = f"{amount:,}" if by == "documents" else human_bytes(amount)
    return f"{shown} ({share(amount, whole)})"
