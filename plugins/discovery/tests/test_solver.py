from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from poise_discovery.solver import BLOCK, Heads, Problem, balanced, solve

PENALTY = 1e-3


def problem_of(rules: int, *, seed: int = 0, pool: int = 120, width: int = 6, size: int = 24):
    chance = np.random.default_rng(seed)

    def unit(*shape: int) -> np.ndarray:
        rows = chance.standard_normal(shape).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    centres = unit(rules, size)
    own = unit(rules, width, size) * 0.7 + centres[:, None, :]
    own = (own / np.linalg.norm(own, axis=2, keepdims=True)).astype(np.float32)
    own_sides = np.ones((rules, width), dtype=np.float32)
    own_sides[:, -1] = -1.0  # an anti-signal
    own_sides[::2, -2:] = 0.0  # padding
    pool_sides = -(chance.random((rules, pool)) > 0.1).astype(np.float32)
    pool_sides[:, :1] = 1.0  # a phrase of its own that stands in the pool
    pool_weights, own_weights = balanced(pool_sides, own_sides)
    return Problem(unit(pool, size), pool_weights, own, own_weights)


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scikit_learn(seed: int) -> None:
    problem = problem_of(5, seed=seed)

    heads = solve(problem, PENALTY)

    for rule in range(5):
        rows = np.concatenate([problem.pool, problem.own[rule]]).astype(np.float64)
        weights = np.concatenate([problem.pool_weights[rule], problem.own_weights[rule]])
        reference = LogisticRegression(C=1 / PENALTY, tol=1e-10, max_iter=10_000)
        reference.fit(rows, weights > 0.0, sample_weight=np.abs(weights))
        expected = reference.decision_function(rows)
        found = rows @ heads.weights[rule] + heads.bias[rule]
        assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()


def test_a_rule_is_solved_alike_alone_and_in_any_batch() -> None:
    problem = problem_of(BLOCK + 9, pool=60)

    together = solve(problem, PENALTY, tolerance=1e-5)
    alone = solve(problem.of(slice(BLOCK + 3, BLOCK + 4)), PENALTY, tolerance=1e-5)

    assert np.allclose(together.weights[BLOCK + 3], alone.weights[0], atol=5e-3)
    assert np.isclose(together.bias[BLOCK + 3], alone.bias[0], atol=5e-3)


def test_the_start_changes_nothing_but_time() -> None:
    problem = problem_of(4)
    far = Heads(np.full((4, 24), 3.0, dtype=np.float32), np.full(4, -5.0, dtype=np.float32))

    cold, warm = solve(problem, PENALTY), solve(problem, PENALTY, start=far)

    probe = problem.pool
    assert np.allclose(cold.margins(probe), warm.margins(probe), atol=1e-2)


def test_each_side_weighs_one_half_whatever_is_masked_or_padded() -> None:
    problem = problem_of(7)

    weights = np.concatenate([problem.pool_weights, problem.own_weights], axis=1)

    assert np.allclose(np.maximum(weights, 0.0).sum(axis=1), 0.5, atol=1e-5)
    assert np.allclose(np.minimum(weights, 0.0).sum(axis=1), -0.5, atol=1e-5)


def test_rules_without_any_negative_are_solved_and_finite() -> None:
    problem = problem_of(2, pool=0)

    heads = solve(problem, PENALTY)

    assert np.isfinite(heads.weights).all()
    assert np.isfinite(heads.bias).all()
