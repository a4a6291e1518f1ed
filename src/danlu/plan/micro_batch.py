"""How many sequences one forward pass takes: the most that fit in memory and divide the batch.

Decides between micro-batches that all give the same gradient (the loss is a sum over the global step), so
only speed and memory are at stake. No torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from danlu.errors import RecipeError
from danlu.log import human_bytes

USABLE_SHARE = 0.5
"""Of the free memory.

The resident size is 22 to 92 % above what tensors take: malloc arenas, oneDNN scratch.
"""


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """`sequences` a forward pass, `accumulation` passes a step, and why."""

    sequences: int
    accumulation: int
    reason: str


def choose_micro_batch(
    batch_sequences: int, memory_available: int | None, memory_of: Callable[[int], int]
) -> MicroBatch:
    """The largest divisor of `batch_sequences` whose memory in bytes, `memory_of(sequences)`, fits.

    Unknown memory takes all of the batch. Raises RecipeError where not even one sequence fits.
    """
    divisors = [count for count in range(batch_sequences, 0, -1) if batch_sequences % count == 0]
    if memory_available is None:
        return MicroBatch(batch_sequences, 1, "the whole batch: how much memory is free is not known here")
    usable = int(memory_available * USABLE_SHARE)
    for count in divisors:
        if (needed := memory_of(count)) <= usable:
            fits = f"{human_bytes(needed)} of {human_bytes(memory_available)} free memory"
            which = "the whole batch fits" if count == batch_sequences else "the largest divisor that fits"
            return MicroBatch(count, batch_sequences // count, f"{which}: {fits}, of which half may be used")
    raise RecipeError(
        f"one sequence needs about {human_bytes(memory_of(1))}, and {human_bytes(usable)} of the "
        f"{human_bytes(memory_available)} free memory may be used. Lower train.sequence_length or model.size, or set "
        f"train.micro_batch = 1 to try all the same"
    )
