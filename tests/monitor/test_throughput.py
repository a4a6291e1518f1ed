"""Tokens a second: of the steps alone, over the window; MFU only where the peak is known."""

import pytest

from danlu.monitor.throughput import Throughput, flops_utilisation


class Clock:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


def test_the_rate_is_over_the_window():
    clock = Clock()
    throughput = Throughput(window_steps=3, clock=clock)
    assert throughput.tokens_per_second is None
    for seconds, tokens in ((100.0, 10), (1.0, 100), (2.0, 100), (1.0, 200)):
        clock.now += seconds
        throughput.step(tokens)
    assert throughput.tokens_per_second == 100.0


def test_evaluation_and_saves_are_not_counted():
    clock = Clock()
    throughput = Throughput(clock=clock)
    for _ in range(4):
        clock.now += 1.0
        throughput.step(10)
        with throughput.paused():
            clock.now += 30.0
    with pytest.raises(ZeroDivisionError), throughput.paused():
        clock.now += 99.0 / 0
    clock.now += 1.0
    throughput.step(10)
    assert throughput.tokens_per_second == 10.0


def test_only_a_known_device_and_format_has_a_utilisation():
    assert flops_utilisation(494.5e12, "NVIDIA H200", "bf16") == 0.5
    assert flops_utilisation(494.5e12, "NVIDIA H200", "fp32") is None
    assert flops_utilisation(1e12, "cpu", "bf16") is None
