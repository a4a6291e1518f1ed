"""The recipe's `[train]`: how long, how large a batch, on what."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, model_validator

from danlu.config import Section, Size, parse_size
from danlu.mixture.settings import MixtureSettings
from danlu.tokens.settings import PackingSettings


class TrainSettings(Section):
    """Exactly one of tokens, steps and minutes gives the length of the run."""

    tokens: Size | None = Field(default=None, gt=0)
    steps: int | None = Field(default=None, gt=0)
    minutes: float | None = Field(default=None, gt=0.0)
    """Turned into tokens once, by a measurement on this machine ([plan] bounds it)."""
    sequence_length: Size = Field(default=1024, ge=2)
    batch_tokens: Size = Field(default=65_536, gt=0)
    """Of a global step: a multiple of sequence_length; written with a unit, as "64K", the nearest one is taken."""
    micro_batch: int | Literal["auto"] = "auto"
    """Sequences of one forward pass; "auto" is the largest that fits and divides the batch."""
    compile: bool | Literal["auto"] = "auto"
    """torch.compile; "auto" compiles on a GPU only."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    _rounding: str = PrivateAttr("")

    @model_validator(mode="wrap")
    @classmethod
    def _whole_sequences(cls, value: Any, handler: ModelWrapValidatorHandler[TrainSettings]) -> TrainSettings:
        """A size with a unit is a round number: the nearest whole sequences are meant."""
        written = value.get("batch_tokens") if isinstance(value, dict) else None
        if not isinstance(written, str) or not written.strip()[-1:].isalpha():
            return handler(value)
        try:
            batch = parse_size(written)
            length = parse_size(value.get("sequence_length", cls.model_fields["sequence_length"].default))
        except ValueError:
            return handler(value)
        if not isinstance(length, int) or length < 1 or not batch % length or 2 * batch < length:
            return handler(value)
        rounded = (2 * batch + length) // (2 * length) * length
        settings = handler({**value, "batch_tokens": rounded})
        settings._rounding = f"{written!r} as whole sequences of {length:,} tokens"
        return settings

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
    def rounding(self) -> str:
        """Why batch_tokens is not the number that was written; "" where it is."""
        return self._rounding


class StageTrain(Section):
    """What of [train] a stage may change."""

    sequence_length: Size = Field(default=1024, ge=2)


class StageSettings(Section):
    """One of `[[stage]]`, in order: what changes, in the sections' own shapes. What it does not name stays as there."""

    until_tokens: Size | None = Field(default=None, gt=0)
    """Of the run, padding included; the stage ends at the last whole step in it. The last one may leave it out."""
    mixture: MixtureSettings = MixtureSettings()
    tokens: PackingSettings = PackingSettings()
    train: StageTrain = StageTrain()
