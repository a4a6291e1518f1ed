"""The report's sentences: plain, right in number, and with nothing invented."""

import pytest

from danlu.report.facts import Facts
from danlu.report.tables import evaluation, events, explained, nearest_shares, result, samples, tell, verdicts

ROW = {
    "domain": "prose",
    "step": 4,
    "loss": 2.0,
    "perplexity": 7.4,
    "bits_per_byte": 2.3,
    "tokens": 9,
    "bytes": 20,
}


def test_verdicts_need_baselines():
    assert verdicts([ROW]) == []
    (said,) = verdicts([{**ROW, "baselines": {"order0": 4.0, "xz": 2.0}}])
    assert (
        said == "On prose the model needs 2.30 bits per byte: it beats order-0 (4.00), but not xz -9 (2.00)."
    )


def test_a_number_that_is_not_finite_is_said():
    broken = {**ROW, "loss": None, "perplexity": None, "bits_per_byte": None, "baselines": {"xz": 2.0}}
    facts = Facts("r", metrics=[{"step": 4, "tokens": 40}], evaluations=[broken])
    assert "not finite" in evaluation(facts)
    assert "not finite" in result(facts)
    assert "beats" not in result(facts)


def test_an_evaluation_in_part_is_marked():
    assert "4 (in part)" in evaluation(Facts("r", evaluations=[ROW]))
    assert "(in part)" not in evaluation(Facts("r", evaluations=[{**ROW, "final": True}]))


def test_samples_nearest_to_the_shares():
    rows = [{"share": i / 40, "step": i, "prompt": "p", "text": str(i)} for i in range(41)]
    assert [row["step"] for row in nearest_shares(rows)] == [0, 4, 10, 20, 30, 40]
    assert nearest_shares(rows[:1]) == rows[:1]
    assert "6 of 41 are shown" in samples(Facts("r", samples=rows))
    assert "are shown" not in samples(Facts("r", samples=rows[:3]))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"kind": "killed", "step": 1005}, "the trainer was killed with SIGKILL after step 1,005"),
        ({"kind": "resumed", "step": 3}, "resumed from the checkpoint of step 3"),
        ({"kind": "replayed", "steps": 5, "equal": 4, "different": [7]},
         "replayed 5 steps: 4 losses equal to the logged ones bit for bit; different at 7"),
        ({"kind": "stopped", "step": 2, "reason": "SIGTERM"}, "stopped by SIGTERM at step 2; everything was saved"),
        ({"kind": "limit", "step": 2, "reason": "--steps 2"}, "ended at step 2 by a limit of the command: --steps 2"),
        ({"kind": "finished", "step": 9, "reason": None}, "finished at step 9"),
        ({"kind": "checkpoint_damaged", "reason": "x"}, "a damaged checkpoint was passed over: x"),
        ({"kind": "new_thing", "time": 1.0, "size": 3}, "new thing size 3"),
    ],
)  # fmt: skip
def test_events_in_words(row, said):
    assert tell(row) == said


def test_saves_in_a_row_are_one_line():
    saves = [{"kind": "saved", "step": step, "seconds": 1.0, "time": 0.0} for step in (0, 50, 100)]
    last = {"kind": "saved", "step": 150, "seconds": 1.0}
    text = events(Facts("r", events=[*saves, {"kind": "killed", "step": 120}, last]))
    assert "saved 3 checkpoints, steps 0 to 100, in 3.0 s" in text
    assert "saved a checkpoint, step 150, in 1.0 s" in text
    assert text.count("<tr>") == 4


def test_a_run_too_short_for_a_worst_step_says_so():
    assert "too short" in explained(Facts("r", explained={"step": None, "documents": []}))
