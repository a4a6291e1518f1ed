"""The independent forward pass: short, alone, and right on a network small enough to compute by hand."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from danlu.export import forward as module
from danlu.export.forward import forward, rms_norm, rotate

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 2,
    "rms_norm_eps": 0.0,
    "rope_parameters": {"rope_theta": 100.0},
    "tie_word_embeddings": True,
}


def test_it_is_short_and_imports_nothing_of_danlu():
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 80
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in imports for alias in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.startswith(("danlu", "torch", "transformers"))]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    names = {
        "model.embed_tokens": (5, 3),
        "model.norm": (3,),
        "model.layers.0.input_layernorm": (3,),
        "model.layers.0.post_attention_layernorm": (3,),
        "model.layers.0.self_attn.q_proj": (4, 3),
        "model.layers.0.self_attn.k_proj": (2, 3),
        "model.layers.0.self_attn.v_proj": (2, 3),
        "model.layers.0.self_attn.o_proj": (3, 4),
        "model.layers.0.mlp.gate_proj": (4, 3),
        "model.layers.0.mlp.up_proj": (4, 3),
        "model.layers.0.mlp.down_proj": (3, 4),
    }
    weights = {f"{name}.weight": rng.normal(size=size) for name, size in names.items()}
    save_file(weights, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def test_the_future_is_not_seen(exported: Path):
    whole = forward(exported, np.array([0, 3, 1, 4]))
    for length in (1, 2, 3):
        np.testing.assert_allclose(forward(exported, np.array([0, 3, 1, 4])[:length]), whole[:length])
    changed = forward(exported, np.array([0, 3, 1, 2]))
    np.testing.assert_allclose(changed[:3], whole[:3])
    assert not np.allclose(changed[3], whole[3])


def test_one_token_by_hand(exported: Path):
    from safetensors.numpy import load_file

    w = {name.removeprefix("model.").removesuffix(".weight"): array
         for name, array in load_file(exported / "model.safetensors").items()}  # fmt: skip

    def norm(x, gain):
        return x / np.sqrt(np.mean(x * x)) * gain

    x = w["embed_tokens"][2]
    # Alone, a token attends to itself: both query heads read the one value head.
    value = w["layers.0.self_attn.v_proj"] @ norm(x, w["layers.0.input_layernorm"])
    x = x + w["layers.0.self_attn.o_proj"] @ np.concatenate([value, value])
    h = norm(x, w["layers.0.post_attention_layernorm"])
    gate = w["layers.0.mlp.gate_proj"] @ h
    x = x + w["layers.0.mlp.down_proj"] @ (gate / (1 + np.exp(-gate)) * (w["layers.0.mlp.up_proj"] @ h))
    np.testing.assert_allclose(forward(exported, np.array([2]))[0], w["embed_tokens"] @ norm(x, w["norm"]))


def test_rotation_keeps_length_and_depends_on_distance_alone():
    q, k = np.random.default_rng(1).normal(size=(2, 8))
    turned_q, turned_k = (rotate(np.tile(x, (1, 9, 1)), CONFIG)[0] for x in (q, k))
    np.testing.assert_allclose(np.linalg.norm(turned_q, axis=-1), np.linalg.norm(q))
    scores = turned_q @ turned_k.T
    for distance in (-3, 0, 2):
        np.testing.assert_allclose(np.diff(np.diagonal(scores, distance)), 0, atol=1e-12)
    assert abs(scores[5, 0] - scores[0, 5]) > 1e-3


def test_rms_norm_has_mean_square_one():
    x = rms_norm(np.random.default_rng(2).normal(size=(3, 7)) * 9, np.ones(7), CONFIG)
    np.testing.assert_allclose((x**2).mean(axis=-1), 1)
