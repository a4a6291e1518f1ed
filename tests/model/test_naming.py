from __future__ import annotations

import itertools

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from danlu.attention.contract import Attention
from danlu.errors import MismatchError
from danlu.model.naming import from_huggingface, halves_apart, neighbours, to_huggingface
from networks import VOCAB_SIZE, make_network

KINDS = pytest.mark.parametrize(("qk_norm", "tied"), list(itertools.product([False, True], repeat=2)))


@KINDS
def test_there_and_back_is_bitwise_the_same(qk_norm: bool, tied: bool) -> None:
    network = make_network(qk_norm=qk_norm, tie_embeddings=tied)
    ours = network.state_dict()
    back = from_huggingface(network.shape, to_huggingface(network.shape, ours))
    assert back.keys() == ours.keys()
    assert all(torch.equal(back[name], ours[name]) for name in ours)
    assert all(tensor.is_contiguous() for tensor in back.values())


@KINDS
def test_transformers_computes_the_same_logits(qk_norm: bool, tied: bool) -> None:
    network = make_network(qk_norm=qk_norm, tie_embeddings=tied)
    shape = network.shape
    config_of, model_of = (Qwen3Config, Qwen3ForCausalLM) if qk_norm else (LlamaConfig, LlamaForCausalLM)
    model = model_of(
        config_of(
            vocab_size=VOCAB_SIZE,
            hidden_size=shape.width,
            intermediate_size=shape.ffn_width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            head_dim=shape.head_width,
            rms_norm_eps=shape.norm_epsilon,
            tie_word_embeddings=tied,
            rope_parameters={"rope_type": "default", "rope_theta": shape.rope_theta},
        )
    )
    missing, foreign = model.load_state_dict(to_huggingface(shape, network.state_dict()), strict=False)
    assert (missing, foreign) == (["lm_head.weight"] if tied else [], [])
    inputs = torch.arange(2 * 19).view(2, 19) % VOCAB_SIZE
    with torch.no_grad():
        hidden = network(inputs, torch.arange(19).expand(2, 19), Attention())
        theirs = model.eval()(inputs).logits
    torch.testing.assert_close(hidden @ network.head_weight.t(), theirs, atol=1e-5, rtol=0)


def test_pairs_move_within_their_head() -> None:
    rows = torch.arange(8)
    assert halves_apart(rows, 4).tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert neighbours(halves_apart(rows, 4), 4).tolist() == rows.tolist()


def test_foreign_weights_are_refused_by_name() -> None:
    network = make_network()
    tensors = to_huggingface(network.shape, network.state_dict())
    with pytest.raises(MismatchError, match=r"model\.norm\.weight is missing"):
        from_huggingface(
            network.shape, {name: t for name, t in tensors.items() if name != "model.norm.weight"}
        )
    with pytest.raises(MismatchError, match=r"other\.bias is not of this network"):
        from_huggingface(network.shape, {**tensors, "other.bias": torch.zeros(1)})
