"""Everything a step reads or moves, in one place: the trainer's parts and its counters.

The counters are the whole state of the data: the loader is a function of the number of consumed samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from danlu.model.network import Network
from danlu.model.shape import Shape
from danlu.monitor.runlog import RunLog
from danlu.optim.build import Optimizer
from danlu.plan.plan import Plan
from danlu.precision.choose import Precision
from danlu.recipe import Recipe
from danlu.tokenizer.codec import Codec
from danlu.tokens.batches import Batches


@dataclass
class Counters:
    """Where the run stands. `samples` and `tokens` count what was trained on, padding included."""

    step: int = 0
    samples: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass
class Trainer:
    """The parts that train/assemble.py builds; train/step.py uses them and nothing else."""

    recipe: Recipe
    run: Path
    plan: Plan
    device: torch.device
    precision: Precision
    codec: Codec
    shape: Shape
    network: Network
    forward: nn.Module
    """The network, compiled where that was asked for; the same parameters."""
    optimizer: Optimizer
    batches: Batches
    log: RunLog
    identity: dict[str, Any]
    counters: Counters = field(default_factory=Counters)
