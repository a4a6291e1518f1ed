"""The shape of the network, from one dial or from the recipe's own numbers. No torch.

Decides: `model.size` counts parameters without embeddings; depth and width follow from it so that width / layers
rises slowly with size, as it does in published families (about 43 at 1M, 64 at 25M, 128 at 7B). Heads are 64 wide
up to a width of 1,024 and 128 beyond. What cannot be built is refused with the nearest valid number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from danlu.errors import RecipeError
from danlu.model.settings import ModelSettings

_FFN_MULTIPLE = 32
_MAX_LAYERS = 200


@dataclass(frozen=True, slots=True)
class Shape:
    """All that decides the parameters of a network and what it computes."""

    vocab_size: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head_width: int
    ffn_width: int
    tie_embeddings: bool
    qk_norm: bool
    norm_epsilon: float
    rope_theta: float


def matrix_parameters(
    width: int, layers: int, heads: int, kv_heads: int, head_width: int, ffn_width: int
) -> int:
    """Parameters of the blocks' matrices: q, k, v, output, gate, up and down."""
    attention = 2 * width * heads * head_width + 2 * width * kv_heads * head_width
    return layers * (attention + 3 * width * ffn_width)


def resolve_shape(settings: ModelSettings, vocab_size: int) -> Shape:
    """The full shape; RecipeError where the numbers contradict each other or none is given."""
    if settings.size is not None:
        width, layers = _from_size(settings.size)
        heads, kv_heads, ffn_width = width // _head_width(width), None, None
    elif settings.width is not None and settings.layers is not None and settings.heads is not None:
        width, layers, heads = settings.width, settings.layers, settings.heads
        kv_heads, ffn_width = settings.kv_heads, settings.ffn_width
    else:
        raise RecipeError('[model] names no network: write e.g. size = "25M", or width, layers and heads')
    kv_heads = kv_heads or heads
    _check_heads(width, heads, kv_heads)
    return Shape(
        vocab_size=vocab_size,
        width=width,
        layers=layers,
        heads=heads,
        kv_heads=kv_heads,
        head_width=width // heads,
        ffn_width=ffn_width or _default_ffn_width(width),
        tie_embeddings=settings.tie_embeddings,
        qk_norm=settings.qk_norm,
        norm_epsilon=settings.norm_epsilon,
        rope_theta=settings.rope.theta,
    )


def _default_ffn_width(width: int) -> int:
    """8/3 of the width (Shazeer 2020: as many parameters as an ungated 4x layer), rounded up for fast matmuls."""
    return -(-8 * width // (3 * _FFN_MULTIPLE)) * _FFN_MULTIPLE


def _head_width(width: int) -> int:
    return 64 if width <= 1024 else 128


def _from_size(size: int) -> tuple[int, int]:
    """(width, layers) whose count is nearest to `size`, at a width/layers ratio near the one for that size."""
    ideal_ratio = 64 * (size / 25e6) ** 0.125
    best = None
    for width in (*range(64, 1025, 64), *range(1152, 32_769, 128)):
        heads, head_width = width // _head_width(width), _head_width(width)
        per_layer = matrix_parameters(width, 1, heads, heads, head_width, _default_ffn_width(width))
        layers = min(max(1, round(size / per_layer)), _MAX_LAYERS)
        miss = abs(math.log(layers * per_layer / size))
        bend = abs(math.log(width / layers / ideal_ratio))
        if best is None or (miss + 0.2 * bend) < best[0]:
            best = (miss + 0.2 * bend, width, layers, layers * per_layer)
    assert best is not None
    _, width, layers, count = best
    if not 0.5 < count / size < 2.0:
        raise RecipeError(
            f"model.size = {size:,} is too far from any network of this family (the nearest has {count:,} "
            f"parameters without embeddings); name width, layers and heads"
        )
    return width, layers


def _check_heads(width: int, heads: int, kv_heads: int) -> None:
    if width % heads or width // heads % 2:
        valid = [n for n in range(1, width + 1) if width % n == 0 and width // n % 2 == 0]
        what = f"gives heads of width {width / heads:g}; it must be a whole even number"
        near = f"; nearest: heads = {min(valid, key=lambda n: abs(n - heads))}" if valid else ""
        raise RecipeError(f"model.heads = {heads} with model.width = {width} {what}{near}")
    if kv_heads > heads or heads % kv_heads:
        valid = [n for n in range(1, heads + 1) if heads % n == 0]
        fit = min(valid, key=lambda n: abs(n - kv_heads))
        raise RecipeError(
            f"model.kv_heads = {kv_heads} does not divide model.heads = {heads}; nearest: {fit}"
        )
