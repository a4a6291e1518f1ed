"""The configuration files agree with what `transformers` itself would build."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from danlu.export.config import generation_config, model_config, special_ids, weight_shapes
from danlu.files import write_json
from danlu.model.shape import Shape


class Ids:
    bos_id, eos_id, pad_id = 0, 1, 2


def make_shape(qk_norm: bool, tied: bool) -> Shape:
    return Shape(64, 24, 2, 3, 1, 8, 40, tied, qk_norm, 1e-6, 12_345.0)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("qk_norm", [True, False])
def test_weights_are_those_of_the_class(tmp_path, qk_norm, tied):
    shape = make_shape(qk_norm, tied)
    write_json(tmp_path / "config.json", model_config(shape, Ids(), 128))
    config = AutoConfig.from_pretrained(tmp_path)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    theirs = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    if tied:
        assert theirs.pop("lm_head.weight") == (64, 24)
    assert weight_shapes(shape) == theirs


@pytest.mark.parametrize("qk_norm", [True, False])
def test_numbers_arrive(tmp_path, qk_norm):
    write_json(tmp_path / "config.json", model_config(make_shape(qk_norm, tied=False), Ids(), 128))
    config = AutoConfig.from_pretrained(tmp_path)
    assert config.rope_parameters["rope_theta"] == 12_345.0
    assert config.rms_norm_eps == 1e-6
    assert config.max_position_embeddings == 128
    assert (config.bos_token_id, config.eos_token_id, config.pad_token_id) == (0, 1, 2)
    assert config.tie_word_embeddings is False
    assert not config.attention_bias


def test_generation_stops_at_the_end_of_text():
    assert special_ids(Ids()).items() <= generation_config(Ids()).items()
