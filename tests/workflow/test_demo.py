"""`danlu demo`, on a small text: killed half-way, resumed, and nothing of it shows in the result."""

from pathlib import Path

import pytest

from danlu.checkpoint.steps import list_steps
from danlu.monitor.history import read_events, read_metrics
from danlu.plan.plan import read_plan
from danlu.recipe import parse
from danlu.workflow import demo
from danlu.workflow.demo import demo_recipe, kill_step, run_demo
from small_run import tables, write_texts


@pytest.fixture
def small_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's machinery over a small text, in a directory of its own."""
    write_texts(tmp_path)
    monkeypatch.chdir(tmp_path)
    changed = tables(monitor={"samples": ["def heap"], "sample_tokens": 4}, evaluate={"every_steps": 4})
    recipe = parse({**changed, "name": "demo"})
    monkeypatch.setattr(demo, "demo_recipe", lambda: recipe)
    return tmp_path / "runs" / "demo"


def test_killed_resumed_summarised_and_done(small_demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_demo(runs=small_demo.parent)
    said = capsys.readouterr().out
    kinds = [event["kind"] for event in read_events(small_demo)]
    assert kinds.count("killed") == 1
    replayed = next(event for event in read_events(small_demo) if event["kind"] == "replayed")
    assert replayed["equal"] == replayed["steps"] >= 1
    assert replayed["different"] == []
    assert [row["step"] for row in read_metrics(small_demo)] == list(range(1, 41))
    assert list_steps(small_demo / "checkpoints")[-1] == 40
    for line in (
        "foreseen",
        "survived",
        "explained",
        "exported",
        "documents",
        "bits per byte",
        "at 50%",
        "next",
    ):
        assert f"\n{line}" in f"\n{said}"
    assert f"{replayed['steps']} of {replayed['steps']} replayed losses equal bit for bit" in said
    assert (small_demo / "report.html").stat().st_size > 10_000
    run_demo(runs=small_demo.parent)
    again = capsys.readouterr()
    assert "done already" in again.err
    assert again.out.strip() == said.strip()


def test_the_recipe_that_comes_with_the_package_is_whole() -> None:
    recipe = demo_recipe()
    assert {source.domain for source in recipe.corpus.source} == {"code", "prose"}
    assert recipe.train.minutes == 2
    assert recipe.plan.min_tokens
    assert recipe.plan.max_tokens


def test_the_kill_comes_after_a_save_and_before_the_end(prepared: Path) -> None:
    plan = read_plan(prepared / "plan.json")
    assert kill_step(plan, 10, None) == 25
    assert kill_step(plan, 15, None) == 35
    assert kill_step(plan, 0, None) == 5
    assert kill_step(plan, 10, tokens=6 * 512) == 5
    assert kill_step(plan, 10, tokens=512) == 1
