"""What is planned of each domain adds up over the stages."""

import pytest

from danlu.mixture.stages import PlannedStage
from danlu.plan.mixture import plan_mixture

TOKENS = {"code": 1_000, "prose": 4_000}


def stage(steps, **weights):
    return PlannedStage(steps, 10, "best_fit", True, True, weights)


def test_one_stage():
    code, prose = plan_mixture([stage(20, code=0.75, prose=0.25)], TOKENS, 100)
    assert (code.domain, code.share, code.available_tokens, code.planned_tokens, code.epochs) == (
        *("code", 0.75, 1_000, 1_500, 1.5),
    )
    assert (prose.domain, prose.planned_tokens, prose.epochs) == ("prose", 500, 0.125)


def test_stages_add_up():
    rows = plan_mixture([stage(10, code=1.0), stage(30, code=0.5, prose=0.5)], TOKENS, 100)
    assert [(row.domain, row.planned_tokens) for row in rows] == [("code", 2_500), ("prose", 1_500)]
    assert [row.share for row in rows] == [pytest.approx(0.625), pytest.approx(0.375)]
    assert sum(row.epochs for row in rows) == pytest.approx(2.5 + 0.375)


def test_a_domain_that_is_not_read_has_no_row():
    assert [row.domain for row in plan_mixture([stage(3, prose=1.0)], TOKENS, 100)] == ["prose"]
