from __future__ import annotations

import pytest

from danlu.errors import RecipeError
from danlu.model.count import count_parameters
from danlu.model.settings import ModelSettings
from danlu.model.shape import resolve_shape


@pytest.mark.parametrize(
    "size", [300_000, 1_000_000, 5_000_000, 25_000_000, 124_000_000, 10**9, 7 * 10**9, 70 * 10**9]
)
def test_the_dial_gives_about_what_it_says(size: int) -> None:
    shape = resolve_shape(ModelSettings(size=size), 32_000)
    assert count_parameters(shape).matrices == pytest.approx(size, rel=0.12)
    assert shape.width == shape.heads * shape.head_width
    assert 10 <= shape.width / shape.layers <= 260


def test_depth_follows_published_families() -> None:
    shape = resolve_shape(ModelSettings(size=25_000_000), 1000)
    assert (shape.width, shape.head_width) == (512, 64)
    assert 7 <= shape.layers <= 9


def test_a_full_shape_is_taken_as_it_is() -> None:
    shape = resolve_shape(ModelSettings(width=96, layers=3, heads=6, kv_heads=2), 100)
    assert (shape.width, shape.layers, shape.heads, shape.kv_heads, shape.head_width) == (96, 3, 6, 2, 16)
    assert shape.ffn_width == 256
    assert resolve_shape(ModelSettings(width=96, layers=3, heads=6, ffn_width=100), 100).ffn_width == 100


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "names no network"),
        ({"width": 100, "layers": 2, "heads": 3}, "nearest: heads = 2"),
        (
            {"width": 12, "layers": 2, "heads": 4},
            "width 3; it must be a whole even number; nearest: heads = 3",
        ),
        (
            {"width": 64, "layers": 2, "heads": 4, "kv_heads": 3},
            "does not divide model.heads = 4; nearest: 2",
        ),
        ({"width": 64, "layers": 2, "heads": 4, "kv_heads": 8}, "nearest: 4"),
        ({"size": 1000}, "too far from any network"),
    ],
)
def test_refuses_with_the_nearest_valid(keys: dict[str, int], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        resolve_shape(ModelSettings.model_validate(keys), 100)
