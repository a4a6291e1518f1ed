from __future__ import annotations

import pytest

import toy_tasks
from danlu.errors import DanluError, InputError
from danlu.jobs.queue import TRIES, Queue
from danlu.jobs.task import Batch, Failure
from danlu.log import Progress


def make(sizes: list[int] | None, count: int = 4) -> tuple[Queue, Progress]:
    batch = Batch(toy_tasks.square, [{"n": number} for number in range(count)], "squares", sizes)
    bar = Progress("squares", None, "bytes")
    return Queue(batch, bar), bar


def test_large_tasks_come_first_and_equal_ones_in_order() -> None:
    queue, _ = make([5, 9, 5, 7])
    assert [queue.take(0) for _ in range(5)] == [1, 3, 0, 2, None]
    queue, _ = make(None)
    assert [queue.take_first() for _ in range(5)] == [0, 1, 2, 3, None]


def test_the_display_moves_by_bytes_or_by_tasks() -> None:
    queue, bar = make([5, 9, 5, 7])
    queue.finish(1, None)
    queue.tick()
    assert (bar.done, queue.left) == (9, 3)
    queue, bar = make(None)
    queue.finish(1, None)
    assert (bar.done, queue.left) == (1, 3)


def test_a_lost_task_runs_again_after_the_others_and_at_last_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    queue, _ = make(None, 2)
    assert queue.take(0) == 0
    queue.lose(0, "was killed (SIGKILL)", "Use fewer workers")
    assert 'squares, task 1 of 2, {"n":0}: its worker was killed (SIGKILL)' in capsys.readouterr().err
    assert queue.due(1) == 2
    assert queue.take_first() == 1
    assert queue.take_first() is None
    assert queue.take(1) == 0
    queue.lose(0, "was killed (SIGKILL)", "Use fewer workers")
    assert (queue.due(1), queue.take(1)) == (0, None)
    assert (queue.due(0), queue.take(0)) == (1, 0)
    with pytest.raises(
        DanluError, match=rf"task 1 of 2.*lost {TRIES} times.*killed.*Use fewer.*same command"
    ):
        queue.lose(0, "was killed (SIGKILL)", "Use fewer workers")


def test_a_task_on_its_last_try_does_not_hold_up_another() -> None:
    queue, _ = make(None, 2)
    queue.take_first(), queue.take_first()
    queue.lose(0, "was lost", "See above")
    assert queue.take(1) == 0
    queue.lose(0, "was lost", "See above")
    queue.lose(1, "was lost", "See above")
    assert queue.due(1) == 1
    assert (queue.take(1), queue.take(1), queue.take(0)) == (1, None, 0)


def test_an_error_is_raised_and_its_task_named(capsys: pytest.CaptureFixture[str]) -> None:
    queue, _ = make(None)
    with pytest.raises(InputError, match="line 3 is bad"):
        queue.finish(2, Failure(kind="InputError", message="line 3 is bad", traceback="..."))
    assert "squares, task 3 of 4" in capsys.readouterr().err
    assert queue.left == 4
