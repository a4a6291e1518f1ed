"""The model card: valid YAML whatever the names, tables that are tables, nothing that was not measured."""

import re

import pytest
import yaml

from danlu.export.card import CardInfo, model_card
from danlu.model.shape import Shape

SHAPE = Shape(64, 24, 2, 3, 1, 8, 40, True, True, 1e-6, 10_000.0)
ROW = {"domain": 'a "b": c', "loss": 2.0, "perplexity": 7.389, "bits_per_byte": 1.25}


def head_and_body(card: str) -> tuple[dict, str]:
    _, head, body = card.split("---\n", 2)
    return yaml.safe_load(head), body


def test_front_matter_holds_the_measurements():
    info = CardInfo("my: model #1", 1_000_000, 5_000_000, 600, 256, {"prose": 5}, [ROW])
    head, body = head_and_body(model_card(info, SHAPE, 3e-6))
    (entry,) = head["model-index"]
    assert entry["name"] == "my: model #1"
    (result,) = entry["results"]
    assert result["dataset"]["type"] == 'a "b": c'
    assert {m["type"]: m["value"] for m in result["metrics"]} == {"perplexity": 7.389, "bits_per_byte": 1.25}
    assert head["library_name"] == "transformers"
    assert "license" not in head
    assert "1M parameters" in body
    assert "3.0e-06" in body


def test_nothing_is_said_that_was_not_measured():
    head, body = head_and_body(model_card(CardInfo("m", 1, 2, 3, 4), SHAPE, 0.0))
    assert "model-index" not in head
    assert "## Evaluation" not in body
    assert "## Training text" not in body


@pytest.mark.parametrize("simple", [None, {"order0": 4.5, "bigram": 3.5, "xz": 2.0}])
def test_tables_have_as_many_cells_as_columns(simple):
    row = {**ROW, "domain": "a|b", "baselines": simple, "perplexity": None}
    _, body = head_and_body(model_card(CardInfo("m", 1, 2, 3, 4, {"a|b": 3}, [row]), SHAPE, 0.0))
    tables = re.findall(r"(?:^\|.*\|\n)+", body, flags=re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1
