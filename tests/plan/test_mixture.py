"""The mixture's rows: the shares of mixture/weights.py, in tokens and epochs."""

import pytest

from danlu.errors import RecipeError
from danlu.mixture.settings import MixtureSettings
from danlu.mixture.weights import resolve_weights
from danlu.plan.mixture import plan_mixture

TOKENS = {"code": 3_000, "prose": 1_000}


def test_rows_say_what_the_run_takes_of_each_domain():
    settings = MixtureSettings(weights={"code": 1.0, "prose": 3.0})
    prose, code = plan_mixture(settings, TOKENS, 2_000)
    assert (prose.domain, prose.planned_tokens, prose.available_tokens, prose.epochs) == (
        "prose",
        1_500,
        1_000,
        1.5,
    )
    assert (code.domain, code.planned_tokens, code.epochs) == ("code", 500, pytest.approx(1 / 6))


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_shares_are_those_of_the_order_of_the_data(temperature):
    settings = MixtureSettings(temperature=temperature)
    rows = plan_mixture(settings, TOKENS, 5_000)
    assert {row.domain: row.share for row in rows} == resolve_weights(settings, TOKENS, 5_000)
    assert sum(row.planned_tokens for row in rows) == 5_000


def test_too_little_text_is_refused():
    with pytest.raises(RecipeError, match="max_epochs"):
        plan_mixture(MixtureSettings(), TOKENS, 16_001)
