"""The report: whole from a whole run, honest about what is missing or damaged, and safe whatever the text holds."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from danlu.account.funnel import Count, Funnel
from danlu.files import write_json
from danlu.mixture.stages import PlannedStage
from danlu.monitor.runlog import RunLog
from danlu.plan.machine import Machine
from danlu.plan.memory import MemoryEstimate
from danlu.plan.mixture import PlannedDomain
from danlu.plan.plan import Choice, Plan, write_plan
from danlu.report.facts import Facts
from danlu.report.write import sections, write_report

STEPS, BATCH = 60, 1024
FILES = (
    "recipe.toml",
    "corpus/funnel.json",
    "plan.json",
    "metrics.jsonl",
    "evaluations.jsonl",
    "events.jsonl",
    "samples.jsonl",
    "export/report.json",
    "explained.json",
)


def make_plan() -> Plan:
    return Plan(
        tokens=STEPS * BATCH,
        steps=STEPS,
        sequence_length=64,
        batch_tokens=BATCH,
        micro_batch=8,
        accumulation=2,
        learning_rate=1e-3,
        warmup_tokens=4096,
        parameters=123_456,
        embedding_parameters=23_456,
        flops_per_token=7e5,
        total_flops=7e5 * STEPS * BATCH,
        memory=MemoryEstimate(1, 2, 3, 4, 5, 64_000_000),
        process_bytes=36_000_000,
        tokens_per_second=20_000.0,
        expected_seconds=STEPS * BATCH / 20_000,
        mixture=(
            PlannedDomain("code", 0.8, 100_000, 49_152, 0.49),
            PlannedDomain("prose", 0.2, 50_000, 12_288, 0.25),
        ),
        choices=(Choice("train.micro_batch", "8", "fits in memory"),),
        machine=Machine("A processor", 2, 1_000_000_000, "Linux"),
        stages=(PlannedStage(STEPS, 64, "best_fit", True, True, {"code": 0.8, "prose": 0.2}),),
        asked="",
        micro_batches=(8,),
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "tiny"
    (directory / "corpus").mkdir(parents=True)
    (directory / "export").mkdir()
    (directory / "recipe.toml").write_text('name = "tiny"\nseed = 7\n')
    funnel = Funnel(
        ("length", "exact"),
        {"code": Count(100, 50_000), "prose": Count(40, 9_000)},
        {"code": {"length.too_short": Count(7, 300)}, "prose": {"exact.duplicate": Count(3, 900)}},
        {"truncated": 1},
        {"train": {"code": Count(90, 48_000), "prose": Count(35, 8_000)},
         "validation": {"code": Count(3, 1_700), "prose": Count(2, 100)}},
    )  # fmt: skip
    write_json(directory / "corpus" / "funnel.json", funnel.to_json())
    write_plan(directory / "plan.json", make_plan())
    log = RunLog(directory)
    for step in range(1, STEPS + 1):
        log.metrics(
            step,
            tokens=step * BATCH,
            loss=3.0 + 4.0 / step,
            grad_norm=1.0 / step,
            learning_rate=1e-3,
            tokens_per_second=21_000.0,
            seconds=step * BATCH / 21_000,
        )
    for step in (0, 30, STEPS):
        for domain in ("code", "prose"):
            result = {
                "domain": domain,
                "loss": 3.5,
                "perplexity": 33.1,
                "bits_per_byte": 2.5,
                "tokens": 900,
                "bytes": 1800,
            }
            final = (
                {"final": True, "baselines": {"order0": 4.6, "bigram": 3.5, "xz": 2.2}}
                if step == STEPS
                else {}
            )
            log.evaluation(step, {**result, **final})
        log.sample(step, "Once", " upon <b>a</b> time\x07", share=step / STEPS)
    log.event("saved", step=0, seconds=0.1)
    log.event("saved", step=30, seconds=0.1)
    log.event("killed", step=35)
    log.event("resumed", step=30, plan="ab")
    log.event("replayed", steps=5, equal=5, different=[])
    log.event("finished", step=STEPS, reason=None)
    log.close()
    document = {"domain": "code", "source": "a<b>.py", "start": 5, "end": 90, "tokens": 40, "loss": 4.25}
    write_json(directory / "explained.json", {"step": 7, "loss": 5.5, "documents": [document] * 20})
    write_json(
        directory / "export" / "report.json",
        {
            "architecture": "LlamaForCausalLM",
            "max_logit_difference": 2.5e-6,
            "tolerance": 1e-4,
            "tokens_compared": 64,
            "texts_compared": 6,
            "files": {"model.safetensors": 500_000},
        },
    )
    return directory


def test_a_whole_run_has_every_section(run):
    path = write_report(run)
    assert path == run / "report.html"
    text = path.read_text(encoding="utf-8")
    assert text.count("<section") == 11
    assert 'class="missing"' not in text
    for said in (
        "Finished: step 60 of 60",
        "On code the model needs 2.50 bits per byte: it beats order-0 (4.60) and bigram (3.50), but not xz -9 (2.20).",
        "killed with SIGKILL after step 35",
        "replayed 5 steps: 5 losses equal",
        "saved 2 checkpoints, steps 0 to 30",
        "dropped by length",
        "2.5e-06",
        "fits in memory",
        "seed = 7",
        "100 MB",
        "0.95",
        "At step 7 the loss, 5.500",
        "a&lt;b&gt;.py [5:90]",
        "8 more are in explained.json",
    ):
        assert said in text, said
    assert "upon &lt;b&gt;a&lt;/b&gt; time\u2407" in text


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_said_and_the_rest_is_there(run, name):
    (run / name).unlink()
    text = write_report(run).read_text(encoding="utf-8")
    assert f"There is no {name} in this run yet." in text
    assert text.count('class="missing"') >= 1
    assert text.count("<section") == 11


@pytest.mark.parametrize("name", ["corpus/funnel.json", "plan.json", "export/report.json"])
@pytest.mark.parametrize("content", [b"{", b"[]", b'{"a": 1}', b"\xff\xfe"])
def test_a_damaged_file_is_said_and_the_rest_is_there(run, name, content):
    (run / name).write_bytes(content)
    text = write_report(run).read_text(encoding="utf-8")
    assert text.count('class="missing"') >= 1
    assert "replayed 5 steps" in text


def test_torn_and_foreign_lines_are_passed_over(run):
    with (run / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"step": 61, "tokens": 62_464, "loss": None}) + "\n" + '{"step": 62, "tok')
    text = write_report(run).read_text(encoding="utf-8")
    assert "1 steps logged a loss that is not finite" in text


def test_rows_of_another_version_cost_only_their_section(run):
    (run / "samples.jsonl").write_text('{"step": 1}\n')
    text = write_report(run).read_text(encoding="utf-8")
    assert "samples.jsonl is not as this version writes it" in text
    assert text.count('class="missing"') == 1


def test_an_empty_directory_has_a_report(tmp_path):
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "This run has not trained yet." in text
    assert text.count('class="missing"') == 11


def test_it_is_written_in_the_same_way_twice(run):
    first = write_report(run).read_bytes()
    assert write_report(run).read_bytes() == first


def test_every_section_is_made_of_facts():
    facts = Facts(name="x", problems=dict.fromkeys(FILES, "gone"))
    assert all("gone" in section.body for section in sections(facts))


def test_torch_is_not_imported(run):
    code = (
        "import sys; from pathlib import Path; from danlu.report.write import write_report; "
        f"write_report(Path({str(run)!r})); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_plan_of_the_fixture_is_a_plan():
    assert asdict(make_plan())["steps"] == STEPS
