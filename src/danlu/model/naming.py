"""Our parameter names and layouts, and those of Hugging Face's Llama and Qwen3: a bijection, both ways.

Decides: fused matrices are taken apart; rows of q and k (and the gains of their norms) move from neighbouring pairs to
pairs half a head apart. Guarantee: there and back is bitwise the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from danlu.errors import MismatchError
from danlu.model.shape import Shape

_PLAIN = {
    "attention_norm.weight": "input_layernorm.weight",
    "attention.output.weight": "self_attn.o_proj.weight",
    "feed_forward_norm.weight": "post_attention_layernorm.weight",
    "feed_forward.down.weight": "mlp.down_proj.weight",
}
_HEAD_GAINS = {
    "attention.query_norm.weight": "self_attn.q_norm.weight",
    "attention.key_norm.weight": "self_attn.k_norm.weight",
}
_OUTSIDE = {"embedding.weight": "model.embed_tokens.weight", "final_norm.weight": "model.norm.weight"}
_QKV = ("self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight")
_GATE_UP = ("mlp.gate_proj.weight", "mlp.up_proj.weight")


def halves_apart(x: Tensor, head_width: int) -> Tensor:
    """Reorders dim 0, heads of `head_width`: pairs (0,1),(2,3),... become (0,D/2),(1,D/2+1),..."""
    return x.reshape(-1, head_width // 2, 2, *x.shape[1:]).transpose(1, 2).flatten(0, 2)


def neighbours(x: Tensor, head_width: int) -> Tensor:
    """The inverse of `halves_apart`."""
    return x.reshape(-1, 2, head_width // 2, *x.shape[1:]).transpose(1, 2).flatten(0, 2)


def to_huggingface(shape: Shape, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our state dict under the names of LlamaForCausalLM (Qwen3ForCausalLM with QK-norm); contiguous tensors."""
    out = {theirs: tensors[ours] for ours, theirs in _outside(shape).items()}
    q, kv = shape.heads * shape.head_width, shape.kv_heads * shape.head_width
    for layer in range(shape.layers):
        ours, theirs = f"layers.{layer}.", f"model.layers.{layer}."
        for old, new in _PLAIN.items():
            out[theirs + new] = tensors[ours + old]
        if shape.qk_norm:
            for old, new in _HEAD_GAINS.items():
                out[theirs + new] = halves_apart(tensors[ours + old], shape.head_width)
        query, key, value = torch.split(tensors[ours + "attention.qkv.weight"], [q, kv, kv])
        parts = (halves_apart(query, shape.head_width), halves_apart(key, shape.head_width), value)
        out |= {theirs + new: part for new, part in zip(_QKV, parts, strict=True)}
        halves = tensors[ours + "feed_forward.gate_up.weight"].chunk(2)
        out |= {theirs + new: part for new, part in zip(_GATE_UP, halves, strict=True)}
    return {name: tensor.contiguous() for name, tensor in out.items()}


def from_huggingface(shape: Shape, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The inverse of `to_huggingface`. Raises MismatchError naming what is missing or left over."""
    _check_names(shape, tensors)
    out = {ours: tensors[theirs] for ours, theirs in _outside(shape).items()}
    for layer in range(shape.layers):
        ours, theirs = f"layers.{layer}.", f"model.layers.{layer}."
        for new, old in _PLAIN.items():
            out[ours + new] = tensors[theirs + old]
        if shape.qk_norm:
            for new, old in _HEAD_GAINS.items():
                out[ours + new] = neighbours(tensors[theirs + old], shape.head_width)
        query, key, value = (tensors[theirs + name] for name in _QKV)
        fused = [neighbours(query, shape.head_width), neighbours(key, shape.head_width), value]
        out[ours + "attention.qkv.weight"] = torch.cat(fused)
        out[ours + "feed_forward.gate_up.weight"] = torch.cat([tensors[theirs + name] for name in _GATE_UP])
    return {name: tensor.contiguous() for name, tensor in out.items()}


def _outside(shape: Shape) -> dict[str, str]:
    return _OUTSIDE if shape.tie_embeddings else {**_OUTSIDE, "head.weight": "lm_head.weight"}


def _check_names(shape: Shape, tensors: Mapping[str, Tensor]) -> None:
    per_layer = [*_PLAIN.values(), *_QKV, *_GATE_UP, *(_HEAD_GAINS.values() if shape.qk_norm else ())]
    expected = {f"model.layers.{layer}.{name}" for layer in range(shape.layers) for name in per_layer}
    expected |= set(_outside(shape).values())
    given = set(tensors) - ({"lm_head.weight"} if shape.tie_embeddings else set())
    if expected != given:
        what = [f"{name} is missing" for name in sorted(expected - given)]
        what += [f"{name} is not of this network" for name in sorted(given - expected)]
        more = f" and {len(what) - 3} more" if len(what) > 3 else ""
        raise MismatchError(f"these weights do not fit the network's shape: {'; '.join(what[:3])}{more}")
