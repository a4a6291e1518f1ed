"""The summary says what was measured, and that a figure is missing where it is."""

import json
from pathlib import Path

from danlu.report.summary import summarise


def write(run: Path, name: str, *rows: dict[str, object]) -> None:
    (run / name).parent.mkdir(parents=True, exist_ok=True)
    (run / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_an_empty_run_promises_nothing(tmp_path: Path) -> None:
    text = summarise(tmp_path)
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["foreseen", "survived", "explained", "exported"]
    assert lines[0].endswith("there is no plan, or no training")
    assert "nothing: the training was not interrupted" in lines[1]


def test_a_replay_that_differs_is_not_called_equal(tmp_path: Path) -> None:
    write(
        tmp_path,
        "events.jsonl",
        {"kind": "killed", "step": 57},
        {"kind": "resumed", "step": 50},
        {"kind": "replayed", "steps": 7, "equal": 5, "different": [53, 54]},
    )
    assert "SIGKILL at step 57, resumed at step 50: 5 of 7 replayed losses equal bit for bit" in summarise(
        tmp_path
    )


def test_documents_export_and_samples(tmp_path: Path) -> None:
    documents = [{"source": f"s{i}.py", "loss": 4.0 - i} for i in range(5)]
    write(tmp_path, "explained.json", {"step": 9, "loss": 3.5, "documents": documents})
    write(
        tmp_path, "export/report.json", {"architecture": "Qwen3ForCausalLM", "max_logit_difference": 1.5e-6}
    )
    rows = [{"step": i, "share": i / 10, "prompt": "def ", "text": f"f{i}\n():"} for i in range(11)]
    write(tmp_path, "samples.jsonl", *rows)
    text = summarise(tmp_path)
    assert (
        "the worst step is 9, loss 3.50; it saw s0.py (4.00 nats a token), s1.py (3.00 nats a token)" in text
    )
    assert "and 2 more" in text
    assert "Qwen3ForCausalLM: logits differ by 1.5e-06" in text
    for age, sample in (
        ("0%", "def f0 ():"),
        ("10%", "def f1 ():"),
        ("50%", "def f5 ():"),
        ("100%", "def f10 ():"),
    ):
        assert any(line.startswith(f"at {age} ") and line.endswith(sample) for line in text.splitlines())
    assert "danlu generate" in text
