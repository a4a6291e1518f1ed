"""What a training step needs in memory, from the shape alone.

Foresees the peak of tensors alive at once, to 15 % of a measured step (tested); the resident size of the process is
above it, by allocator and kernel scratch. The counts follow model/network.py: what each operation keeps for its
backward pass. Costs: arithmetic. No torch.

Letters in comments: W width, A all query heads, K all key heads, F ffn width, V vocabulary, T sequence length.
"""

from __future__ import annotations

from dataclasses import dataclass

from danlu.model.count import count_parameters
from danlu.model.shape import Shape

_FP32 = 4
_LOGIT_COPIES = 2
"""Of a chunk of logits: themselves, and what the softmax or its gradient makes of them."""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Bytes, by what they hold; `total` is the peak, at which not all of them need be there at once."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    logits: int
    total: int


@dataclass(frozen=True, slots=True)
class StepShape:
    """What beside the network's shape decides the memory of a step."""

    sequence_length: int
    micro_batch: int
    accumulates: bool
    """Gradients of earlier micro-batches are there during the forward pass."""
    optimizer: str
    document_mask: bool = True
    activation_bytes: int = _FP32
    """4 for fp32, 2 for bf16; weights, gradients and moments are fp32 either way."""


def estimate_memory(shape: Shape, step: StepShape) -> MemoryEstimate:
    """The memory of one training step on one device."""
    counts = count_parameters(shape)
    parameters = _FP32 * counts.total
    # Muon keeps one moment for matrices and two for the rest, AdamW two for all.
    moments = 2 * counts.total - (counts.matrices if step.optimizer == "muon" else 0)
    optimizer = _FP32 * moments
    activations, logits = _activations(shape, step), _logits(shape, step)
    forward = activations + logits + (parameters if step.accumulates else 0)
    update = parameters + (_muon_work(shape) if step.optimizer == "muon" else 0)
    return MemoryEstimate(
        parameters=parameters,
        gradients=parameters,
        optimizer=optimizer,
        activations=activations,
        logits=logits,
        total=parameters + optimizer + max(forward, update),
    )


def _activations(shape: Shape, step: StepShape) -> int:
    """Kept from the forward pass for the backward pass."""
    width, heads, keys = shape.width, shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    # Normalised inputs of both norms, fp32 always; their outputs; attention's output; gate, up and their product.
    exact = 2 * width
    numbers = 2 * width + heads + 3 * shape.ffn_width
    # Attention's q, k, v; with QK-norm also the projection that v is a view of and the normalised q and k.
    numbers += heads + 2 * keys
    if shape.qk_norm:
        numbers += heads + keys
        exact += heads + keys
    per_token = shape.layers * (_FP32 * exact + step.activation_bytes * numbers)
    # Last norm: its normalised input and its output.
    per_token += _FP32 * width + step.activation_bytes * width
    if step.document_mask:
        # The kernel keeps the mask as numbers, once a layer.
        per_token += shape.layers * step.activation_bytes * step.sequence_length
    # Autocast keeps a short copy of the matrices until the micro-batch is done.
    copies = 0 if step.activation_bytes == _FP32 else step.activation_bytes * count_parameters(shape).matrices
    return copies + per_token * step.micro_batch * step.sequence_length


def _logits(shape: Shape, step: StepShape) -> int:
    """The loss: a chunk of logits, and the gradients of hidden states and head, which it makes on the way forward."""
    tokens = step.micro_batch * step.sequence_length
    # Rows of a chunk as model/loss.py cuts them.
    chunk = min(tokens, max(256, (1 << 21) // shape.vocab_size))
    head = shape.vocab_size * shape.width
    return _FP32 * (_LOGIT_COPIES * chunk * shape.vocab_size + tokens * shape.width + head)


def _muon_work(shape: Shape) -> int:
    """Muon's update: a copy of the matrices' gradients, and three stacks of the shape that has most of them."""
    width, keys = shape.width, shape.kv_heads * shape.head_width
    feed_forward, attention = 3 * width * shape.ffn_width, 2 * width * (shape.heads * shape.head_width + keys)
    return _FP32 * (count_parameters(shape).matrices + 3 * shape.layers * max(feed_forward, attention))
