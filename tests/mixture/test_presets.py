"""The published shares are those of the papers, and the key knows them all."""

import re
from typing import get_args

import pytest

from danlu.mixture.presets import read_presets
from danlu.mixture.settings import Preset


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("llama1", [67, 15, 4.5, 4.5, 4.5, 2.5, 2]),
        ("llama3", [50, 25, 17, 8]),
        ("gpt3", [60, 22, 8, 8, 3]),
        ("codellama", [85, 8, 7]),
        ("codellama_python", [75, 10, 10, 5]),
        ("codegen_nl", [100, 0, 0]),
        ("codegen_multi", [0, 100, 0]),
        ("codegen_mono", [0, 0, 100]),
    ],
)
def test_shares(name, percent):
    assert [100 * share for share in read_presets()[name].weights.values()] == pytest.approx(percent)


def test_llemma_keeps_a_twentieth_of_general_text():
    weights = read_presets()["llemma"].weights
    assert weights["pile"] + weights["redpajama"] == pytest.approx(0.05)
    papers = weights["arxiv"]
    assert [weights["open_web_math"] / papers, weights["algebraic_stack"] / papers] == pytest.approx([2, 0.5])


def test_every_preset_is_whole_and_says_where_it_is_printed():
    for name, preset in read_presets().items():
        assert sum(preset.weights.values()) == pytest.approx(1.01 if name == "gpt3" else 1.0), name
        assert re.search(r"\d{4}.*arXiv \d{4}\.\d{5}", preset.source), name


def test_the_key_names_them_all():
    assert set(get_args(Preset)) == set(read_presets())
