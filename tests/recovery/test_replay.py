"""Replayed steps: bit for bit, and counted also where a stop cuts the replay short."""

import json
import math

from danlu.recovery.replay import ReplayCheck


def test_equal_and_different_losses_are_counted():
    check = ReplayCheck({11: 2.5, 12: 0.1 + 0.2, 14: 1.0})
    assert not check.see(11, 2.5)
    assert not check.see(12, math.nextafter(0.1 + 0.2, 1.0))
    assert not check.see(13, 9.0)
    assert check.result() == {"steps": 2, "logged": 3, "equal": 1, "different": [12]}
    assert check.see(14, 1.0)
    assert check.result() == {"steps": 3, "logged": 3, "equal": 2, "different": [12]}
    assert not check.see(15, 1.0)


def test_nothing_logged_is_nothing_to_say():
    check = ReplayCheck({})
    assert not check.see(1, 1.0)
    assert check.replayed == 0


def test_a_loss_that_went_through_json_is_still_the_same_bits():
    losses = {step: math.pi / 3**step for step in range(1, 60)}
    logged = {
        row["step"]: row["loss"]
        for row in (json.loads(json.dumps({"step": s, "loss": v})) for s, v in losses.items())
    }
    check = ReplayCheck(logged)
    ends = [check.see(step, loss) for step, loss in losses.items()]
    assert ends == [False] * 58 + [True]
    assert check.result() == {"steps": 59, "logged": 59, "equal": 59, "different": []}
