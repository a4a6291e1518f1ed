"""The value of repeated text is the published one."""

import json
import math
from pathlib import Path

import pytest

from danlu.mixture.repeats import DECAY_EPOCHS, effective_tokens

VALUES = json.loads((Path(__file__).parents[1] / "golden" / "repeats.json").read_text())


@pytest.mark.parametrize("epochs", list(VALUES["effective_epochs_value"]))
def test_golden_value_of_epochs(epochs):
    assert effective_tokens(1.0, float(epochs)) == pytest.approx(
        VALUES["effective_epochs_value"][epochs], abs=1e-12
    )


@pytest.mark.parametrize(("epochs", "times"), [(4, 3.726), (8, 6.62), (16, 10.58), (40, 15.17)])
def test_published_roundings(epochs, times):
    assert effective_tokens(1e9, epochs) / 1e9 == pytest.approx(times, abs=0.005)


def test_before_the_first_pass_ends_nothing_is_repeated():
    assert effective_tokens(1000, 0) == 0
    assert effective_tokens(1000, 0.25) == 250
    assert effective_tokens(1000, 1.0) == 1000


def test_it_never_exceeds_what_was_read_nor_its_limit():
    worth = [effective_tokens(1.0, epochs / 4) for epochs in range(400)]
    assert worth == sorted(worth)
    assert all(value <= epochs / 4 for epochs, value in enumerate(worth))
    assert effective_tokens(1.0, 1e9) == pytest.approx(1 + DECAY_EPOCHS)


@pytest.mark.parametrize("run", list(VALUES["data_constrained"]))
def test_published_loss_of_a_run(run):
    """The losses printed with the published fit hang on the effective tokens, to the last digit."""
    parameters, tokens, unique_tokens = map(float, run.strip("()").split(","))
    of_parameters, of_tokens, floor = math.exp(6.255414), math.exp(7.3049974), math.exp(0.6254804)
    power, decay = 0.3526596, 5.309743
    most_useful = min(unique_tokens * (of_parameters / of_tokens) ** (1 / power), parameters)
    surplus = parameters / most_useful - 1
    effective_parameters = most_useful * (1 + decay * (1 - math.exp(-surplus / decay)))
    effective = effective_tokens(unique_tokens, tokens / unique_tokens)
    loss = floor + of_parameters / effective_parameters**power + of_tokens / effective**power
    assert loss == pytest.approx(VALUES["data_constrained"][run], abs=1e-12)
