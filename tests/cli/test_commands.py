"""A folder of Markdown becomes a model by one command; then every command that a run answers to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from danlu.cli.main import execute

SUBJECTS = ("The river", "A stone", "Every reader", "Some old house", "This small tree", "The green hill")
VERBS = ("carries", "remembers", "leaves behind", "looks for", "is made of", "never finds")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    for name, count in (("essays", 24), ("notes", 3)):
        (folder / "texts" / name).mkdir(parents=True)
        for number in range(count):
            paragraphs = [
                f"# {name} {number}.{part}\n"
                + " ".join(
                    f"{SUBJECTS[(number + i * part) % 6]} {VERBS[(number * i + part) % 6]} {i + part * number} of them."
                    for i in range(8)
                )
                for part in range(6)
            ]
            (folder / "texts" / name / f"{number}.md").write_text("\n\n".join(paragraphs))
    before = Path.cwd()
    os.chdir(folder)
    assert (
        execute(["run", "texts", "--set", "train.minutes=0.01", "--set", "model.size=200K", "--steps", "2"])
        == 0
    )
    yield folder
    os.chdir(before)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert execute(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_folder_of_markdown_becomes_a_model_and_its_report(folder: Path) -> None:
    run = folder / "runs" / "texts"
    for name in ("folder.toml", "recipe.toml", "report.html", "export/config.json"):
        assert (run / name).is_file(), name


def test_evaluate_prints_a_table_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "evaluate", "texts").splitlines()[0].split()[:3] == ["domain", "loss", "perplexity"]
    rows = json.loads(answer(capsys, "evaluate", "texts", "--json"))
    assert {row["domain"] for row in rows} == {"essays", "notes"}


def test_generate_continues_the_prompt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, "generate", "texts", "The river", "--tokens", "5", "--temperature", "0")
    assert text.startswith("The river")


def test_inspect_names_the_documents_of_a_step(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "essays/" in answer(capsys, "inspect", "texts", "--step", "1")
    documents = json.loads(answer(capsys, "inspect", "runs/texts", "--step", "1", "--json"))
    assert {"domain", "source", "start", "end", "tokens", "loss"} <= set(documents[0])
    assert execute(["inspect", "texts", "--step", "999"]) == 1


def test_the_plan_and_the_mixture_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "parameters" in answer(capsys, "plan", "show", "texts")
    assert json.loads(answer(capsys, "plan", "show", "texts", "--json"))["steps"] >= 1
    rows = json.loads(answer(capsys, "tokens", "explain", "texts", "--json"))
    assert {row["domain"] for row in rows} == {"essays", "notes"}
    assert answer(capsys, "tokens", "explain", "texts").startswith("stage")
    page = folder / "runs" / "texts" / "mixture.html"
    assert "essays" in page.read_text(encoding="utf-8")
    assert execute(["tokens", "explain", "texts", "--page", "picture.txt"]) == 2


def test_a_question_makes_nothing_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["tokens", "explain"], ["plan", "show"]):
        assert execute([*command, "texts", "--set", "tokenizer.vocab_size=300"]) == 2
        assert "would make the tokenizer of" in capsys.readouterr().err


def test_a_document_is_blocked_by_its_id(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = json.loads(answer(capsys, "inspect", "texts", "--step", "1", "--json"))
    assert execute(["block", "texts", seen[0]["id"], seen[0]["id"]]) == 0
    assert "1 documents are blocked from step" in capsys.readouterr().err
    assert execute(["block", "texts", "no-such-id"]) == 1
    assert "no document" in capsys.readouterr().err
    (folder / "runs" / "texts" / "blocked.jsonl").unlink()


def test_the_export_goes_where_it_is_wanted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "export", "texts").strip() == "runs/texts/export"
    assert answer(capsys, "export", "texts", "hf").strip() == "hf"
    assert (folder / "hf" / "model.safetensors").is_file()


def test_tokens_go_to_another_trainer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(answer(capsys, "tokens", "export", "texts", "pairs", "--format", "megatron", "--json"))
    assert {row["pair"] for row in rows} >= {"pairs/train/essays", "pairs/train/notes"}
    assert all((folder / f"{row['pair']}.{end}").is_file() for row in rows for end in ("bin", "idx"))
    assert answer(capsys, "tokens", "export", "texts", "pairs").startswith("pair")
    tokenizer = folder / "runs" / "texts" / "tokenizer" / "tokenizer.json"
    assert (folder / "pairs" / "tokenizer.json").read_bytes() == tokenizer.read_bytes()
    assert execute(["tokens", "export", "texts", "pairs/tokenizer.json"]) == 2
    assert execute(["tokens", "export", "texts", "pairs", "--format", "other"]) == 2


def test_the_report_is_made_anew(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "report", "texts").strip() == "runs/texts/report.html"


def test_stages_that_are_done_are_not_redone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["corpus", "build"], ["tokenizer", "train"], ["tokens", "build"], ["train"]):
        assert execute([*command, "texts"]) == 0
        assert "building" not in capsys.readouterr().err
    lines = answer(capsys, "run", "runs/texts", "--dry-run").splitlines()
    assert all(line.endswith("done already") for line in lines)


def test_checkpoints_are_listed_and_verified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = json.loads(answer(capsys, "checkpoint", "list", "texts", "--json"))
    assert saved[0]["step"] == 0
    assert answer(capsys, "checkpoint", "list", "texts").startswith("step")
    assert "good" in answer(capsys, "checkpoint", "verify", "texts")
    path = Path(saved[0]["path"]) / "optimizer.safetensors"
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    capsys.readouterr()
    assert execute(["checkpoint", "verify", "texts", "--json"]) == 1
    damage = {verdict["step"]: verdict["damage"] for verdict in json.loads(capsys.readouterr().out)}
    path.write_bytes(good)
    assert "optimizer.safetensors" in damage[0]


def test_other_settings_for_a_trained_run_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert execute(["run", "runs/texts", "--set", "seed=5"]) == 1
    assert "seed: 1 -> 5" in capsys.readouterr().err


def test_a_missing_run_lists_this_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["evaluate", "text"]) == 1
    assert "runs/ has: texts" in capsys.readouterr().err


def test_a_directory_in_use_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from danlu.files import lock

    with lock(folder / "runs" / "texts"):
        assert execute(["train", "texts"]) == 1
    assert "in use by process" in capsys.readouterr().err


def test_a_report_is_made_while_the_run_trains(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from danlu.files import lock

    before = (folder / "runs" / "texts" / "recipe.toml").stat().st_mtime_ns
    with lock(folder / "runs" / "texts"):
        assert answer(capsys, "report", "texts").strip() == "runs/texts/report.html"
    assert (folder / "runs" / "texts" / "recipe.toml").stat().st_mtime_ns == before


def test_the_report_of_a_folder_has_samples(folder: Path) -> None:
    text = (folder / "runs" / "texts" / "report.html").read_text()
    assert "There is no samples.jsonl" not in text
    assert "Worst step" in text


def test_a_question_with_other_settings_leaves_the_run_its_recipe(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = (folder / "runs" / "texts" / "recipe.toml").read_text().replace('"texts"', '"asked"', 1)
    (folder / "asked.toml").write_text(recipe)
    assert execute(["corpus", "build", "asked.toml"]) == 0
    saved = folder / "runs" / "asked" / "recipe.toml"
    before = saved.read_text()
    answer(
        capsys,
        "plan",
        "show",
        "asked",
        "--set",
        "train.batch_tokens=128",
        "--set",
        "train.sequence_length=16",
    )
    answer(capsys, "tokens", "explain", "runs/asked", "--set", "mixture.temperature=2")
    assert saved.read_text() == before


def test_a_prompt_is_not_printed_where_nothing_can_follow(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert execute(["generate", "texts", "The river", "--step", "999"]) == 1
    assert execute(["generate", "texts", "not UTF-8: \udcff"]) == 2
    assert execute(["export", "texts", "/"]) == 2
    assert capsys.readouterr().out == ""


def test_a_dry_look_at_the_plan_answers_in_json_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(answer(capsys, "plan", "show", "texts", "--dry-run", "--json"))
    assert [row["stage"] for row in rows] == ["corpus", "tokenizer", "tokens", "plan"]
    assert {row["outlook"] for row in rows} == {"done already"}


def test_the_folder_of_runs_is_no_domain_of_a_run_of_this_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["run", ".", "--dry-run", "--set", "name=here"]) == 0
    assert "runs" not in capsys.readouterr().out
