"""The funnel in pictures and tables, for the report of a run and for the page of its corpus alike.

Decides: bars are by step, since reasons may be dozens; a step's share is of what reaches it. Costs: nothing measurable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from danlu.account.funnel import Count, Counts, Funnel, from_json, step_of
from danlu.chart.bar import Bar, bar_chart
from danlu.chart.markup import Html, columns, figure, paragraph, table
from danlu.files import read_json
from danlu.log import human, human_bytes

NOTE = (
    "What each step drops, as a share of what reaches it; the first step to find a reason drops a document. "
    "Tokens are bytes by what a token of the domain was measured to hold."
)


def load_funnel(run: Path) -> Funnel:
    """The funnel of a run's corpus, with tokens once they are built of it. Raises DamagedError where it is damaged."""
    funnel = from_json(read_json(run / "corpus" / "funnel.json"))
    path = run / "tokens" / "manifest.json"
    if not path.is_file():
        return funnel
    tokens, size = Counter[str](), Counter[str]()
    tokenised: dict[str, Counts] = {}
    for row in read_json(path)["facts"]["domains"]:
        tokens[row["domain"]] += row["tokens"]
        size[row["domain"]] += row["bytes"]
        tokenised.setdefault(row["split"], {})[row["domain"]] = Count(row["documents"], row["bytes"])
    if tokenised != funnel.kept:
        # They are of an earlier corpus, and will be built anew.
        return funnel
    rates = {domain: size[domain] / count for domain, count in tokens.items() if count and size[domain]}
    return funnel.in_tokens(rates) if rates else funnel


def funnel_pictures(funnel: Funnel) -> Html:
    """Bars by documents and by bytes, and by tokens where they are known, from what was read to what is kept."""
    pictures = [
        figure(bar_chart(list(_bars(funnel, by)), f"Funnel of the corpus, {by}"), caption)
        for by, caption in (
            ("documents", "By documents."),
            ("bytes", "By bytes as read; what is kept, as it is after cleaning."),
            ("tokens", "By tokens, about."),
        )
        if by != "tokens" or funnel.total_read().tokens
    ]
    return columns(pictures)


def reasons_table(funnel: Funnel) -> Html:
    """Every reason in the order of the steps, the most frequent of a step first."""
    passed = funnel.passed()
    order = {step: place for place, step in enumerate(funnel.steps)}
    reasons = sorted(
        funnel.total_dropped().items(), key=lambda item: (order[step_of(item[0])], -item[1].documents)
    )
    tokens = bool(funnel.total_read().tokens)
    rows = [
        [
            step_of(reason),
            reason.partition(".")[2].replace("_", " "),
            f"{count.documents:,}",
            share(count.documents, passed[step_of(reason)][0].documents),
            *amounts(count, tokens),
        ]
        for reason, count in reasons
    ]
    if not rows:
        return paragraph("Nothing was dropped.", "missing")
    header = ["step", "reason", "documents", "of those that reach it", "text"]
    return table(header + ["tokens"] * tokens, rows, text_columns=2)


def cuts_table(funnel: Funnel) -> Html:
    """What steps took out of the documents that are kept; empty where none took anything."""
    cut, kept = funnel.total_cut(), funnel.total_kept()
    tokens = bool(funnel.total_read().tokens)
    rows = [
        [step, f"{count.documents:,}", share(count.documents, kept.documents), *amounts(count, tokens)]
        for step, count in cut.items()
    ]
    if not rows:
        return Html("")
    header = ["cut out of what is kept by", "documents", "of those kept", "text"]
    return table(header + ["tokens"] * tokens, rows)


def amounts(count: Count, tokens: bool) -> list[str]:
    """The cells of a count's text, and of its tokens where the table has them."""
    return [human_bytes(count.bytes), human(count.tokens)] if tokens else [human_bytes(count.bytes)]


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
    cut = funnel.total_cut() if by != "documents" else {}
    for step, (reached, dropped) in funnel.passed().items():
        if dropped.documents:
            lost = _amount(dropped, by)
            yield Bar(f"dropped by {step}", lost, _said(lost, _amount(reached, by), by), "lost")
        if (taken := _amount(cut.get(step, Count()), by)) > 0:
            yield Bar(f"cut by {step}", taken, _said(taken, _amount(reached, by), by), "lost")
    for split in funnel.kept:
        kept = _amount(funnel.total_kept(split), by)
        yield Bar(f"kept for {split}", kept, _said(kept, read, by), "good")


def _amount(count: Count, by: str) -> float:
    return {"documents": count.documents, "bytes": count.bytes, "tokens": count.tokens}[by]


def _said(amount: float, whole: float, by: str) -> str:
    shown = {"documents": f"{amount:,.0f}", "bytes": human_bytes(amount), "tokens": human(amount)}[by]
    return f"{shown} ({share(amount, whole)})"
