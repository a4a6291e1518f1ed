"""The logs: one JSON object a line, null for not-a-number, torn lines ended, a full disk named."""

import errno
import io
import json
import os
from contextlib import closing
from dataclasses import dataclass

import pytest

from danlu.errors import DanluError
from danlu.monitor import runlog
from danlu.monitor.runlog import RunLog


@dataclass(frozen=True)
class Result:
    domain: str
    loss: float


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_kind_of_line_goes_to_its_file(tmp_path):
    with closing(RunLog(tmp_path)) as log:
        log.metrics(3, loss=2.5, grad_norm=float("nan"))
        log.evaluation(step=3, tokens_seen=10, result=Result("code", float("inf")))
        log.evaluation(3, {"domain": "prose", "loss": 1.5})
        log.event("saved", step=3, detail={"seconds": 0.5, "rate": float("-inf"), "list": [float("nan"), 1]})
        log.sample(step=3, share=0.5, prompt="炉", text="丹炉 \ud800".encode("utf-8", "replace").decode())
    (metrics,) = lines(tmp_path / "metrics.jsonl")
    assert (metrics["step"], metrics["loss"], metrics["grad_norm"]) == (3, 2.5, None)
    code, prose = lines(tmp_path / "evaluations.jsonl")
    assert (code["domain"], code["loss"], code["tokens_seen"]) == ("code", None, 10)
    assert (prose["domain"], prose["loss"]) == ("prose", 1.5)
    (event,) = lines(tmp_path / "events.jsonl")
    assert event["detail"] == {"seconds": 0.5, "rate": None, "list": [None, 1]}
    (sample,) = lines(tmp_path / "samples.jsonl")
    assert (sample["prompt"], sample["text"]) == ("炉", "丹炉 ?")
    assert all(row["time"] > 0 for row in (metrics, code, event, sample))


def test_a_line_is_there_as_soon_as_it_is_written(tmp_path):
    log = RunLog(tmp_path)
    log.metrics(1, loss=1.0)
    assert len(lines(tmp_path / "metrics.jsonl")) == 1
    log.close()
    log.metrics(2, loss=1.0)
    log.close()
    assert [row["step"] for row in lines(tmp_path / "metrics.jsonl")] == [1, 2]


def test_a_torn_last_line_is_ended_first(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n{"step": 2, "lo')
    with closing(RunLog(tmp_path)) as log:
        log.metrics(2, loss=1.0)
    torn, whole = (tmp_path / "metrics.jsonl").read_text().splitlines()[1:]
    assert torn == '{"step": 2, "lo'
    assert json.loads(whole)["step"] == 2


def test_the_heartbeat_beats_at_most_once_a_second(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(runlog.time, "monotonic", lambda: now[0])
    log = RunLog(tmp_path)
    for step, at, expected in ((1, 100.0, 1), (2, 100.9, 1), (3, 101.0, 3), (4, 101.5, 3)):
        now[0] = at
        log.heartbeat(step)
        beat = json.loads((tmp_path / "heartbeat").read_text())
        assert (beat["step"], beat["process"]) == (expected, os.getpid())
    assert not list(tmp_path.glob(".tmp-*"))


class FullDisk(io.FileIO):
    """Takes ten more bytes."""

    def write(self, data):
        return super().write(bytes(data)[:10])


def test_a_full_disk_is_named_and_the_torn_line_does_not_spoil_the_next(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    log = RunLog(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(runlog, "_open", lambda path: FullDisk(path, "a"))
        with pytest.raises(DanluError, match=f"{os.strerror(errno.ENOSPC)}") as caught:
            log.event("first")
    assert str(path) in str(caught.value)
    with closing(log):
        log.event("second")
    torn, whole = path.read_bytes().splitlines()
    assert len(torn) == 10
    assert json.loads(whole)["kind"] == "second"


def test_a_value_that_json_cannot_hold_is_an_error(tmp_path):
    with closing(RunLog(tmp_path)) as log, pytest.raises(TypeError):
        log.event("odd", value=object())
