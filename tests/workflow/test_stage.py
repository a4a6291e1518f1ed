"""When a stage is done, why it is not, and what a failed build leaves behind."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from danlu.errors import MismatchError
from danlu.files import restore_directories
from danlu.tokenizer.settings import TokenizerSettings
from danlu.workflow.stage import (
    NEVER,
    Stage,
    domain_digests,
    facts_of,
    output_digest,
    read_manifest,
    rebuilt,
    remove_damaged,
    why_stale,
    write_manifest,
)


def accept(_outputs: str, _domains: Mapping[str, str]) -> None:
    """Refuses nothing."""


def build(stage: Stage, content: str = "hello", accept_=accept) -> None:
    with rebuilt(stage, accept_) as (directory, facts):
        (directory / "sub").mkdir()
        (directory / "sub" / "out.txt").write_text(content)
        facts["letters"] = len(content)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage("tokenizer", tmp_path / "tokenizer", {"vocab_size": 4096}, {"corpus": "abc"})


def test_a_stage_is_stale_until_it_is_built_and_then_not(stage: Stage) -> None:
    assert why_stale(stage) == NEVER
    build(stage)
    assert why_stale(stage) is None
    assert facts_of(stage) == {"letters": 5}


def test_a_changed_setting_is_named_with_both_values(stage: Stage) -> None:
    build(stage)
    assert why_stale(replace(stage, settings={"vocab_size": 8192})) == "vocab_size: 4096 -> 8192"


def test_further_changes_are_counted(stage: Stage) -> None:
    build(stage)
    changed = replace(stage, settings={"vocab_size": 8192, "kind": "bpe", "a": 1})
    assert why_stale(changed) == "a: None -> 1 (and 2 more)"


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"corpus": "xyz"}, "input corpus changed"),
        ({"corpus": "abc", "texts/a.md": [1, 2]}, "input texts/a.md is new"),
        ({}, "input corpus is gone"),
    ],
)
def test_a_changed_input_is_named(stage: Stage, inputs: dict, why: str) -> None:
    build(stage)
    assert why_stale(replace(stage, inputs=inputs)) == why


def test_a_missing_output_is_noticed(stage: Stage) -> None:
    build(stage)
    (stage.directory / "sub" / "out.txt").unlink()
    assert why_stale(stage) == "output sub/out.txt is missing"


@pytest.mark.parametrize("content", ["hallo", "hello!", ""])
def test_a_damaged_output_is_noticed(stage: Stage, content: str) -> None:
    build(stage)
    (stage.directory / "sub" / "out.txt").write_text(content)
    os.utime(stage.directory / "sub" / "out.txt", ns=(1, 1))
    assert "output sub/out.txt is damaged" in str(why_stale(stage))


def test_a_copied_output_with_the_same_content_is_not_stale(stage: Stage) -> None:
    build(stage)
    os.utime(stage.directory / "sub" / "out.txt", ns=(1, 1))
    assert why_stale(stage) is None


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 99}'])
def test_an_unreadable_or_foreign_manifest_counts_as_never_built(stage: Stage, content: str) -> None:
    build(stage)
    stage.manifest_path.write_text(content)
    assert why_stale(stage) == NEVER
    assert output_digest(stage) == ""


def test_equal_outputs_have_an_equal_digest_whenever_they_were_written(stage: Stage) -> None:
    build(stage)
    first = output_digest(stage)
    build(replace(stage, settings={"vocab_size": 1}))
    assert output_digest(stage) == first
    build(stage, "other")
    assert output_digest(stage) != first


def test_a_failed_build_leaves_the_old_outputs_whole(stage: Stage) -> None:
    build(stage)

    def fail() -> None:
        with rebuilt(stage, accept) as (directory, _):
            (directory / "half.txt").write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert why_stale(stage) is None
    assert [path.name for path in stage.directory.parent.iterdir()] == ["tokenizer"]


def test_refused_outputs_change_nothing(stage: Stage) -> None:
    build(stage)
    before = output_digest(stage)

    def refuse(outputs: str, _domains: Mapping[str, str]) -> None:
        assert outputs != before
        raise MismatchError("no")

    with pytest.raises(MismatchError):
        build(stage, "other", refuse)
    assert output_digest(stage) == before
    assert (stage.directory / "sub" / "out.txt").read_text() == "hello"


def test_what_a_crash_left_is_removed_by_the_next_build(stage: Stage) -> None:
    leftover = stage.directory.with_name(".tmp-tokenizer")
    leftover.mkdir(parents=True)
    (leftover / "sub").write_text("in the way")
    build(stage)
    assert why_stale(stage) is None
    assert not leftover.exists()


def test_only_the_stage_s_own_outputs_are_in_its_manifest(tmp_path: Path) -> None:
    stage = Stage("plan", tmp_path, {}, {}, ("plan.json",), "plan.manifest.json")
    (tmp_path / "plan.json").write_text("{}")
    (tmp_path / "other.json").write_text("{}")
    write_manifest(stage)
    manifest = read_manifest(stage)
    assert manifest is not None
    assert list(manifest["outputs"]) == ["plan.json"]


def test_the_manifest_is_json_that_others_can_read(stage: Stage) -> None:
    build(stage)
    manifest = json.loads(stage.manifest_path.read_text())
    assert manifest["stage"] == "tokenizer"
    assert manifest["outputs"]["sub/out.txt"][0] == 5


@pytest.mark.parametrize("call", range(1, 4))
def test_a_kill_while_the_new_takes_the_place_of_the_old_loses_neither(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    build(stage)
    with monkeypatch.context() as patch:
        renames, real = [0], os.rename

        def rename(*paths: str) -> None:
            renames[0] += 1
            if renames[0] == call:
                raise KeyboardInterrupt
            real(*paths)

        patch.setattr(os, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            build(stage, "other")
    restore_directories(stage.directory.parent)
    assert why_stale(stage) is None
    assert (stage.directory / "sub" / "out.txt").read_text() == ("other" if call == 3 else "hello")

    def fail() -> None:
        with rebuilt(stage, accept):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert why_stale(stage) is None


def test_a_key_that_is_younger_than_the_manifest_has_its_default(tmp_path: Path) -> None:
    now = {"kind": "byte_bpe", "vocab_size": 4096}
    build(Stage("tokenizer", tmp_path / "tokenizer", {"vocab_size": 4096}, {}))
    stage = Stage("tokenizer", tmp_path / "tokenizer", now, {})
    assert why_stale(stage) == "kind: None -> 'byte_bpe'"
    assert why_stale(replace(stage, section=TokenizerSettings)) is None
    assert why_stale(replace(stage, section=TokenizerSettings, settings={**now, "kind": "x"})) is not None


def test_a_refused_manifest_is_not_written(stage: Stage) -> None:
    def refuse(_outputs: str, _domains: Mapping[str, str]) -> None:
        raise MismatchError("no")

    stage.directory.mkdir()
    with pytest.raises(MismatchError):
        write_manifest(stage, accept=refuse)
    assert why_stale(stage) == NEVER


def test_only_damaged_outputs_are_removed(stage: Stage) -> None:
    remove_damaged(stage)
    build(stage)
    (stage.directory / "other").write_text("not of the manifest")
    remove_damaged(stage)
    assert why_stale(stage) is None
    (stage.directory / "sub" / "out.txt").write_text("hallo")
    os.utime(stage.directory / "sub" / "out.txt", ns=(1, 1))
    remove_damaged(stage)
    assert why_stale(stage) == "output sub/out.txt is missing"
    assert (stage.directory / "other").exists()


def test_each_domain_has_a_digest_of_its_own(tmp_path: Path) -> None:
    def digests(**texts: str) -> dict[str, str]:
        stage = Stage("corpus", tmp_path / "-".join(texts.values()), {}, {})
        for name, text in texts.items():
            for split in ("train", "validation"):
                (stage.directory / split / name).mkdir(parents=True)
                (stage.directory / split / name / "part-00000.parquet").write_text(text)
        (stage.directory / "funnel.json").write_text(str(texts))
        write_manifest(stage)
        return domain_digests(stage)

    one, two = digests(code="a", prose="b"), digests(code="a", math="c", prose="d")
    assert (list(one), list(two)) == (["code", "prose"], ["code", "math", "prose"])
    assert one["code"] == two["code"]
    assert one["prose"] != two["prose"]
    assert domain_digests(Stage("corpus", tmp_path / "none", {}, {})) == {}
