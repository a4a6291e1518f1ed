"""A second, independent reading of an export: the network in plain numpy, written from the published equations.

It imports nothing of danlu, reads only the exported files, and computes in float64, so that a mistake in the network,
in the names of its weights or in config.json cannot cancel out. Sources: RMSNorm (Zhang and Sennrich 2019), RoPE (Su et
al. 2021, halves rotated as in Llama), grouped queries (Ainslie et al. 2023), SwiGLU (Shazeer 2020), QK-norm as in
Qwen3. Costs: one layer's weights at a time in memory, twice its size.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

Array = npt.NDArray[np.float64]


def forward(directory: Path, ids: npt.NDArray[np.int64]) -> Array:
    """Logits (T, V) of one document `ids` (T,), from config.json and model.safetensors alone."""
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    with safe_open(directory / "model.safetensors", framework="numpy") as weights:

        def weight(name: str) -> Array:
            return np.asarray(weights.get_tensor(f"{name}.weight"), dtype=np.float64)

        x = weight("model.embed_tokens")[ids]
        for layer in range(config["num_hidden_layers"]):
            at = f"model.layers.{layer}"
            normed = rms_norm(x, weight(f"{at}.input_layernorm"), config)
            x = x + attention(normed, f"{at}.self_attn", weight, config)
            normed = rms_norm(x, weight(f"{at}.post_attention_layernorm"), config)
            gate, up = (normed @ weight(f"{at}.mlp.{name}_proj").T for name in ("gate", "up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ weight(f"{at}.mlp.down_proj").T
        x = rms_norm(x, weight("model.norm"), config)
        return x @ weight("model.embed_tokens" if config["tie_word_embeddings"] else "lm_head").T


def attention(x: Array, at: str, weight: Callable[[str], Array], config: dict[str, Any]) -> Array:
    """Causal self-attention of x (T, W); every key-value head serves heads/kv_heads query heads."""
    width, groups = config["head_dim"], config["num_attention_heads"] // config["num_key_value_heads"]
    q, k, v = (
        (x @ weight(f"{at}.{name}_proj").T).reshape(len(x), -1, width).transpose(1, 0, 2) for name in "qkv"
    )
    if config["model_type"] == "qwen3":
        q, k = rms_norm(q, weight(f"{at}.q_norm"), config), rms_norm(k, weight(f"{at}.k_norm"), config)
    q, k = rotate(q, config), rotate(k, config)
    k, v = k.repeat(groups, axis=0), v.repeat(groups, axis=0)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(width)
    scores[:, np.triu(np.ones(scores.shape[1:], dtype=bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed: Array = (shares @ v).transpose(1, 0, 2).reshape(len(x), -1)
    return mixed @ weight(f"{at}.o_proj").T


def rotate(x: Array, config: dict[str, Any]) -> Array:
    """Rotary positions 0, 1, ... on x (heads, T, head width): dimension i turns together with i + width/2."""
    width = x.shape[-1]
    rates = config["rope_parameters"]["rope_theta"] ** (-np.arange(0, width, 2) / width)
    angles = np.arange(x.shape[1])[:, None] * rates
    first, second = x[..., : width // 2], x[..., width // 2 :]
    cos, sin = np.cos(angles), np.sin(angles)
    turned: Array = np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
    return turned


def rms_norm(x: Array, gain: Array, config: dict[str, Any]) -> Array:
    """x over the root of its mean square along the last axis."""
    normed: Array = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + config["rms_norm_eps"]) * gain
    return normed
