"""A run with a built corpus of four documents and steps of the recipe, as its commands find it."""

from __future__ import annotations

from pathlib import Path

from danlu.account.funnel import funnel_of
from danlu.account.ledger import Row, excerpt_of, ledger_path
from danlu.account.writing import new_ledger
from danlu.files import write_json
from danlu.read.store import part_path, write_part
from danlu.recipe import parse
from danlu.records import Document
from danlu.words.text import Text
from danlu.workflow.curation import account_steps
from danlu.workflow.run import Run, claim, open_run
from danlu.workflow.stage import Stage, write_manifest

TEXTS = {
    "long": "A line of words.\nAnother line of words.",
    "short": "Words.",
    "tiny": "W.",
    "one": "aaaaaaaaaaaaaaaa",
}


def recipe(**length: int) -> dict:
    """A recipe that keeps what has 12 characters or more, and more than one letter."""
    steps = [{"use": "length", "min_characters": 12, **length}, {"use": "repetition"}, {"use": "exact"}]
    source = {"domain": "a", "paths": ["a.txt"]}
    return {"name": "small", "corpus": {"source": [source], "step": steps}, "train": {"steps": 1}}


def write_small_run(home: Path) -> Run:
    """runs/small under `home`; no text lies where the recipe says."""
    run = open_run(parse(recipe()), home, home / "runs")
    corpus = run.directory / "corpus"
    (corpus / "ledger").mkdir(parents=True)
    claim(run)
    steps = account_steps(run.recipe.corpus.step)
    columns = [column for step in steps for column in step.columns]
    with new_ledger(ledger_path(corpus, 0), columns) as writer:
        for number, (name, text) in enumerate(TEXTS.items()):
            values = [step.module.measure(Text(text), step.settings).values for step in steps if step.module]
            reasons = [step.reason(measured) for step, measured in zip(steps, values, strict=False)]
            reason = next(filter(None, reasons), "")
            flat = tuple(value for measured in values for value in measured)
            kept, excerpt = (0, excerpt_of(text)) if reason else (len(text), "")
            writer.add(
                Row(
                    *(number, name, "a", "a.txt", 0, len(text), len(text), "train"),
                    kept_bytes=kept,
                    step=reason.partition(".")[0],
                    reason=reason,
                    excerpt=excerpt,
                    values=flat,
                )
            )
    write_part(part_path(corpus, "train", "a", 0), [Document("long", TEXTS["long"], "a.txt", "a", "long")])
    funnel = funnel_of(corpus, ["a"], ("id", *(step.name for step in steps)), {})
    write_json(corpus / "funnel.json", funnel.to_json())
    settings = run.recipe.corpus.model_dump(mode="json", exclude_none=True)
    write_manifest(Stage("corpus", corpus, settings, {}))
    return run
