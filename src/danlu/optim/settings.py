"""The recipe's `[optimizer]`, `[schedule]` and `[loss]`: how the weights move."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from danlu.config import Section, Size

Rate = Annotated[float, Field(gt=0.0)]


class OptimizerSettings(Section):
    """AdamW, or Muon for the hidden matrices with AdamW for the rest."""

    kind: Literal["adamw", "muon"] = "adamw"
    learning_rate: Rate | Literal["auto"] = "auto"
    """Peak rate of AdamW (with muon: of embeddings, head and gains)."""
    matrix_learning_rate: Rate | Literal["auto"] = "auto"
    """Peak rate of Muon's matrices; only with kind = "muon"."""
    weight_decay: float = Field(default=0.1, ge=0.0)
    betas: tuple[float, float] = (0.9, 0.95)
    epsilon: float = Field(default=1e-8, gt=0.0)
    momentum: float = Field(default=0.95, ge=0.0, lt=1.0)
    """Of Muon; only with kind = "muon"."""
    clip_norm: float = Field(default=1.0, gt=0.0)

    @model_validator(mode="after")
    def _consistent(self) -> OptimizerSettings:
        if self.kind != "muon":
            for name in ("matrix_learning_rate", "momentum"):
                if self.is_changed(name):
                    raise ValueError(f'{name} has no effect without kind = "muon"')
        if not all(0.0 <= beta < 1.0 for beta in self.betas):
            raise ValueError("betas must be at least 0 and below 1")
        return self


class ScheduleSettings(Section):
    """The rate over tokens: warm-up, then flat with a linear decay (wsd), cosine, linear or constant."""

    kind: Literal["wsd", "cosine", "linear", "constant"] = "wsd"
    warmup_tokens: Annotated[Size, Field(ge=0)] | Literal["auto"] = "auto"
    """ "auto": 2 % of the run, at least 10 steps."""
    decay_share: float = Field(default=0.2, ge=0.0, le=1.0)
    """Only with wsd: share of the run in which the rate falls."""
    final_ratio: float = Field(default=0.0, ge=0.0, le=1.0)
    """Rate at the end over the peak rate."""

    @model_validator(mode="after")
    def _consistent(self) -> ScheduleSettings:
        if self.kind != "wsd" and self.is_changed("decay_share"):
            raise ValueError('decay_share has no effect without kind = "wsd"')
        if self.kind == "constant" and self.final_ratio != 0.0:
            raise ValueError('final_ratio has no effect with kind = "constant"')
        return self


class LossSettings(Section):
    """What is minimised beside the cross-entropy; never part of the reported loss."""

    z_loss: float = Field(default=1e-4, ge=0.0)
    """Weight of the mean squared log-partition (PaLM, Chowdhery et al. 2022)."""
    label_smoothing: float = Field(default=0.0, ge=0.0, lt=1.0)
