"""A finished or running training opened for questions: losses, logits, weights under their public names.

Reads the run directory only; never writes to it. Costs: one load of the weights, verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from danlu.checkpoint.load import load
from danlu.errors import MismatchError
from danlu.log import say
from danlu.mixture.stages import cut_stages
from danlu.model.naming import to_huggingface
from danlu.model.network import Network
from danlu.model.shape import Shape, resolve_shape
from danlu.precision.choose import Precision, resolve_precision
from danlu.recipe import Recipe
from danlu.records import Batch
from danlu.tokenizer.codec import Codec
from danlu.train.assemble import build_network, resolve_device
from danlu.train.identity import read_stages
from danlu.train.infer import Floats, all_logits, next_logits, token_losses


@dataclass(frozen=True)
class Session:
    """A network with its tokenizer at one step of a run."""

    network: Network
    shape: Shape
    codec: Codec
    device: torch.device
    precision: Precision
    step: int
    tokens: int
    context: int
    """Tokens that the network was trained to look back over; longer texts are seen through this window."""

    def token_losses(self, batch: Batch) -> Floats:
        """Negative log-likelihood in nats of every label, float32 (B, T)."""
        return token_losses(self.network, self.precision, self.device, batch)

    def logits(self, ids: npt.NDArray[np.int64]) -> Floats:
        """Logits (T, V) of one document, in fp32 whatever the training's precision: what an export is held against."""
        return all_logits(self.network, self.device, ids)

    def next_logits(self, ids: list[int]) -> Floats:
        """Logits (V,) of the token that follows `ids`."""
        return next_logits(self.network, self.precision, self.device, ids[-self.context :])

    def hf_tensors(self) -> dict[str, torch.Tensor]:
        """The weights under the names of `transformers`, fp32 on the CPU."""
        return to_huggingface(self.shape, self.network.state_dict())


def open_session(recipe: Recipe, run: Path, step: int | None = None) -> Session:
    """Opens the newest good checkpoint of a run, or the one of `step`."""
    device = resolve_device(recipe)
    codec = Codec.load(run / "tokenizer" / "tokenizer.json")
    loaded = load(run / "checkpoints", step)
    for reason in loaded.skipped:
        say(f"  {reason}")
    saved = loaded.state["identity"]["tokenizer"]
    if saved != codec.sha256:
        raise MismatchError(
            f"{run}/tokenizer/tokenizer.json is not the tokenizer that step {loaded.step} was trained with; "
            f"restore it, or train again with --fresh"
        )
    stages = cut_stages(read_stages(loaded.state["identity"]), max(loaded.step, 1))
    shape = resolve_shape(recipe.model, codec.vocab_size)
    network = build_network(recipe, shape, device)
    network.load_state_dict(loaded.tensors["model"])
    network.eval()
    precision = resolve_precision(recipe.precision, device)
    return Session(
        network,
        shape,
        codec,
        device,
        precision,
        loaded.step,
        loaded.state["tokens"],
        max(stage.sequence_length for stage in stages),
    )
