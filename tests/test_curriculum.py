"""Stages on real text: killed in each, resumed, and bit for bit the unbroken run; a domain that comes later."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from danlu.checkpoint.load import load
from danlu.errors import MismatchError
from danlu.monitor.history import read_evaluations, read_metrics
from danlu.recipe import Recipe, parse
from danlu.records import PAD_DOCUMENT
from danlu.tokenizer.codec import Codec
from danlu.tokens.batches import Batches
from danlu.train.assemble import open_data
from danlu.train.limits import Limits
from danlu.workflow.results import block_in_run, explain_run
from danlu.workflow.run import Run, hold, load_run, open_run
from danlu.workflow.stages import conclude, prepare, run_all, train_stage
from small_run import python, recipe_and_plan, tables, write_texts

__all__ = ["python"]

STEPS, SWITCH = 24, 11

SLICE = {"long": {"of": "prose", "where": "bytes > 560"}}
"""Of the small run's prose, cut at 600 bytes, the files that are longer than that."""

STAGES = [
    {"until_tokens": SWITCH * 512 + 100},
    {
        "mixture": {
            "weights": {"code": 0.2, "prose": 0.3, "long": 0.5},
            "order_by": {"long": "-tokens"},
        },
        "tokens": {"packing": "chunk"},
        "train": {"sequence_length": 128},
    },
]

KILLED = """
import os, signal, sys
from pathlib import Path
from danlu.train import loop
from danlu.workflow.run import hold, load_run
from danlu.workflow.stages import train_stage

step_of = loop.train_step

def step(trainer, batch):
    if trainer.counters.step == {step}:
        os.kill(os.getpid(), signal.SIGKILL)
    return step_of(trainer, batch)

loop.train_step = step
run = load_run(Path({run!r}))
with hold(run):
    train_stage(run)
"""


def staged(**changes: Any) -> Recipe:
    mixture = {"weights": {"code": 0.6, "prose": 0.3, "long": 0.1}, "slice": SLICE, "max_epochs": 8.0}
    recipe = tables(train__steps=STEPS, train__device="cpu", checkpoint__every_steps=4, **changes)
    return parse({**recipe, "mixture": mixture, "stage": STAGES})


def data_of(run: Path) -> Batches:
    recipe, plan = recipe_and_plan(run)
    return open_data(recipe, run, Codec.load(run / "tokenizer" / "tokenizer.json"), plan.stages)


def consumed(batches: Batches, first: int, until: int) -> Counter[str]:
    """Tokens of each domain in the steps first..until-1, padding left out."""
    tokens: Counter[str] = Counter()
    for step in range(first, until):
        for sample in batches.step(step).samples:
            tokens[sample.domain] += int((sample.documents != PAD_DOCUMENT).sum())
    return tokens


@pytest.fixture(scope="module")
def curriculum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run with two stages, prepared."""
    base = tmp_path_factory.mktemp("curriculum")
    write_texts(base)
    run = open_run(staged(), base, base / "runs")
    with hold(run):
        prepare(run)
    return run.directory


def test_killed_in_each_stage_and_resumed_is_the_unbroken_run(
    curriculum: Path, tmp_path: Path, python: Callable[[str], int]
) -> None:
    unbroken, killed = tmp_path / "unbroken" / "small", tmp_path / "killed" / "small"
    for directory in (unbroken, killed):
        shutil.copytree(curriculum, directory)
    run = load_run(unbroken)
    with hold(run):
        train_stage(run)
    for step in (6, SWITCH + 7):
        assert python(KILLED.format(step=step, run=str(killed))) == -signal.SIGKILL
    assert python(KILLED.format(step=-1, run=str(killed))) == 0
    one, other = (load(directory / "checkpoints") for directory in (unbroken, killed))
    assert one.step == other.step == STEPS
    assert one.state["samples"] == other.state["samples"] == SWITCH * 8 + (STEPS - SWITCH) * 4
    for part, tensors in one.tensors.items():
        for name, tensor in tensors.items():
            assert tensor.equal(other.tensors[part][name]), name
    conclude(run)
    rows = {row["domain"] for row in read_evaluations(unbroken)}
    assert {"code", "long"} <= rows
    card = (unbroken / "export" / "README.md").read_text(encoding="utf-8")
    assert "long" in card
    losses, again = (
        {row["step"]: row["loss"] for row in read_metrics(directory)} for directory in (unbroken, killed)
    )
    assert losses == again
    assert set(losses) == set(range(1, STEPS + 1))


def test_what_is_explained_is_what_is_consumed(curriculum: Path) -> None:
    explained, batches = explain_run(load_run(curriculum)), data_of(curriculum)
    for stage, (first, until) in enumerate(((0, SWITCH), (SWITCH, STEPS)), 1):
        rows = {row["domain"]: row["tokens"] for row in explained.rows if row["stage"] == stage}
        assert rows == consumed(batches, first, until)
    assert any("'long' in the order of -tokens and ends in mid-epoch" in note for note in explained.notes)
    lengths = {batches.step(step).inputs.shape for step in range(SWITCH)}
    assert lengths == {(8, 64)}
    assert {batches.step(step).inputs.shape for step in range(SWITCH, STEPS)} == {(4, 128)}


def test_slices_part_a_domain(curriculum: Path) -> None:
    documents = data_of(curriculum).documents
    assert documents["long"].byte_counts.min() > 560 >= documents["prose"].byte_counts.max()
    ids = [{documents[name].provenance(n)["id"] for n in range(len(documents[name]))} for name in documents]
    assert sum(map(len, ids)) == len(set().union(*ids))


def with_math(run: Run, base: Path, **changes: Any) -> Run:
    """The same run with one more domain from step 10 on."""
    recipe = tables(train__steps=STEPS, train__device="cpu", tokenizer__sample_bytes=5000, **changes)
    recipe["corpus"]["source"].append({"domain": "math", "paths": ["math/*.txt"]})
    weights = {"code": 0.7, "prose": 0.3, "math": 0.0}
    recipe["mixture"] = {"weights": weights, "max_epochs": 8.0}
    later = {"mixture": {"weights": {"code": 0.4, "prose": 0.2, "math": 0.4}}}
    recipe["stage"] = [{"until_tokens": 10 * 512}, later]
    return open_run(parse(recipe), base, run.directory.parent)


def test_a_domain_comes_to_a_running_training(tmp_path: Path) -> None:
    """Nothing that was seen changes or is repeated; texts and vocabulary of the others stay."""
    write_texts(tmp_path)
    recipe = tables(train__steps=STEPS, train__device="cpu", tokenizer__sample_bytes=5000)
    run = open_run(parse(recipe), tmp_path, tmp_path / "runs")
    run_all(run, Limits(steps=9))
    before = data_of(run.directory)
    seen = [before.step(step).inputs.tolist() for step in range(9)]
    (tmp_path / "math").mkdir()
    for n in range(12):
        text = "\n".join(f"{a} times {b} is {a * b}." for a in range(n, n + 6) for b in range(2, 9))
        (tmp_path / "math" / f"{n}.txt").write_text(text, encoding="utf-8")
    now = with_math(run, tmp_path)
    run_all(now)
    after = data_of(run.directory)
    assert [after.step(step).inputs.tolist() for step in range(9)] == seen
    assert consumed(after, 0, 10)["math"] == 0
    assert consumed(after, 10, STEPS)["math"] > 0
    assert {name: after.fingerprints[name] for name in before.fingerprints} == before.fingerprints
    assert load(run.directory / "checkpoints").step == STEPS
    epochs = {row["domain"]: row["total_epochs"] for row in explain_run(now).rows}
    shown = consumed(after, 0, STEPS)
    assert epochs["code"] == pytest.approx(shown["code"] / after.documents["code"].tokens)
    # Nor may what is trained be told otherwise afterwards.
    with pytest.raises(MismatchError, match="another recipe"), hold(run):
        pass


def test_a_plan_that_is_made_again_keeps_the_order(tmp_path: Path) -> None:
    """Also where max_epochs holds a domain, and only how a batch is cut has changed."""
    write_texts(tmp_path)

    def opened(micro_batch: int) -> Run:
        mixture = {"weights": {"code": 0.9, "prose": 0.1}, "max_epochs": 1.1}
        recipe = {
            **tables(train__steps=STEPS, train__device="cpu", train__micro_batch=micro_batch),
            "mixture": mixture,
        }
        return open_run(parse(recipe), tmp_path, tmp_path / "runs")

    run = opened(2)
    with hold(run):
        prepare(run)
        train_stage(run, Limits(steps=7))
    before, stream = recipe_and_plan(run.directory)[1], data_of(run.directory)
    assert before.stages[0].weights["code"] < 0.9
    again = opened(4)
    with hold(again):
        prepare(again)
        train_stage(again)
    after = recipe_and_plan(run.directory)[1]
    assert (before.micro_batch, after.micro_batch) == (2, 4)
    assert after.stages == before.stages
    following = data_of(run.directory)
    for step in range(STEPS):
        assert following.step(step).inputs.tolist() == stream.step(step).inputs.tolist()


def test_a_blocked_document_is_shown_no_more(curriculum: Path, tmp_path: Path) -> None:
    shutil.copytree(curriculum, tmp_path / "small")
    run = load_run(tmp_path / "small")
    with hold(run):
        train_stage(run, Limits(steps=5))
    whole = data_of(run.directory)
    piece = next(p for sample in whole.step(5).samples for p in sample.pieces)
    name = str(whole.documents[piece.domain].provenance(piece.document)["id"])
    assert block_in_run(run, [name]) == (1, 6)
    blocked = data_of(run.directory)

    def shows(batches: Batches, first: int, until: int) -> bool:
        steps = [sample.pieces for step in range(first, until) for sample in batches.step(step).samples]
        return any((p.domain, p.document) == (piece.domain, piece.document) for some in steps for p in some)

    assert shows(whole, 5, STEPS)
    assert not shows(blocked, 5, STEPS)
    assert [whole.step(n).inputs.tolist() for n in range(5)] == [
        blocked.step(n).inputs.tolist() for n in range(5)
    ]
    with hold(run):
        train_stage(run)
    assert load(run.directory / "checkpoints").step == STEPS
