from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import pytest

from danlu.jobs import worker


class Ended(BaseException):
    """In place of the end of the process."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[Any]]]:
    """A worker's life in this process: exit code and messages of a function on some arguments."""
    monkeypatch.setattr(worker, "_end_with", lambda channel: None)

    def leave(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(os, "_exit", leave)

    def run(function: str, *arguments: dict[str, Any]) -> tuple[int, list[Any]]:
        ours, theirs = Pipe()
        for argument in arguments:
            ours.send_bytes(json.dumps(argument).encode())
        # The worker reads up to the end, and what it has written stays to be read.
        reader = Half(theirs, len(arguments))
        with pytest.raises(Ended) as ended:
            worker.serve(reader, function)  # type: ignore[arg-type]
        messages = []
        while ours.poll():
            messages.append(json.loads(ours.recv_bytes()))
        return ended.value.args[0], messages

    return run


class Half:
    """A channel that ends after so many messages."""

    def __init__(self, channel: Connection, count: int) -> None:
        self.channel, self.count = channel, count
        self.send_bytes = channel.send_bytes

    def recv_bytes(self) -> bytes:
        if self.count == 0:
            raise EOFError
        self.count -= 1
        return self.channel.recv_bytes()


def test_arguments_in_reports_out(run: Callable[..., tuple[int, list[Any]]], tmp_path: Path) -> None:
    arguments = [{"n": n, "out": str(tmp_path)} for n in (3, 4)]
    assert run("toy_tasks:square", *arguments) == (0, [["done", None], ["done", None]])
    assert (tmp_path / "4").read_text() == "16"


def test_what_a_task_says_comes_before_its_end(run: Callable[..., tuple[int, list[Any]]]) -> None:
    said = [["said", "hello from 1"], ["said", "no end"], ["done", None]]
    assert run("toy_tasks:speak", {"n": 1}) == (0, said)


def test_an_error_is_a_report(run: Callable[..., tuple[int, list[Any]]]) -> None:
    code, [[kind, failure]] = run("toy_tasks:refuse", {"n": 1})
    assert (code, kind, failure["kind"]) == (0, "done", "InputError")


def test_a_task_that_leaves_ends_the_worker(
    run: Callable[..., tuple[int, list[Any]]], tmp_path: Path
) -> None:
    assert run("toy_tasks:die_once", {"n": 1, "out": str(tmp_path), "deaths": 1}) == (3, [])


def test_a_function_that_is_not_there_is_said(
    run: Callable[..., tuple[int, list[Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("toy_tasks:absent") == (1, [])
    assert "absent" in capsys.readouterr().err


def test_the_end_of_the_channel_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    ours, theirs = Pipe()
    waiting = threading.Thread(target=worker._end_with, args=(theirs,))
    waiting.start()
    assert not codes
    ours.close()
    waiting.join(10)
    assert codes == [1]
