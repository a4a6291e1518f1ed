"""Reading back: one life out of several, without torn lines."""

from contextlib import closing

from danlu.monitor.history import read_evaluations, read_events, read_metrics, read_samples
from danlu.monitor.runlog import RunLog


def test_the_last_line_of_a_step_wins_and_steps_ascend(tmp_path):
    with closing(RunLog(tmp_path)) as log:
        for step, loss in ((1, 3.0), (2, 2.0), (3, 1.0), (2, 2.5), (3, 1.5)):
            log.metrics(step, loss=loss)
    assert [(row["step"], row["loss"]) for row in read_metrics(tmp_path)] == [(1, 3.0), (2, 2.5), (3, 1.5)]


def test_evaluations_and_samples_have_a_row_per_domain_and_prompt(tmp_path):
    with closing(RunLog(tmp_path)) as log:
        for step, domain, loss in ((0, "a", 9.0), (0, "b", 8.0), (5, "a", 7.0), (0, "b", 8.5)):
            log.evaluation(step, {"domain": domain, "loss": loss})
            log.sample(step, prompt=domain, text=str(loss))
    assert [(row["step"], row["domain"], row["loss"]) for row in read_evaluations(tmp_path)] == [
        (0, "a", 9.0),
        (0, "b", 8.5),
        (5, "a", 7.0),
    ]
    assert [row["text"] for row in read_samples(tmp_path)] == ["9.0", "8.5", "7.0"]


def test_events_stay_as_they_happened(tmp_path):
    with closing(RunLog(tmp_path)) as log:
        for kind in ("saved", "resumed", "saved"):
            log.event(kind, step=1)
    assert [row["kind"] for row in read_events(tmp_path)] == ["saved", "resumed", "saved"]


def test_torn_and_foreign_lines_are_left_out(tmp_path):
    (tmp_path / "metrics.jsonl").write_bytes(
        b'{"step": 1, "loss": 1.0}\n{"step": 2, "lo\n[1]\n\xff\xfe\n{"loss": 3}\n{"step": 3, "loss": null}\n{"st'
    )
    assert [(row["step"], row["loss"]) for row in read_metrics(tmp_path)] == [(1, 1.0), (3, None)]


def test_no_log_is_no_rows(tmp_path):
    assert (
        read_metrics(tmp_path)
        == read_evaluations(tmp_path)
        == read_events(tmp_path)
        == read_samples(tmp_path)
        == []
    )
