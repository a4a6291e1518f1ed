"""The two questions that evaluation and generation ask of a network: token losses of a batch, logits of the next.

Guarantees: no gradient is kept, logits of a whole batch never exist at once, and the network's mode is left alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from danlu.attention.contract import make_attention
from danlu.model.loss import token_nll
from danlu.model.network import Network
from danlu.precision.choose import Precision
from danlu.records import Batch

Floats = npt.NDArray[np.float32]


@torch.inference_mode()
def token_losses(network: Network, precision: Precision, device: torch.device, batch: Batch) -> Floats:
    """Negative log-likelihood in nats of every label, float32 (B, T); 0 where there is no label."""
    inputs, labels, positions = (
        torch.from_numpy(array).to(device) for array in (batch.inputs, batch.labels, batch.positions)
    )
    with precision.context():
        hidden = network(inputs, positions, make_attention(batch.documents, device))
        nll = token_nll(hidden, network.head_weight, labels)
    losses: Floats = nll.float().cpu().numpy()
    return losses


@torch.inference_mode()
def all_logits(network: Network, device: torch.device, ids: npt.NDArray[np.int64]) -> Floats:
    """Logits (T, V) of one document, in fp32."""
    documents = np.zeros((1, len(ids)), dtype=np.int64)
    inputs = torch.from_numpy(ids)[None].to(device)
    positions = torch.arange(len(ids), device=device)[None]
    hidden = network(inputs, positions, make_attention(documents, device))
    logits: Floats = (hidden[0] @ network.head_weight.T).float().cpu().numpy()
    return logits


@torch.inference_mode()
def next_logits(network: Network, precision: Precision, device: torch.device, ids: list[int]) -> Floats:
    """Logits (V,) of the token that follows `ids`, float32."""
    inputs = torch.tensor([ids], device=device)
    positions = torch.arange(len(ids), device=device)[None]
    documents = np.zeros((1, len(ids)), dtype=np.int64)
    with precision.context():
        hidden = network(inputs, positions, make_attention(documents, device))
        logits = hidden[0, -1] @ network.head_weight.T
    values: Floats = logits.float().cpu().numpy()
    return values
