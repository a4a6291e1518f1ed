from __future__ import annotations

import pytest
import torch

from danlu.errors import RecipeError
from danlu.precision.choose import Precision, resolve_precision
from danlu.precision.settings import PrecisionSettings

CPU = torch.device("cpu")


def test_auto_on_a_cpu_is_fp32() -> None:
    precision = resolve_precision(PrecisionSettings(), CPU)
    assert (precision.kind, precision.dtype) == ("fp32", None)
    assert precision.reason
    with precision.context():
        assert not torch.is_autocast_enabled("cpu")


def test_bf16_casts_the_matmuls() -> None:
    precision = resolve_precision(PrecisionSettings(kind="bf16"), CPU)
    with precision.context():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


def test_tf32_is_refused_where_it_does_nothing() -> None:
    with pytest.raises(RecipeError, match="needs an NVIDIA GPU"):
        resolve_precision(PrecisionSettings(kind="tf32"), CPU)


def test_tf32_is_taken_back() -> None:
    before = torch.get_float32_matmul_precision()
    with Precision("tf32", "cuda", None, "test").context():
        assert torch.get_float32_matmul_precision() == "high"
    assert torch.get_float32_matmul_precision() == before
