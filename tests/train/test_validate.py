"""Validation text is measured one way, and a domain without any is left out."""

from pathlib import Path

import numpy as np
import pytest

from danlu.monitor.history import read_evaluations
from danlu.recipe import parse
from danlu.tokenizer.codec import Codec
from danlu.train.validate import Validation, held_out
from danlu.workflow.run import open_run
from danlu.workflow.stages import run_all
from small_run import recipe_and_plan, tables, write_texts


def test_kept_batches_measure_the_same_again_and_a_bound_is_kept(prepared: Path) -> None:
    recipe = recipe_and_plan(prepared)[0]
    codec = Codec.load(prepared / "tokenizer" / "tokenizer.json")
    length, documents = recipe.train.sequence_length, held_out(recipe, prepared, codec)
    some = Validation(documents, codec, length, max_tokens=200)
    one = some.measure(lambda batch: np.ones(batch.labels.shape, dtype=np.float32))
    two = some.measure(lambda batch: np.ones(batch.labels.shape, dtype=np.float32))
    everything = Validation(documents, codec, length, max_tokens=None)
    all_of_it = everything.measure(lambda batch: np.ones(batch.labels.shape, dtype=np.float32))
    assert one == two
    assert [result.domain for result in all_of_it] == ["code", "prose"]
    assert all(part.tokens <= 200 < whole.tokens for part, whole in zip(one, all_of_it, strict=True))
    assert all(result.loss == pytest.approx(1.0) for result in all_of_it)
    own = [int(documents[result.domain].byte_counts.sum()) for result in all_of_it]
    assert [result.bytes for result in all_of_it] == own


def test_nothing_held_out_is_said_and_trains_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_texts(tmp_path)
    monkeypatch.chdir(tmp_path)
    recipe = parse(tables(corpus__validation_share=0.0, train__steps=2))
    run = open_run(recipe, tmp_path)
    run_all(run)
    assert "held no text out" in capsys.readouterr().err
    assert read_evaluations(run.directory) == []
    assert (run.directory / "report.html").exists()
