"""Labels of a run's documents: a sitting, an endpoint's answers, how far labels agree, examples for a scorer.

Decides: all of it lies in runs/NAME/labels: the draws with their texts, labels.jsonl, prompts and an endpoint's
answers. What the labels say, and examples, are of all draws together.
Costs: those of labels/; what more labels are worth takes some trainings of a small scorer, seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import numpy as np

from danlu.labels.sample import Draw, Drawn, open_draw, stored_draws
from danlu.labels.settings import Endpoint, Scale
from danlu.labels.store import VALUES, Joined, join_labels, read_labels, standing, write_examples
from danlu.labels.worth import Example, describe, measure_worth, rate_interval
from danlu.workflow.run import Run

_SMALL_BUCKET_BITS = 18
"""Enough features for some hundred texts."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """The documents that are labelled on a scale, and where the labels go."""

    path: Path
    scale: Scale
    documents: tuple[Drawn, ...]


def open_labelling(run: Run, wanted: Draw, scale: Scale) -> Labelling:
    """The run's draw of this way, made where there is none."""
    folder = run.directory / "labels"
    documents = open_draw(folder, run.directory / "corpus", wanted)
    return Labelling(folder / "labels.jsonl", scale, tuple(documents))


def stored_labelling(run: Run, scale: Scale) -> Labelling:
    """The documents of all draws of the run; none is made. Raises MissingError where there is none."""
    folder = run.directory / "labels"
    return Labelling(folder / "labels.jsonl", scale, tuple(stored_draws(folder)))


def label_here(labelling: Labelling, who: str, source: TextIO, sink: TextIO) -> str:
    """One labeller's sitting at a terminal; returns what was done."""
    from danlu.labels.session import Sitting, label_documents
    from danlu.labels.terminal import open_console

    sitting = Sitting(labelling.path, labelling.scale, who, lambda: datetime.now(UTC))
    with open_console(source, sink) as console:
        tally = label_documents(labelling.documents, sitting, console)
    torn = f"; {tally.torn} lines were torn by a crash" if tally.torn else ""
    return f"{tally.labelled} labelled, {tally.done} of {tally.total} in all by {who}{torn}"


def label_by_model(labelling: Labelling, settings: Endpoint, prompt: Path | None) -> str:
    """The labels of an endpoint; returns what was done and spent."""
    from danlu.labels.labeller import label_by_endpoint
    from danlu.labels.prompt import read_prompt

    asked = read_prompt(prompt, labelling.scale)
    done = label_by_endpoint(
        labelling.documents, labelling.path, labelling.scale, settings, asked, lambda: datetime.now(UTC)
    )
    spent = done.spent
    said = [
        f"{done.labelled} labelled, {done.known} were before, {done.unreadable} answers were no label",
        f"{spent.sent:,} tokens sent and {spent.received:,} received in all, {done.cost:.2f} by the prices given",
    ]
    if done.refused:
        said.append(f"{done.refused} were refused (the first: {done.refusal})")
    if done.left:
        said.append(f"{done.left} were not asked about: a cap was reached")
    if done.torn:
        said.append(f"{done.torn} lines were torn by a crash")
    return "; ".join(said)


def describe_labels(labelling: Labelling) -> Iterator[str]:
    """What was said how often, how far the labellers agree, and what more labels would be worth."""
    from danlu.labels.agreement import describe as describe_agreement
    from danlu.labels.agreement import measure_agreement

    given = standing(read_labels(labelling.path).labels, labelling.scale)
    for who, own in given.items():
        counts = Counter(label.label for label in own.values())
        total = sum(counts.values())
        shares = []
        for value in VALUES[labelling.scale]:
            low, high = rate_interval(counts[value], total)
            shares.append(f"{value} {counts[value]} ({low:.0%} to {high:.0%})")
        yield f"{who}: {total} labels; {', '.join(shares)}, with 95 % confidence"
    if len(given) > 1:
        yield from describe_agreement(measure_agreement(given, labelling.scale))
    joined = join_labels((document.text for document in labelling.documents), given, labelling.scale)
    examples = [Example(said.text, _number(said.label)) for said in joined.said]
    yield from describe(measure_worth(examples, lambda train, test: _error(train, test, labelling.scale)))


def _error(train: Sequence[Example], test: Sequence[Example], scale: Scale) -> float:
    """What a small scorer of the first gets wrong on the second."""
    from danlu.scorers.examples import Examples
    from danlu.scorers.settings import Features, Training
    from danlu.scorers.train import held_out_error

    settings = Training(
        scale="0-5" if scale == "0-5" else "binary", features=Features(bucket_bits=_SMALL_BUCKET_BITS)
    )
    learned, asked = (
        Examples(tuple(one.text for one in some), np.array([one.label for one in some]), (), {})
        for some in (train, test)
    )
    return held_out_error(learned, asked, settings)


def _number(label: str | float) -> float:
    return float(label == "keep") if isinstance(label, str) else float(label)


def export_examples(labelling: Labelling, path: Path) -> Joined:
    """Writes the labelled texts as examples for `danlu corpus train-classifier`."""
    given = standing(read_labels(labelling.path).labels, labelling.scale)
    joined = join_labels((document.text for document in labelling.documents), given, labelling.scale)
    write_examples(path, joined)
    return joined
