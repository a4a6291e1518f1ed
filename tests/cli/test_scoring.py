"""The commands that label and that train scorers, through the command line."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from danlu.account.ledger import EXCERPT_CHARACTERS
from danlu.cli.main import execute
from danlu.lm.card import read_card
from danlu.scorers.model_file import load_scorer, score_text
from small_curated import write_small_run

SIDES = ["--positive", "good.txt", "--negative", "bad.txt"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": f"{'kind' if n % 2 else 'rude'} words of number {n}", "label": n % 2} for n in range(120)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "good.txt").write_text("\n\n".join(f"Good prose says {n}." for n in range(60)))
    (tmp_path / "bad.txt").write_text("\n\n".join(f"buy now {n} $$$" for n in range(60)))
    return tmp_path


def test_a_scorer_of_labelled_rows(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["corpus", "train-classifier", "s.safetensors", "--labelled", "rows.jsonl"]) == 0
    said = capsys.readouterr().out
    assert "s.safetensors: area under curve 1.0000" in said
    assert "for recall 0.9: precision 100.0%, recall 100.0%" in said
    assert "<svg" in (home / "s.html").read_text()
    scorer = load_scorer(home / "s.safetensors")
    assert score_text("kind words", scorer) > 0.5 > score_text("rude words", scorer)


def test_what_a_scorer_lacks_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (home / "rows.jsonl").open("a") as file:
        file.write('{"text": "", "label": 1}\n{"text": "a"}\n{"text": "b"}\n')
    words = ["corpus", "train-classifier", "s.safetensors", "--labelled", "rows.jsonl", "--set"]
    assert execute([*words, "max_passes=1"]) == 0
    said = capsys.readouterr().out
    assert re.search(
        r"\nafter 1 passes the weights may be [\d.]+% above the best, more than 0.1%: raise", said
    )
    assert said.endswith("\nleft out 3 rows: 2 no label, 1 no text\n")
    assert execute([*words, "max_passes=1000"]) == 0
    assert "passes the weights" not in capsys.readouterr().out


def test_a_full_output_is_one_error(home: Path) -> None:
    write_small_run(home)
    command = [sys.executable, "-m", "danlu", "corpus", "label", "small", "--name", "mara"]
    for words, typed in (([], "k\nq\n"), (["--report"], "")):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*command[: None if not words else -2], *words],
                input=typed,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        assert done.stderr.startswith("danlu: cannot write the output: No space left on device")
        assert done.stderr.count("\n") == 1


def test_a_scorer_of_two_sides_with_settings_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--positive",
        "good.txt",
        "--negative",
        "bad.txt",
        "--set",
        "name=prose",
        "--set",
        "held_out=0.3",
    ]
    assert execute(["corpus", "train-classifier", "p.safetensors", *words, "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert (card["name"], card["metrics"]["area_under_curve"]) == ("prose", 1.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give --labelled FILES, or --positive FILES and --negative FILES"),
        (["--positive", "good.txt"], "give --labelled FILES"),
        (["--labelled", "rows.jsonl", "--positive", "good.txt", "--negative", "bad.txt"], "give --labelled"),
        (["--labelled", "none.jsonl"], "none.jsonl"),
        (["--labelled", "rows.jsonl", "--label", "side"], "has no column 'side'; it has text, label"),
        (["--labelled", "rows.jsonl", "--set", "presision=0.9"], "did you mean 'precision'?"),
        (["--labelled", "rows.jsonl", "--set", "precision=2"], "--set precision=2: precision: "),
        (["--labelled", "rows.jsonl", "--set", "cutoff=2"], "cutoff has no effect without scale"),
        ([*SIDES, "--label", "toxic"], "--label and --positive-label are of --labelled FILES"),
        ([*SIDES, "--positive-label", "bad"], "--label and --positive-label are of --labelled FILES"),
        ([*SIDES, "--set", "scale=0-5"], "learns from points; give --labelled FILES and no --positive\n"),
        (
            ["--labelled", "rows.jsonl", "--set", "scale=0-5", "--positive-label", "5"],
            "learns from points; give --labelled FILES and no --positive-label",
        ),
    ],
)
def test_what_cannot_be_trained_is_said(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert execute(["corpus", "train-classifier", "s.safetensors", *words]) in (1, 2)
    assert said in capsys.readouterr().err
    assert not (home / "s.safetensors").exists()


@pytest.mark.parametrize("name", ["s.html", "s", "s.safetensors.bak"])
def test_a_scorer_is_not_where_its_page_will_be(
    home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert execute(["corpus", "train-classifier", name, "--labelled", "rows.jsonl"]) == 2
    assert f"{name}: a scorer's name ends in .safetensors" in capsys.readouterr().err
    assert not (home / name).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--name", "mara", "--endpoint", "e.toml"], "which nobody does with --endpoint"),
        (["--name", "mara", "--report"], "which nobody does with --report"),
        (["--report", "--reason", "kept", "--seed", "0"], "leave out --seed and --reason"),
        (["--export", "out.jsonl", "--count", "3"], "--export takes all draws of the run together"),
        (["--report", "--export", "out.jsonl"], "--report and --export are different things"),
        (["--endpoint", "e.toml", "--export", "out.jsonl"], "--export and --endpoint are different things"),
        (["--endpoint", "e.toml", "--report"], "--report and --endpoint are different things"),
    ],
)
def test_options_of_labelling_that_would_be_ignored_are_refused(
    home: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    write_small_run(home)
    (home / "e.toml").write_text('url = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
    assert execute(["corpus", "label", "small", *words]) == 2
    assert said in capsys.readouterr().err
    assert not (home / "out.jsonl").exists()


def test_the_help_says_how_much_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    execute(["corpus", "label", "--help"])
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert f"the first {EXCERPT_CHARACTERS} characters" in said
    assert "--reason kept shows whole texts" in said


def test_a_model_of_n_grams(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["good.txt", "rows.jsonl", "--order", "3", "--document", "blank_line", "--memory", "1M"]
    assert execute(["corpus", "train-lm", "en.arpa", *words]) == 0
    captured = capsys.readouterr()
    assert "en.arpa: " in captured.out
    assert "perplexity" in captured.out
    assert "estimate: order 3" in captured.err
    assert read_card(home / "en.arpa").documents > 150
    assert "30 % of these are below perplexity" in captured.out
    assert "half of them have 5 words or fewer" in captured.out
    assert execute(["corpus", "train-lm", "en.arpa", "good.txt", "--document", "section"]) == 2
    assert "--document section does not fit good.txt" in capsys.readouterr().err
    assert execute(["corpus", "train-lm", "zh.arpa", "none.txt"]) == 1
    assert "none.txt" in capsys.readouterr().err
    assert not (home / "zh.arpa").exists()


def test_labels(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write_small_run(home)
    monkeypatch.setattr(sys, "stdin", io.StringIO("k\nd\nq\n"))
    for words in (["--report"], ["--export", "out.jsonl"]):
        assert execute(["corpus", "label", "small", *words]) == 1
        assert "has no document to label yet" in capsys.readouterr().err
    assert execute(["corpus", "label", "small", "--name", "mara"]) == 0
    assert "2 labelled, 2 of 4 in all by mara" in capsys.readouterr().out
    assert execute(["corpus", "label", "small", "--report"]) == 0
    assert capsys.readouterr().out.startswith("mara: 2 labels; drop 1")
    assert execute(["corpus", "label", "small", "--export", "out.jsonl"]) == 0
    assert capsys.readouterr().out == "out.jsonl: 2 examples; left out 0 whose labels are evenly divided\n"
    assert execute(["corpus", "label", "small", "--prompt", "p.txt"]) == 2
    (home / "e.toml").write_text('url = "http://example.org/v1"\nmodel = "m"\n')
    capsys.readouterr()
    assert execute(["corpus", "label", "small", "--endpoint", "e.toml"]) == 2
    assert "e.toml, line 1: url: http to example.org" in capsys.readouterr().err


def test_labels_in_a_terminal(home: Path) -> None:
    write_small_run(home)
    master, slave = os.openpty()
    command = [sys.executable, "-m", "danlu", "corpus", "label", "small", "--name", "mara"]
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
    with subprocess.Popen(command, cwd=home, start_new_session=True, **ends) as process:  # type: ignore[call-overload]
        os.close(slave)
        shown = ""
        for place, key in enumerate("kds", 1):
            while shown.count("q quit]") < place:
                shown += os.read(master, 4096).decode()
            os.write(master, key.encode())
        while "q quit] skipped" not in shown or shown.count("q quit]") < 4:
            shown += os.read(master, 4096).decode()
        os.write(master, b"q")
        while "in all by mara" not in shown:
            shown += os.read(master, 4096).decode()
        assert process.wait() == 0
    os.close(master)
    assert "2 labelled, 2 of 4 in all by mara" in shown
    rows = [
        json.loads(line)
        for line in (home / "runs" / "small" / "labels" / "labels.jsonl").read_text().splitlines()
    ]
    assert [(row["label"], row["who"]) for row in rows] == [("keep", "mara"), ("drop", "mara")]
