"""The report of a run: one self-contained page, made from the run's files alone, at any time, also while it trains.

Guarantees: nothing is loaded but logs and small JSON files, no checkpoint and no torch; a file that is missing or
damaged is said in the section that needs it, and the others are there. Costs: a pass over the logs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from danlu.chart.markup import Html, paragraph
from danlu.chart.page import Section, page
from danlu.errors import DanluError
from danlu.files import read_json, write_bytes
from danlu.monitor.history import read_evaluations, read_events, read_metrics, read_samples
from danlu.plan.plan import read_plan
from danlu.report import curves, tables
from danlu.report.facts import Facts, tally_text
from danlu.report.funnel import load_funnel

T = TypeVar("T")


def write_report(run: Path) -> Path:
    """Writes runs/NAME/report.html and returns its path."""
    facts = read_facts(run)
    path = run / "report.html"
    text = page(f"danlu: {run.name}", sections(facts), subtitle=tally_text(facts))
    write_bytes(path, text.encode("utf-8", "replace"))
    return path


def read_facts(run: Path) -> Facts:
    """What the run's files say; a reason where one cannot be read."""
    problems: dict[str, str] = {}

    def read(name: str, reader: Callable[[Path], T]) -> T | None:
        path = run / name
        if not path.exists():
            problems[name] = f"There is no {name} in this run yet."
            return None
        try:
            return reader(path)
        except (DanluError, OSError, UnicodeDecodeError) as error:
            problems[name] = f"{name} cannot be read: {error}."
            return None

    return Facts(
        name=run.name,
        recipe=read("recipe.toml", lambda path: path.read_text(encoding="utf-8")),
        funnel=read("corpus/funnel.json", lambda _: load_funnel(run)),
        plan=read("plan.json", read_plan),
        metrics=read("metrics.jsonl", lambda _: read_metrics(run)) or [],
        evaluations=read("evaluations.jsonl", lambda _: read_evaluations(run)) or [],
        events=read("events.jsonl", lambda _: read_events(run)) or [],
        samples=read("samples.jsonl", lambda _: read_samples(run)) or [],
        export=read("export/report.json", read_json),
        explained=read("explained.json", read_json),
        demo=read("demo.json", read_json),
        problems=problems,
    )


def sections(facts: Facts) -> list[Section]:
    """The page from top to bottom; each section names the files without which it is empty."""
    plan: list[tuple[str, str, tuple[str, ...], Callable[[Facts], Html]]] = [
        ("Result", "", ("metrics.jsonl",), tables.result),
        ("Training", curves.NOTE, ("metrics.jsonl",), curves.curves),
        ("Evaluation", tables.EVALUATION_NOTE, ("evaluations.jsonl",), tables.evaluation),
        ("Samples", tables.SAMPLES_NOTE, ("samples.jsonl",), tables.samples),
        ("Corpus", tables.CORPUS_NOTE, ("corpus/funnel.json",), tables.corpus),
        ("Mixture", tables.MIXTURE_NOTE, ("plan.json",), tables.mixture),
        ("Foreseen and measured", "", ("plan.json",), tables.foreseen),
        ("What happened", tables.EVENTS_NOTE, ("events.jsonl",), tables.events),
        ("Worst step", "", ("explained.json",), tables.explained),
        ("Export", "", ("export/report.json",), tables.export),
        ("Recipe", "Every key that decided this run.", ("recipe.toml",), tables.recipe),
    ]
    return [Section(title, _body(facts, needs, make), note) for title, note, needs, make in plan]


def _body(facts: Facts, needs: tuple[str, ...], make: Callable[[Facts], Html]) -> Html:
    missing = [facts.problems[name] for name in needs if name in facts.problems]
    if missing:
        return paragraph(" ".join(missing), "missing")
    try:
        return make(facts)
    except (KeyError, TypeError, ValueError) as error:
        # Logs of another version or edited by hand: the other sections are still worth reading.
        return paragraph(f"{', '.join(needs)} is not as this version writes it ({error!r}).", "missing")
