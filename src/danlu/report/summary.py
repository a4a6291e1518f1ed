"""What a run has to say for itself, in the terminal, from its files alone.

The first four lines are the promises, each measured: foreseen, survived, explained, exported. Then the figures, one
prompt at four ages of the model, where things are, and what to type next. Guarantee: what was not measured is said
to be missing, never made up. No torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from danlu.log import human, human_bytes, human_seconds
from danlu.report.facts import Facts, Row, median_speed, newest_by_domain, peak_memory
from danlu.report.tables import verdicts
from danlu.report.write import read_facts

_AGES = (0.0, 0.1, 0.5, 1.0)
_SHOWN_CHARACTERS = 100
_SHOWN_DOCUMENTS = 3


def summarise(run: Path) -> str:
    """The summary of a run directory, as text."""
    facts = read_facts(run)
    lines = [
        ("foreseen", _foreseen(facts)),
        ("survived", _survived(facts)),
        ("explained", _explained(facts)),
        ("exported", _exported(facts, run)),
        *_figures(facts),
        *_samples(facts),
        ("report", str(run / "report.html")),
        *_time(facts),
        *_next(facts, run),
    ]
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:<{width}}{text}".rstrip() for name, text in lines)


def _foreseen(facts: Facts) -> str:
    plan, last = facts.plan, facts.metrics[-1] if facts.metrics else None
    if plan is None or plan.expected_seconds is None or last is None:
        return "nothing yet: there is no plan, or no training"
    expected = plan.expected_seconds * last["step"] / plan.steps
    text = f"training {human_seconds(expected)} predicted, {human_seconds(last['seconds'])} taken"
    peak = peak_memory(facts)
    if peak is not None:
        predicted = human_bytes(plan.memory.total + plan.process_bytes)
        text += f"; memory {predicted} predicted, {human_bytes(peak)} at the peak"
    return text


def _survived(facts: Facts) -> str:
    killed = [event for event in facts.events if event["kind"] == "killed"]
    replays = [event for event in facts.events if event["kind"] == "replayed"]
    resumed = [event["step"] for event in facts.events if event["kind"] == "resumed" and event["step"]]
    if not replays:
        return "nothing: the training was not interrupted" if not killed else "a kill with no step to replay"
    steps, equal = (sum(event[name] for event in replays) for name in ("steps", "equal"))
    after = f"SIGKILL at step {killed[-1]['step']:,}" if killed else "an interruption"
    return f"{after}, resumed at step {resumed[-1]:,}: {equal} of {steps} replayed losses equal bit for bit"


def _explained(facts: Facts) -> str:
    explained = facts.explained
    if explained is None or explained["step"] is None:
        return "nothing yet: too few steps to tell the worst one"
    documents = ", ".join(
        f"{document['source']} ({document['loss']:.2f} nats a token)"
        for document in explained["documents"][:_SHOWN_DOCUMENTS]
    )
    more = len(explained["documents"]) - _SHOWN_DOCUMENTS
    rest = f" and {more} more" if more > 0 else ""
    return f"the worst step is {explained['step']:,}, loss {explained['loss']:.2f}; it saw {documents}{rest}"


def _exported(facts: Facts, run: Path) -> str:
    if facts.export is None:
        return "nothing yet"
    difference = facts.export["max_logit_difference"]
    what = f"{run / 'export'}, {facts.export['architecture']}"
    return f"{what}: logits differ by {difference:.1e} from the trained network"


def _figures(facts: Facts) -> Iterator[tuple[str, str]]:
    if facts.funnel is not None:
        read, kept = facts.funnel.total_read(), facts.funnel.total_kept()
        yield "documents", f"{kept.documents:,} of {read.documents:,} kept, {human_bytes(kept.bytes)}"
    if facts.plan is not None:
        yield "parameters", human(facts.plan.parameters)
    if facts.metrics:
        last, speed = facts.metrics[-1], median_speed(facts)
        share = f" of {human(facts.plan.tokens)}" if facts.plan else ""
        yield "tokens", f"{human(last['tokens'])}{share}, {human(speed or 0)} tokens/s"
    rows = newest_by_domain(facts)
    for row, verdict in zip(rows, verdicts(rows), strict=False):
        yield "bits per byte", f"{row['domain']} {row['bits_per_byte']:.3f}. {verdict}"


def _samples(facts: Facts) -> Iterator[tuple[str, str]]:
    """One prompt as the model continued it at four ages; the nearest sample to each is shown with its own age."""
    rows = [row for row in facts.samples if row["prompt"] == facts.samples[0]["prompt"]]
    shown: list[Row] = []
    for age in _AGES:
        nearest = min(rows, key=lambda row: abs(row["share"] - age), default=None)
        if nearest is not None and nearest not in shown:
            shown.append(nearest)
    for row in shown:
        text = " ".join(f"{row['prompt']}{row['text']}".split())
        yield f"at {row['share']:.0%}", text[:_SHOWN_CHARACTERS]


def _time(facts: Facts) -> Iterator[tuple[str, str]]:
    if facts.demo is not None:
        yield "time", f"{human_seconds(facts.demo['seconds'])} in all, from the text to this line"


def _next(facts: Facts, run: Path) -> Iterator[tuple[str, str]]:
    prompt = facts.samples[0]["prompt"] if facts.samples else "Once"
    yield "next", f'danlu generate {run} "{prompt}"'
    yield "", f"danlu inspect {run} --step {facts.metrics[-1]['step'] if facts.metrics else 1}"
    yield "", "danlu run FOLDER        (your own text: a folder as it is; a subfolder is a domain)"
