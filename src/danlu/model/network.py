"""The network: a Llama-like decoder, written for reading and for speed.

Decides: pre-norm blocks of grouped-query attention with rotary positions and SwiGLU, no biases, optional RMSNorm of
each query and key head (as Qwen3); q, k, v are one matmul, gate and up another. Each parameter's role is data
(`roles`), and so is how fused matrices come apart (`splits`), so that optimizer and export need not know the code.
It opens in `transformers` as LlamaForCausalLM or, with QK-norm, Qwen3ForCausalLM (model/naming.py).
Guarantee: weights are NaN until model/init.py or a checkpoint fills them.

Shapes: B rows, T tokens, W width, H heads, KV key/value heads, D head width, F ffn width, V vocabulary.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from danlu.attention.contract import Attend, Attention
from danlu.model.gate import swiglu
from danlu.model.norm import RmsNorm
from danlu.model.rope import split_turned, turn, turns_table
from danlu.model.shape import Shape
from danlu.records import Role


class Linear(nn.Linear):
    """A matrix (out, in) without bias, NaN until it is filled."""

    def __init__(self, in_width: int, out_width: int) -> None:
        super().__init__(in_width, out_width, bias=False)

    def reset_parameters(self) -> None:
        nn.init.constant_(self.weight, torch.nan)


class SelfAttention(nn.Module):
    """One fused projection to q, k and v, attention, and the projection back."""

    def __init__(self, shape: Shape, attend: Attend) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_width = shape.heads, shape.kv_heads, shape.head_width
        self.attend = attend
        self.qkv = Linear(shape.width, (shape.heads + 2 * shape.kv_heads) * shape.head_width)
        self.output = Linear(shape.heads * shape.head_width, shape.width)
        self.query_norm = RmsNorm(shape.head_width, shape.norm_epsilon) if shape.qk_norm else None
        self.key_norm = RmsNorm(shape.head_width, shape.norm_epsilon) if shape.qk_norm else None

    def forward(self, x: Tensor, turns: Tensor, attention: Attention) -> Tensor:
        qkv = self.qkv(x).unflatten(-1, (-1, self.head_width))
        if self.query_norm is None or self.key_norm is None:
            q, k, v = split_turned(qkv, turns, self.heads, self.kv_heads)
        else:
            q, k, v = qkv.split([self.heads, self.kv_heads, self.kv_heads], dim=2)
            # a view of v would keep the whole projection until the backward pass
            q, k, v = turn(self.query_norm(q), turns), turn(self.key_norm(k), turns), v.clone()
        mixed = self.attend(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attention)
        out: Tensor = self.output(mixed.transpose(1, 2).flatten(-2))
        return out


class FeedForward(nn.Module):
    """SwiGLU with gate and up in one matmul."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_up = Linear(shape.width, 2 * shape.ffn_width)
        self.down = Linear(shape.ffn_width, shape.width)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(swiglu(self.gate_up(x)))
        return out


class Block(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, shape: Shape, attend: Attend) -> None:
        super().__init__()
        self.attention_norm = RmsNorm(shape.width, shape.norm_epsilon)
        self.attention = SelfAttention(shape, attend)
        self.feed_forward_norm = RmsNorm(shape.width, shape.norm_epsilon)
        self.feed_forward = FeedForward(shape)

    def forward(self, x: Tensor, turns: Tensor, attention: Attention) -> Tensor:
        x = x + self.attention(self.attention_norm(x), turns, attention)
        out: Tensor = x + self.feed_forward(self.feed_forward_norm(x))
        return out


class Network(nn.Module):
    """Token ids to hidden states; the head is applied by the loss, chunk by chunk (model/loss.py)."""

    def __init__(self, shape: Shape, attend: Attend) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = Linear(shape.width, shape.vocab_size)
        self.layers = nn.ModuleList(Block(shape, attend) for _ in range(shape.layers))
        self.final_norm = RmsNorm(shape.width, shape.norm_epsilon)
        self.head = None if shape.tie_embeddings else Linear(shape.width, shape.vocab_size)
        self._turns: Tensor | None = None

    def forward(self, inputs: Tensor, positions: Tensor, attention: Attention) -> Tensor:
        """inputs and positions int64 (B, T), positions below T -> hidden states (B, T, W) after the last norm."""
        x = F.embedding(inputs, self.embedding.weight)
        turns = self._table(inputs.shape[1], x)[positions].unsqueeze(2)
        for layer in self.layers:
            x = layer(x, turns, attention)
        out: Tensor = self.final_norm(x)
        return out

    @property
    def head_weight(self) -> Tensor:
        """The matrix (V, W) that turns a hidden state into logits."""
        return self.embedding.weight if self.head is None else self.head.weight

    def roles(self) -> dict[str, Role]:
        """What each parameter is, by name; a tied head is the embedding."""
        roles: dict[str, Role] = {}
        for name, parameter in self.named_parameters():
            if name == "embedding.weight":
                roles[name] = "embedding"
            elif name == "head.weight":
                roles[name] = "head"
            else:
                roles[name] = "gain" if parameter.ndim == 1 else "matrix"
        return roles

    def splits(self) -> dict[str, tuple[int, ...]]:
        """The rows of each matrix in a fused parameter, for parameters that hold more than one."""
        shape = self.shape
        splits: dict[str, tuple[int, ...]] = {}
        q, kv = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
        for layer in range(shape.layers):
            splits[f"layers.{layer}.attention.qkv.weight"] = (q, kv, kv)
            splits[f"layers.{layer}.feed_forward.gate_up.weight"] = (shape.ffn_width, shape.ffn_width)
        return splits

    def _table(self, length: int, like: Tensor) -> Tensor:
        """The turns of positions 0..length-1 or more, on the device and in the precision of `like`."""
        dtype = torch.complex128 if like.dtype == torch.float64 else torch.complex64
        turns = self._turns
        if turns is None or len(turns) < length or turns.device != like.device or turns.dtype != dtype:
            turns = turns_table(length, self.shape.head_width, self.shape.rope_theta).to(like.device, dtype)
            self._turns = turns
        return turns
