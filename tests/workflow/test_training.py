"""The guard of a training: its record, what may change, what may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from danlu.errors import MismatchError
from danlu.recipe import Recipe, parse
from danlu.workflow.training import (
    decisive_settings,
    record_training,
    recorded_tokens,
    refuse_another_training,
    refuse_other_data,
    remove_training,
)


def recipe(**tables: Any) -> Recipe:
    train = {"tokens": 4096, "sequence_length": 32, "batch_tokens": 128, **tables.pop("train", {})}
    train = {key: value for key, value in train.items() if value is not None}
    source = {"domain": "prose", "paths": ["*.txt"]}
    return parse({"name": "small", "corpus": {"source": [source]}, **tables, "train": train})


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    record_training(recipe(), tmp_path, {"corpus": "abc"}, {"corpus": {"prose": "p"}}, 4096)
    (tmp_path / "checkpoints" / "step-00000000").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        ({"seed": 2}, "seed: 1 -> 2"),
        ({"model": {"size": 1000}}, "model.size"),
        ({"train": {"tokens": 8192}}, "train.tokens: 4096 -> 8192"),
        ({"train": {"tokens": None, "minutes": 3}}, "train.minutes: None -> 3"),
        ({"optimizer": {"kind": "muon"}}, "optimizer.kind"),
        ({"mixture": {"weights": {"prose": 1.0}}}, "mixture.weights"),
        ({"tokens": {"packing": "chunk"}}, "tokens.packing"),
    ],
)
def test_what_decides_the_weights_is_refused_by_name(trained: Path, tables: dict, named: str) -> None:
    with pytest.raises(MismatchError) as error:
        refuse_another_training(recipe(**tables), trained)
    assert named in str(error.value)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"train": {"micro_batch": 2}},
        {"checkpoint": {"keep_last": 9}},
        {"evaluate": {"every_steps": 1}},
        {"name": "other"},
    ],
)
def test_what_does_not_decide_the_weights_may_change(trained: Path, tables: dict) -> None:
    refuse_another_training(recipe(**tables), trained)


def test_nothing_is_refused_before_the_first_save(tmp_path: Path) -> None:
    record_training(recipe(), tmp_path, {}, {}, 4096)
    refuse_another_training(recipe(seed=2), tmp_path)
    refuse_other_data(tmp_path, "corpus", "other", {}, "because")
    assert recorded_tokens(tmp_path) is None


def test_a_stage_that_came_out_different_is_refused_with_the_reason(trained: Path) -> None:
    refuse_other_data(trained, "corpus", "abc", {}, "input a.txt changed")
    with pytest.raises(MismatchError, match=r"another corpus[\s\S]*input a.txt changed[\s\S]*--fresh"):
        refuse_other_data(trained, "corpus", "xyz", {"prose": "p"}, "input a.txt changed")


def test_a_domain_may_come_to_a_stage_whose_others_are_the_same(trained: Path) -> None:
    refuse_other_data(trained, "corpus", "xyz", {"math": "m", "prose": "p"}, "input m.txt is new")
    for domains in ({"math": "m", "prose": "q"}, {"math": "m"}, {"prose": "q"}, {}):
        with pytest.raises(MismatchError, match="another corpus"):
            refuse_other_data(trained, "corpus", "xyz", domains, "input m.txt is new")


def trained_until(run: Path, step: int) -> None:
    (run / "checkpoints" / f"step-{step:08d}").mkdir(parents=True)


def test_stages_may_change_what_is_not_trained(trained: Path) -> None:
    """128 tokens a step: after ten steps the first 1,280 tokens must stay as they were."""
    trained_until(trained, 10)
    longer = {"train": {"sequence_length": 64}, "mixture": {"weights": {"prose": 1.0}}}
    refuse_another_training(recipe(stage=[{"until_tokens": 1280}, longer]), trained)
    refuse_another_training(recipe(stage=[{"until_tokens": 1500}, longer]), trained)
    with pytest.raises(MismatchError) as error:
        refuse_another_training(recipe(stage=[{"until_tokens": 1100}, longer]), trained)
    said = str(error.value)
    assert "steps 9 to 10: train.sequence_length: 32 -> 64" in said
    assert "10 steps are trained" in said
    assert "until_tokens = 1280 or more" in said


def test_a_source_of_a_new_domain_may_come_with_a_stage(trained: Path) -> None:
    trained_until(trained, 10)
    sources = [{"domain": name, "paths": [f"{name}*.txt"]} for name in ("prose", "math")]
    old = {"domain": "prose", "paths": ["*.txt"]}
    stages = [{"until_tokens": 1280, "mixture": {"weights": {"prose": 1.0, "math": 0}}}, {}]
    with pytest.raises(MismatchError, match=r"corpus.source.prose.paths"):
        refuse_another_training(recipe(corpus={"source": sources}), trained)
    refuse_another_training(recipe(corpus={"source": [old, sources[1]]}), trained)
    with pytest.raises(MismatchError, match="10 steps are trained"):  # weights where there were none
        refuse_another_training(recipe(corpus={"source": [old, sources[1]]}, stage=stages), trained)


def test_the_record_of_a_training_is_not_overwritten_by_another(trained: Path) -> None:
    with pytest.raises(MismatchError, match="seed"):
        record_training(recipe(seed=2), trained, {}, {}, 1)
    assert recorded_tokens(trained) == 4096
    refuse_another_training(recipe(), trained)


def test_checkpoints_without_a_record_are_refused(trained: Path) -> None:
    (trained / "training.json").unlink()
    with pytest.raises(MismatchError, match="not there to say"):
        refuse_another_training(recipe(), trained)


def test_removing_a_training_names_what_went(trained: Path) -> None:
    (trained / "tokens").mkdir()
    assert remove_training(trained) == ["checkpoints", "training.json"]
    assert [path.name for path in trained.iterdir()] == ["tokens"]
    assert remove_training(trained) == []


def test_the_decisive_settings_are_json_without_free_keys() -> None:
    settings = decisive_settings(recipe(train={"micro_batch": 2}))
    assert settings["train"] == {"tokens": 4096, "sequence_length": 32, "batch_tokens": 128}
    assert {"corpus", "tokenizer", "tokens", "mixture", "model", "optimizer"} <= set(settings)
    assert not {"monitor", "checkpoint", "evaluate", "name"} & set(settings)


GOLDEN = Path(__file__).parents[1] / "golden" / "training_v1.json"
"""The record of `recipe()` as it was first written; keys that came later are not in it, and it is never renewed."""


def test_a_record_that_is_older_than_some_keys_is_still_the_same_training(tmp_path: Path) -> None:
    (tmp_path / "training.json").write_bytes(GOLDEN.read_bytes())
    (tmp_path / "checkpoints" / "step-00000000").mkdir(parents=True)
    refuse_another_training(recipe(), tmp_path)
    with pytest.raises(MismatchError, match="seed: 1 -> 2"):
        refuse_another_training(recipe(seed=2), tmp_path)


def test_a_key_that_was_not_known_then_had_its_default(trained: Path) -> None:
    path = trained / "training.json"
    record = json.loads(path.read_text())
    settings = record["settings"]
    del (
        settings["loss"],
        settings["optimizer"]["weight_decay"],
        settings["corpus"]["step"][1]["min_characters"],
    )
    del settings["corpus"]["source"][0]["encoding"], settings["seed"]
    path.write_text(json.dumps(record))
    refuse_another_training(recipe(), trained)
    with pytest.raises(MismatchError, match=r"optimizer.weight_decay: 0.1 -> 0.2"):
        refuse_another_training(recipe(optimizer={"weight_decay": 0.2}), trained)
    source = {"domain": "prose", "paths": ["*.txt"], "encoding": "gb18030"}
    with pytest.raises(MismatchError, match=r"corpus\.source\.prose\.encoding: .utf-8. -> .gb18030."):
        refuse_another_training(recipe(corpus={"source": [source]}), trained)
