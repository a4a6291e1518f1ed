"""The recipe's `[train]`: how long, how large a batch, on what."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size


class TrainSettings(Section):
    """Exactly one of tokens, steps and minutes gives the length of the run."""

    tokens: Size | None = Field(default=None, gt=0)
    steps: int | None = Field(default=None, gt=0)
    minutes: float | None = Field(default=None, gt=0.0)
    """Turned into tokens once, by a measurement on this machine ([plan] bounds it)."""
    sequence_length: Size = Field(default=1024, ge=2)
    batch_tokens: Size = Field(default=65_536, gt=0)
    """Of a global step: a multiple of sequence_length."""
    micro_batch: int | Literal["auto"] = "auto"
    """Sequences of one forward pass; "auto" is the largest that fits and divides the batch."""
    compile: bool | Literal["auto"] = "auto"
    """torch.compile; "auto" compiles on a GPU only."""
    device: Literal["auto", "cpu", "cuda"] = "auto"

    @model_validator(mode="after")
    def _consistent(self) -> TrainSettings:
        given = [name for name in ("tokens", "steps", "minutes") if getattr(self, name) is not None]
        if len(given) != 1:
            what = " and ".join(given) + " contradict" if given else "none is given"
            raise ValueError(f"the length of the run is one of tokens, steps and minutes: {what}")
        length, batch = self.sequence_length, self.batch_tokens
        if batch % length:
            below, above = batch // length * length, -(-batch // length) * length
            near = f"{below} or {above}" if below else f"{above}"
            raise ValueError(
                f"batch_tokens = {batch} is not a multiple of sequence_length = {length}; nearest: {near}"
            )
        if isinstance(self.micro_batch, int):
            sequences = batch // length
            if self.micro_batch < 1 or sequences % self.micro_batch:
                valid = min(
                    (n for n in range(1, sequences + 1) if sequences % n == 0),
                    key=lambda n: abs(n - int(self.micro_batch)),
                )
                raise ValueError(
                    f"micro_batch = {self.micro_batch} does not divide the {sequences} sequences of a batch; "
                    f"nearest: {valid}"
                )
        return self

    @property
    def batch_sequences(self) -> int:
        """Sequences of a global step."""
        return self.batch_tokens // self.sequence_length
