"""The micro-batch: the largest divisor that fits, against trying them all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from danlu.errors import RecipeError
from danlu.plan.micro_batch import USABLE_SHARE, choose_micro_batch


@given(st.integers(1, 500), st.integers(0, 10_000), st.integers(1, 500))
def test_it_is_the_largest_divisor_that_fits(sequences, fixed, each):
    available = 20_000
    fitting = [
        count
        for count in range(1, sequences + 1)
        if sequences % count == 0 and fixed + each * count <= available * USABLE_SHARE
    ]
    if not fitting:
        with pytest.raises(RecipeError, match=r"train\.sequence_length"):
            choose_micro_batch(sequences, available, lambda count: fixed + each * count)
        return
    chosen = choose_micro_batch(sequences, available, lambda count: fixed + each * count)
    assert chosen.sequences == max(fitting)
    assert chosen.sequences * chosen.accumulation == sequences


def test_unknown_memory_takes_the_whole_batch_and_says_so():
    chosen = choose_micro_batch(12, None, lambda count: 1 << 60)
    assert (chosen.sequences, chosen.accumulation) == (12, 1)
    assert "not known" in chosen.reason
