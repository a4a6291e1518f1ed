"""Exit codes and messages: what a user or a launcher sees when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from danlu.cli.main import execute
from danlu.errors import Stopped

RECIPE = """\
name = "small"

[corpus]
validation_share = 0.2

[[corpus.source]]
domain = "prose"
paths = ["*.txt"]

[train]
steps = 2
sequence_length = 32
batch_tokens = 128
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.toml").write_text(RECIPE)
    return tmp_path


def failed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = execute(list(arguments))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return code, captured.err


def test_an_unknown_recipe_key_is_named_with_file_line_and_nearest(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "r.toml").write_text(RECIPE.replace("steps = 2", "stepps = 2"))
    code, text = failed(capsys, "run", "r.toml")
    assert code == 2
    assert "r.toml, line 11" in text
    assert "did you mean 'steps'?" in text


def test_an_unknown_key_of_set_is_named_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = failed(capsys, "plan", "show", "r.toml", "--set", "model.widht=3")
    assert code == 2
    assert "did you mean 'width'?" in text


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("train={tokens=5000, steps=3}", "contradict"),
        ("train.batch_tokens=100", "not a multiple"),
        ("model={size='1M', width=64}", "contradict"),
        ("corpus.validation_share=1.5", "less than 1"),
        ("mixture.weights={code=1}", "prose"),
        ("guard={}", "not supported yet"),
    ],
)
def test_contradictory_settings_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], setting: str, part: str
) -> None:
    code, text = failed(capsys, "run", "r.toml", "--set", setting)
    assert code == 2
    assert part in text
    assert not (folder / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["trian"], "Did you mean 'train'?"),
        (["train"], "RECIPE"),
        (["train", "r.toml", "--stepps", "3"], "--step"),
        (["train", "r.toml", "--steps", "many"], "--steps"),
        (["train", "r.toml", "--steps", "-1"], "not a number from 0 up"),
        (["train", "r.toml", "--tokens", "lots"], "--tokens: 'lots' is not a size"),
        (["generate", "x", "y", "--temperature", "-1"], "temperature"),
        (["inspect", "x"], "--step"),
        (["train", "r.toml", "--set", "nonsense"], "section.key=value"),
    ],
)
def test_bad_usage_is_exit_code_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str
) -> None:
    code, text = failed(capsys, *arguments)
    assert code == 2
    assert part in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "nothing"],
        ["generate", "nothing", "hello"],
        ["export", "nothing"],
        ["report", "nothing"],
        ["inspect", "nothing", "--step", "1"],
        ["checkpoint", "list", "nothing"],
        ["checkpoint", "verify", "nothing"],
        ["train", "nothing"],
        ["run", "nothing"],
        ["run", "nothing.toml"],
    ],
)
def test_what_is_missing_is_exit_code_1(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    code, text = failed(capsys, *arguments)
    assert code == 1
    assert "nothing" in text


def test_an_empty_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    code, text = failed(capsys, "run", "empty")
    assert code == 1
    assert "no text" in text


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.txt").write_text("text")
    assert execute(["run", "r.toml", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["corpus", "tokenizer", "tokens", "plan", "training"]
    assert not (folder / "runs").exists()


def test_init_writes_a_recipe_and_never_over_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["init", "new.toml"]) == 0
    assert "danlu run new.toml" in capsys.readouterr().out
    code, text = failed(capsys, "init", "new.toml")
    assert code == 2
    assert "exists already" in text


def test_a_stop_is_exit_code_75(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import danlu.workflow.stages

    def stop(*_: object) -> None:
        raise Stopped("stopped by SIGTERM; all is saved")

    (folder / "a.txt").write_text("text")
    monkeypatch.setattr(danlu.workflow.stages, "run_all", stop)
    assert execute(["run", "r.toml"]) == 75


def test_an_interrupt_is_exit_code_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import danlu.workflow.stages

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(danlu.workflow.stages, "run_all", interrupt)
    assert execute(["run", "r.toml"]) == 130


def test_an_unexpected_error_is_a_paragraph_and_debug_shows_where(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import danlu.workflow.stages

    def break_down(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(danlu.workflow.stages, "run_all", break_down)
    code, text = failed(capsys, "run", "r.toml")
    assert code == 1
    assert "ZeroDivisionError" in text
    assert "--debug" in text
    assert execute(["run", "r.toml", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_debug_after_a_double_dash_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["generate", "nothing", "--", "--debug"]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_no_command_imports_torch_before_it_needs_it(folder: Path) -> None:
    script = (
        "import sys, json; from danlu.cli.main import execute; "
        "codes = [execute(a) for a in json.loads(sys.argv[1])]; "
        "assert codes == [0, 2, 1], codes; assert 'torch' not in sys.modules"
    )
    (folder / "a.txt").write_text("text")
    commands = [["run", "r.toml", "--dry-run"], ["run", "r.toml", "--set", "a=1"], ["evaluate", "x"]]
    subprocess.run([sys.executable, "-c", script, json.dumps(commands)], check=True, capture_output=True)
