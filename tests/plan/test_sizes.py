"""Sizes that suit a text and a machine."""

from __future__ import annotations

import pytest

from danlu.plan.sizes import EPOCHS, choose_sizes


@pytest.mark.parametrize("text_bytes", [500, 100_000, 5_000_000, 300_000_000, 50_000_000_000])
@pytest.mark.parametrize("cores", [1, 2, 64])
def test_every_choice_is_valid_and_has_a_reason(text_bytes: int, cores: int) -> None:
    sizes = choose_sizes(text_bytes, text_bytes, cores)
    assert sizes.batch_tokens % sizes.sequence_length == 0
    assert 260 <= sizes.vocab_size <= 16_384
    assert 200_000 <= sizes.model_size <= 25_000_000
    assert all(sizes.reasons.values())


def test_more_text_asks_for_more() -> None:
    small, large = choose_sizes(1_000_000, 1_000_000, 2), choose_sizes(1_000_000_000, 1_000_000_000, 2)
    assert small.vocab_size < large.vocab_size
    assert small.model_size < large.model_size
    assert small.max_tokens < large.max_tokens


def test_more_cores_ask_for_a_larger_network() -> None:
    assert choose_sizes(10**10, 10**10, 2).model_size < choose_sizes(10**10, 10**10, 32).model_size


def test_the_text_is_not_repeated_more_often_than_said() -> None:
    # Even at two bytes a token, which is little, the bound stays within the mixture's default of four epochs... of 4.5.
    sizes = choose_sizes(900_000, 900_000, 2)
    assert sizes.max_tokens <= EPOCHS * 900_000 / 4.5


def test_a_small_domain_shortens_the_context() -> None:
    sizes = choose_sizes(10_000_000, 2_000, 2)
    assert 16 <= sizes.sequence_length < 256
    assert "smallest domain" in sizes.reasons["train.sequence_length"]


def test_the_cores_are_those_that_the_plan_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("danlu.plan.sizes.usable_cores", lambda: 32)
    assert choose_sizes(10**10, 10**10) == choose_sizes(10**10, 10**10, 32)
