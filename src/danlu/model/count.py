"""How many parameters and floating-point operations a shape has. No torch.

Guarantee: the counts equal those of the network that model/network.py builds (tested).
"""

from __future__ import annotations

from dataclasses import dataclass

from danlu.model.shape import Shape, matrix_parameters


@dataclass(frozen=True, slots=True)
class Counts:
    """Parameters by role; `head` is 0 where it is tied to the embedding."""

    embedding: int
    head: int
    matrices: int
    gains: int

    @property
    def total(self) -> int:
        """Every trained number, once."""
        return self.embedding + self.head + self.matrices + self.gains

    @property
    def non_embedding(self) -> int:
        """The N of scaling laws: without embedding and head (Kaplan et al. 2020)."""
        return self.matrices + self.gains


def count_parameters(shape: Shape) -> Counts:
    """Parameters of the network of this shape."""
    table = shape.vocab_size * shape.width
    per_layer_gains = 2 * shape.width + (2 * shape.head_width if shape.qk_norm else 0)
    return Counts(
        embedding=table,
        head=0 if shape.tie_embeddings else table,
        matrices=matrix_parameters(
            shape.width, shape.layers, shape.heads, shape.kv_heads, shape.head_width, shape.ffn_width
        ),
        gains=shape.layers * per_layer_gains + shape.width,
    )


def flops_per_token(shape: Shape, sequence_length: int) -> float:
    """FLOPs of forward and backward per token, a multiply-add being two.

    6 per parameter that multiplies activations (blocks and head, not the embedding's look-up), and the two attention
    products at the mean causal span of (T + 1) / 2 keys. As in Chowdhery et al. 2022, appendix B, who count
    the full span T.
    """
    multiplied = count_parameters(shape).matrices + shape.vocab_size * shape.width
    span = (sequence_length + 1) / 2
    attention = 12 * shape.layers * shape.heads * shape.head_width * span
    return 6.0 * multiplied + attention
