"""The JSON files of an export: which `transformers` class reads the weights, and how.

Decides: with QK-norm a network is Qwen3's, without it Llama's, so no remote code is needed. `rope_theta` is written
at both places where releases of `transformers` look for it. Guarantee: every number comes from the shape, the
tokenizer or the training; none is a library's default.
"""

from __future__ import annotations

from typing import Any

from danlu.model.shape import Shape
from danlu.tokenizer.codec import Codec


def model_config(shape: Shape, codec: Codec, sequence_length: int) -> dict[str, Any]:
    """config.json. `sequence_length` is the longest text that the network was trained on."""
    own: dict[str, Any] = (
        {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "layer_types": ["full_attention"] * shape.layers,
            "max_window_layers": shape.layers,
            "sliding_window": None,
            "use_sliding_window": False,
        }
        if shape.qk_norm
        else {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "mlp_bias": False,
            "pretraining_tp": 1,
        }
    )
    return {
        **own,
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_width,
        "intermediate_size": shape.ffn_width,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "rms_norm_eps": shape.norm_epsilon,
        "rope_theta": shape.rope_theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rope_theta},
        "max_position_embeddings": sequence_length,
        "tie_word_embeddings": shape.tie_embeddings,
        "initializer_range": 0.02,
        "use_cache": True,
        "dtype": "float32",
        "torch_dtype": "float32",
        **special_ids(codec),
    }


def generation_config(codec: Codec) -> dict[str, Any]:
    """generation_config.json: plain sampling that ends where a document ends."""
    return {**special_ids(codec), "do_sample": True, "temperature": 0.8}


def special_ids(codec: Codec) -> dict[str, int]:
    """The special tokens by number."""
    return {"bos_token_id": codec.bos_id, "eos_token_id": codec.eos_id, "pad_token_id": codec.pad_id}


def weight_shapes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Every tensor that the class of `model_config` expects, by name: no more and no fewer."""
    width, inner = shape.width, shape.head_width
    queries, keys = shape.heads * inner, shape.kv_heads * inner
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (shape.vocab_size, width),
        "model.norm.weight": (width,),
    }
    if not shape.tie_embeddings:
        shapes["lm_head.weight"] = (shape.vocab_size, width)
    layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (width,),
        "post_attention_layernorm": (width,),
        "self_attn.q_proj": (queries, width),
        "self_attn.k_proj": (keys, width),
        "self_attn.v_proj": (keys, width),
        "self_attn.o_proj": (width, queries),
        "mlp.gate_proj": (shape.ffn_width, width),
        "mlp.up_proj": (shape.ffn_width, width),
        "mlp.down_proj": (width, shape.ffn_width),
    }
    if shape.qk_norm:
        layer |= {"self_attn.q_norm": (inner,), "self_attn.k_norm": (inner,)}
    for number in range(shape.layers):
        shapes |= {f"model.layers.{number}.{name}.weight": size for name, size in layer.items()}
    return shapes
