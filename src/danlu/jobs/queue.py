"""Which task is next, which are done, and what follows when a worker is lost: the account that all engines keep.

Decides: large tasks first, so that none of them is left over at the end; a task whose worker was lost (kill -9, no
memory) runs again after all others, in a new worker, the last time alone on its machine; after that it is an error
that names it. Costs: memory for the numbers of the tasks.
"""

from __future__ import annotations

from collections import Counter, deque

from danlu.errors import DanluError
from danlu.jobs.task import Batch, Failure, raise_failure
from danlu.log import Progress, say

TRIES = 3
"""How often a task is started before a lost worker is an error."""


class Queue:
    """The tasks of a batch on their way through an engine; `bar` moves by bytes, or by tasks where no size is known."""

    def __init__(self, batch: Batch, bar: Progress) -> None:
        self._batch, self._bar = batch, bar
        sizes = batch.sizes or [0] * len(batch.arguments)
        self._first = deque(sorted(range(len(sizes)), key=lambda number: -sizes[number]))
        self._again: deque[int] = deque()
        self._losses: Counter[int] = Counter()
        self.left = len(sizes)

    def take_first(self) -> int | None:
        """The number of a task that has not been tried yet."""
        return self._first.popleft() if self._first else None

    def take(self, running: int) -> int | None:
        """The number of a task for a new worker; None while there is none, beside so many that are running."""
        if self._first:
            return self._first.popleft()
        for number in self._again:
            if running == 0 or self._losses[number] < TRIES - 1:
                self._again.remove(number)
                return number
        return None

    def due(self, running: int) -> int:
        """How many tasks wait for a new worker, beside so many that are running."""
        last = sum(self._losses[number] >= TRIES - 1 for number in self._again)
        return len(self._first) + len(self._again) - (last if running else max(0, last - 1))

    def finish(self, number: int, failure: Failure | None) -> None:
        """A task has reported: it counts as done, or its error is raised."""
        if failure is not None:
            self.blame(number)
            raise_failure(failure, self._batch.name(number))
        self.left -= 1
        self._bar.advance(self._batch.sizes[number] if self._batch.sizes else 1)

    def blame(self, number: int) -> None:
        """Says which of several tasks failed, before its error is raised."""
        if len(self._batch.arguments) > 1:
            say(f"{self._batch.name(number)} failed")

    def lose(self, number: int, how: str, advice: str) -> None:
        """A worker went without a report: its task will be taken again, or it was the last time, a DanluError.

        `how`: what became of the worker, e.g. "was killed (SIGKILL)"; `advice`: what the user may do about it.
        """
        self._losses[number] += 1
        name = self._batch.name(number)
        if self._losses[number] >= TRIES:
            raise DanluError(
                f"{name}: its worker was lost {TRIES} times; the last one {how}. {advice}. "
                "What the other tasks have done is kept: type the same command again"
            )
        say(f"{name}: its worker {how}; it is tried again")
        self._again.append(number)

    def tick(self) -> None:
        """Lets the display move while no task ends."""
        self._bar.advance(0)
