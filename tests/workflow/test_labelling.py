"""Labels of a run: a sitting that goes on, what they say, examples of them, and a model's instead of a person's."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from danlu.errors import MissingError
from danlu.labels.sample import Draw
from danlu.labels.settings import Endpoint
from danlu.labels.store import read_labels
from danlu.workflow.labelling import (
    Labelling,
    describe_labels,
    export_examples,
    label_by_model,
    label_here,
    open_labelling,
    stored_labelling,
)
from danlu.workflow.run import Run
from small_curated import TEXTS, write_small_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_small_run(tmp_path)


def sit(labelling: Labelling, keys: str, who: str = "mara") -> str:
    return label_here(labelling, who, io.StringIO("\n".join(keys) + "\n"), io.StringIO())


def test_a_sitting_goes_on_where_it_ended(run: Run) -> None:
    labelling = open_labelling(run, Draw(10), "keep")
    assert sorted(document.id for document in labelling.documents) == sorted(TEXTS)
    assert sit(labelling, "kq") == "1 labelled, 1 of 4 in all by mara"
    again = open_labelling(run, Draw(10), "keep")
    assert sit(again, "dkd") == "3 labelled, 4 of 4 in all by mara"
    assert labelling.path == run.directory / "labels" / "labels.jsonl"
    assert [label.label for label in read_labels(labelling.path).labels] == ["keep", "drop", "keep", "drop"]


def test_what_the_labels_say_is_of_all_draws(run: Run, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no document to label yet"):
        stored_labelling(run, "keep")
    assert not (run.directory / "labels").exists()
    sit(open_labelling(run, Draw(2, reason="dropped"), "keep"), "dd")
    assert sit(open_labelling(run, Draw(1, seed=2, reason="kept"), "keep"), "k") == (
        "1 labelled, 1 of 1 in all by mara"
    )
    every = stored_labelling(run, "keep")
    assert len(every.documents) == 3
    assert next(describe_labels(every)).startswith("mara: 3 labels; drop 2")
    assert len(export_examples(every, tmp_path / "out.jsonl").said) == 3


def test_what_the_labels_say(run: Run) -> None:
    labelling = open_labelling(run, Draw(10), "keep")
    sit(labelling, "kkdd")
    (one, worth) = describe_labels(labelling)
    assert one == "mara: 4 labels; drop 2 (15% to 85%), keep 2 (15% to 85%), with 95 % confidence"
    assert "cannot be told yet" in worth
    sit(labelling, "kkkd", "noor")
    said = "\n".join(describe_labels(labelling))
    assert "noor: 4 labels" in said
    assert "kappa" in said


@pytest.mark.parametrize("scale", ["keep", "0-5"])
def test_what_more_labels_would_be_worth_is_measured_with_a_scorer(run: Run, scale: str) -> None:
    documents = open_labelling(run, Draw(1), "keep").documents
    texts = [f"{'good prose of number' if number % 2 else 'bad noise with'} {number}" for number in range(48)]
    many = tuple(
        type(documents[0])(number, str(number), "a", "a.txt", "", "", text, True)
        for number, text in enumerate(texts)
    )
    labelling = Labelling(run.directory / "labels.jsonl", scale, many)  # type: ignore[arg-type]
    sit(labelling, ("dk" if scale == "keep" else "14") * 24)
    assert any(
        line.startswith("held-out error by labels trained on: ") for line in describe_labels(labelling)
    )


def test_examples(run: Run, tmp_path: Path) -> None:
    labelling = open_labelling(run, Draw(10), "0-5")
    sit(labelling, "0123")
    sit(labelling, "1234", "noor")
    assert len(export_examples(labelling, tmp_path / "out.jsonl").said) == 4
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["label"] for row in rows] == [0.5, 1.5, 2.5, 3.5]
    assert {row["text"] for row in rows} == set(TEXTS.values())


def test_a_model_labels(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from danlu.labels.answers import Usage
    from danlu.labels.labeller import Labelled

    def fake(documents, path, scale, settings, prompt, now):  # type: ignore[no-untyped-def]
        assert "{text}" in prompt.text
        return Labelled(3, 1, 5, "400: too long", 0, 2, spent=Usage(1000, 20), cost=0.5, torn=2)

    monkeypatch.setattr("danlu.labels.labeller.label_by_endpoint", fake)
    labelling = open_labelling(run, Draw(10), "keep")
    said = label_by_model(labelling, Endpoint(url="http://127.0.0.1:1/v1", model="m"), None)
    assert said.startswith("3 labelled, 0 were before, 1 answers were no label; 1,000 tokens sent")
    assert "; 5 were refused (the first: 400: too long); " in said
    assert said.endswith("2 were not asked about: a cap was reached; 2 lines were torn by a crash")
