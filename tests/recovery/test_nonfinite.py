"""A number that is not finite stops the step and is named."""

import math

import pytest

from danlu.errors import DivergedError
from danlu.recovery.nonfinite import check_finite


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_either_number_stops_the_step(value):
    for loss, norm in ((value, 1.0), (2.0, value), (value, value)):
        with pytest.raises(DivergedError, match=f"step 7: the loss is {loss}, the gradient norm {norm}"):
            check_finite(loss, norm, 7)


def test_finite_numbers_pass():
    check_finite(1e30, 0.0, 1)
