"""The tables of docs/corpus-at-scale.md are what benchmarks/sizing.py prints, and its simulations do what they say."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest

import house


@pytest.fixture(scope="module")
def sizing() -> ModuleType:
    path = house.ROOT / "benchmarks" / "sizing.py"
    spec = importlib.util.spec_from_file_location("sizing", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["sizing"] = module
    spec.loader.exec_module(module)
    return module


def part_of_page(name: str) -> str:
    page = (house.ROOT / "docs" / "corpus-at-scale.md").read_text(encoding="utf-8")
    _, _, rest = page.partition(f"<!-- {name}: begin -->\n")
    return rest.partition(f"\n<!-- {name}: end -->")[0]


@pytest.mark.slow
def test_the_page_says_what_the_program_prints(sizing: ModuleType) -> None:
    assert part_of_page("sizing") == sizing.table()
    assert part_of_page("measured") == sizing.measured_table()


def test_the_model_removes_the_share_that_was_asked_for(sizing: ModuleType) -> None:
    model = sizing.make_model(0.44, 3.5)  # a light tail, so that the mean of a sample is near that of the law
    sizes = sizing.draw_sizes(model, 400_000, np.random.default_rng(0))
    assert 1 - len(sizes) / sizes.sum() == pytest.approx(0.44, abs=0.01)


def test_ranges_hold_all_records(sizing: ModuleType) -> None:
    model = sizing.make_model(0.44, 2.5)
    loads = sizing.range_loads(model, 1e9, 20, np.random.default_rng(0))
    assert loads.mean == 5e7
    assert loads.mean < loads.largest < 1.2 * loads.mean
    assert loads.largest_bucket < loads.largest


def test_a_chain_becomes_a_star(sizing: ModuleType) -> None:
    chain = sizing.edges(np.arange(999), np.arange(1, 1000))
    rounds, found = sizing.cluster_passes(chain, 1_000)
    assert 1 <= rounds <= 10
    assert set(found["node"][found["node"] < found["other"]]) == {0}
    assert len(found) == 2 * 999
