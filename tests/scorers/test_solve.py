"""Coordinate descent beside a slow solver of the same objectives, the gap, and one example alone."""

import numpy as np
import pytest

from danlu.scorers.solve import (
    GAP,
    Rows,
    add_rows,
    best_log_odds,
    score_rows,
    solve,
    square_lengths,
    squash,
)

COLUMNS = 12


def sparse(dense):
    starts, columns, values = [0], [], []
    for row in dense:
        places = np.flatnonzero(row)
        columns += places.tolist()
        values += row[places].tolist()
        starts.append(len(columns))
    return Rows(np.array(starts, np.int64), np.array(columns, np.uint32), np.array(values, np.float32))


def example(count=60, seed=1):
    random = np.random.default_rng(seed)
    dense = random.normal(size=(count, COLUMNS)) * (random.random((count, COLUMNS)) < 0.5)
    dense[:, -1] = 1.0
    dense[3, :-1] = 0.0
    dense = dense.astype(np.float32).astype(np.float64)
    truth = dense @ random.normal(size=COLUMNS) + random.normal(size=count)
    return dense, truth


def logistic_by_newton(dense, targets, strength):
    weights = np.zeros(COLUMNS)
    for _ in range(50):
        odds = 1 / (1 + np.exp(targets * (dense @ weights)))
        gradient = weights - strength * dense.T @ (targets * odds)
        curvature = np.eye(COLUMNS) + strength * (dense.T * (odds * (1 - odds))) @ dense
        weights -= np.linalg.solve(curvature, gradient)
    return weights


@pytest.mark.parametrize("strength", [0.01, 1.0, 30.0])
def test_logistic_regression_is_newtons(strength):
    dense, truth = example()
    targets = np.where(truth > 0, 1.0, -1.0)
    found = solve(sparse(dense), targets, COLUMNS, strength, True, 3000, 1)
    assert found.gap <= GAP
    wanted = logistic_by_newton(dense, targets, strength)

    def objective(weights):
        return 0.5 * weights @ weights + strength * np.logaddexp(0, -targets * (dense @ weights)).sum()

    best = objective(wanted)
    assert best * (1 - 1e-9) <= objective(found.weights) <= best * (1 + GAP)
    assert np.allclose(found.weights, wanted, atol=0.1)


@pytest.mark.parametrize("strength", [0.01, 1.0, 30.0])
def test_ridge_regression_is_the_closed_form(strength):
    dense, truth = example()
    found = solve(sparse(dense), truth, COLUMNS, strength, False, 3000, 1)
    wanted = np.linalg.solve(np.eye(COLUMNS) / strength + dense.T @ dense, dense.T @ truth)
    assert found.gap <= GAP
    assert np.allclose(found.weights, wanted, atol=0.1)


def test_the_same_seed_gives_the_same_weights():
    dense, truth = example()
    targets = np.where(truth > 0, 1.0, -1.0)
    first, second = (solve(sparse(dense), targets, COLUMNS, 1.0, True, 5, 3) for _ in range(2))
    assert np.array_equal(first.weights, second.weights)
    assert not np.array_equal(first.weights, solve(sparse(dense), targets, COLUMNS, 1.0, True, 1, 4).weights)


def test_passes_end_where_they_are_told():
    dense, truth = example()
    found = solve(sparse(dense), truth, COLUMNS, 1000.0, False, 2, 1)
    assert found.passes == 2
    assert found.gap > GAP


def test_targets_of_zero_need_no_weights():
    dense, _ = example()
    found = solve(sparse(dense), np.zeros(len(dense)), COLUMNS, 1.0, False, 10, 1)
    assert found == (pytest.approx(np.zeros(COLUMNS)), 1, 0.0)


def test_rows_are_multiplied_and_added():
    dense, truth = example(7)
    rows = sparse(dense)
    weights = np.arange(COLUMNS, dtype=np.float64)
    assert np.allclose(score_rows(rows, weights), dense @ weights)
    assert np.allclose(square_lengths(rows), (dense**2).sum(1))
    add_rows(rows, truth, weights)
    assert np.allclose(weights, np.arange(COLUMNS) + truth @ dense)


@pytest.mark.parametrize("square", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("margin", [-300.0, -1.0, 0.0, 2.0, 300.0])
@pytest.mark.parametrize("before", [0.0, 0.3, 1.0])
def test_one_example_is_solved(square, margin, before):
    at = best_log_odds(square, margin, before, 1.0)
    assert square * (squash(at) - before) + margin + at == pytest.approx(0, abs=1e-6)


def test_squashing_does_not_overflow():
    assert squash(-1e9) == 0.0
    assert squash(1e9) == 1.0
    assert squash(0.0) == 0.5
