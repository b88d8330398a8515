"""Fits one logistic regression per rule, many rules at once, against a shared pool of negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BLOCK = 256
"""Rules solved together: a block's margins against the pool stay within the processor's cache."""

_MEMORY = 5  # pairs of steps and gradient changes that shape the next step
_HALVINGS = 14  # of a step that went too far, before the rule is left where it stands
_CURVATURE = 0.12  # of the logistic loss, on average over the points that matter


@attrs.frozen(eq=False)
class Heads:
    """A linear score per rule: `vectors @ weights.T + bias`, above 0 on the positives' side."""

    weights: Floats  # rules × dimensions
    bias: Floats  # rules

    def margins(self, vectors: Floats) -> Floats:
        """Return the score of every rule for every row of `vectors`."""
        scores: Floats = vectors @ self.weights.T + self.bias
        return scores


@attrs.frozen(eq=False)
class Problem:
    """What a batch of rules is to be told apart from.

    The rows of `pool` are negatives of every rule, as far as `pool_weights` counts them. The rows
    of `own` belong to one rule each: positives where `own_signs` is 1, negatives where it is -1.
    Weights say how much a row counts; padding and masked rows have weight 0.
    """

    pool: Floats  # pool rows × dimensions
    pool_weights: Floats  # pool rows × rules
    own: Floats  # rules × own rows × dimensions
    own_signs: Floats  # rules × own rows
    own_weights: Floats  # rules × own rows

    def block(self, start: int, stop: int) -> Problem:
        """Return the same problem for the rules from `start` up to `stop`."""
        return Problem(
            self.pool,
            np.ascontiguousarray(self.pool_weights[:, start:stop]),
            self.own[start:stop],
            self.own_signs[start:stop],
            self.own_weights[start:stop],
        )


def balanced_weights(
    counts: Floats, own_signs: Floats, own_weights: Floats
) -> tuple[Floats, Floats]:
    """Return the weights of a `Problem` so that each side of a rule sums to one half.

    Args:
        counts: Pool rows × rules: 1 where the row is a negative of the rule, 0 where masked.
        own_signs: Rules × own rows.
        own_weights: Rules × own rows: 1 for a row, 0 for padding.
    """
    positive = own_weights * (own_signs > 0)
    negative = own_weights * (own_signs < 0)
    total = np.maximum(counts.sum(axis=0) + negative.sum(axis=1), 1e-9)
    pool_weights = counts * (0.5 / total)
    own = positive * (0.5 / np.maximum(positive.sum(axis=1), 1e-9))[:, None]
    own += negative * (0.5 / total)[:, None]
    return pool_weights.astype(np.float32), own.astype(np.float32)


def solve(
    problem: Problem,
    penalty: float,
    *,
    start: Heads | None = None,
    tolerance: float = 2e-4,
    iterations: int = 120,
) -> Heads:
    """Return the minimiser of weighted log-loss + `penalty`/2 · |weights|², rule by rule.

    The loss is strictly convex, so the result does not depend on `start` or on what else is in
    the batch, to the tolerance. The bias is free. Limited-memory BFGS (Nocedal and Wright 2006,
    algorithm 7.5) on all rules of a block at once, with a step length of each rule's own, and the
    features' variance as the first guess of the curvature.

    Args:
        problem: Rows, signs and weights.
        penalty: Positive; scikit-learn's `1 / C` when the weights of a rule sum to 1.
        start: Where to begin; a good guess saves time.
        tolerance: Largest remaining gradient, in the norm of the preconditioner.
        iterations: At most this many steps.
    """
    rules, dimensions = problem.own.shape[0], problem.own.shape[2]
    weights = np.empty((rules, dimensions), dtype=np.float32)
    bias = np.empty(rules, dtype=np.float32)
    variance = _variance(problem)
    for begin, end in _blocks(rules):
        guess = np.zeros((end - begin, dimensions + 1), dtype=np.float32)
        if start is not None:
            guess[:, :-1] = start.weights[begin:end]
            guess[:, -1] = start.bias[begin:end]
        block = _Block(problem.block(begin, end), variance, penalty)
        found = block.minimise(guess, tolerance, iterations)
        weights[begin:end] = found[:, :-1]
        bias[begin:end] = found[:, -1]
    return Heads(weights, bias)


def _blocks(rules: int) -> Iterator[tuple[int, int]]:
    for begin in range(0, rules, BLOCK):
        yield begin, min(begin + BLOCK, rules)


def _variance(problem: Problem) -> Floats:
    rows = problem.pool if len(problem.pool) else problem.own.reshape(-1, problem.own.shape[2])
    squares: Floats = np.square(rows, dtype=np.float32).mean(axis=0)
    return squares


class _Block:
    """The loss of a block of rules and its minimum."""

    def __init__(self, problem: Problem, variance: Floats, penalty: float) -> None:
        self._problem = problem
        self._penalty = np.float32(penalty)
        curvature = np.append(self._penalty + _CURVATURE * variance, np.float32(0.25))
        self._scale: Floats = (1.0 / curvature).astype(np.float32)

    def minimise(self, point: Floats, tolerance: float, iterations: int) -> Floats:
        loss, gradient = self._evaluate(point)
        history: list[tuple[Floats, Floats, Floats]] = []
        for _ in range(iterations):
            if float(np.square(gradient).dot(self._scale).max(initial=0.0)) <= tolerance**2:
                break
            step = self._direction(gradient, history)
            slope = _rowwise(gradient, step)
            uphill = slope >= 0.0
            if uphill.any():
                step[uphill] = -(gradient * self._scale)[uphill]
                slope[uphill] = _rowwise(gradient, step)[uphill]
            moved, new_loss, new_gradient = self._search(point, loss, step, slope)
            change, bend = moved - point, new_gradient - gradient
            product = _rowwise(change, bend)
            inverse = np.where(product > 1e-12, 1.0 / np.maximum(product, 1e-12), 0.0)
            history = [*history[1 - _MEMORY :], (change, bend, inverse.astype(np.float32))]
            point, loss, gradient = moved, new_loss, new_gradient
        return point

    def _direction(self, gradient: Floats, history: list[tuple[Floats, Floats, Floats]]) -> Floats:
        step = gradient.copy()
        shares: list[Floats] = []
        for change, bend, inverse in reversed(history):
            share = inverse * _rowwise(change, step)
            step -= share[:, None] * bend
            shares.append(share)
        step *= self._scale
        for (change, bend, inverse), share in zip(history, reversed(shares), strict=True):
            step += (share - inverse * _rowwise(bend, step))[:, None] * change
        return -step

    def _search(
        self, point: Floats, loss: Floats, step: Floats, slope: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return points that lie lower, halving the step of each rule that went too far."""
        length = np.ones(len(point), dtype=np.float32)
        for attempt in range(_HALVINGS + 1):
            moved = point + length[:, None] * step
            new_loss, gradient = self._evaluate(moved)
            # Single precision can't see a smaller gain than the last term.
            good = new_loss <= loss + 1e-4 * length * slope + 2e-6 * np.abs(loss)
            if good.all():
                break
            length = np.where(good, length, 0.0 if attempt == _HALVINGS - 1 else length / 2)
            length = length.astype(np.float32)
        return moved, new_loss, gradient

    def _evaluate(self, point: Floats) -> tuple[Floats, Floats]:
        """Return loss and gradient of every rule at `point`, whose last column is the bias."""
        problem = self._problem
        weights, bias = point[:, :-1], point[:, -1]
        pool = problem.pool @ weights.T
        pool += bias
        pool_loss, pool_slope = _logistic(pool)
        pool_slope *= problem.pool_weights
        signed = np.matmul(problem.own, weights[:, :, None])[:, :, 0] + bias[:, None]
        signed *= -problem.own_signs
        own_loss, own_slope = _logistic(signed)
        own_slope *= -problem.own_signs * problem.own_weights

        loss = np.einsum("ij,ij->j", pool_loss, problem.pool_weights)
        loss += _rowwise(own_loss, problem.own_weights)
        loss += 0.5 * self._penalty * _rowwise(weights, weights)
        gradient = np.empty_like(point)
        gradient[:, :-1] = pool_slope.T @ problem.pool
        gradient[:, :-1] += np.matmul(own_slope[:, None, :], problem.own)[:, 0, :]
        gradient[:, :-1] += self._penalty * weights
        gradient[:, -1] = pool_slope.sum(axis=0) + own_slope.sum(axis=1)
        return loss, gradient


def _logistic(values: Floats) -> tuple[Floats, Floats]:
    """Return log(1 + e^x) and its derivative, without overflow."""
    small = np.exp(-np.abs(values))
    loss = np.log1p(small)
    loss += np.maximum(values, 0.0)
    slope = np.where(values >= 0.0, 1.0, small).astype(np.float32)
    slope /= 1.0 + small
    return loss, slope


def _rowwise(left: Floats, right: Floats) -> Floats:
    product: Floats = np.einsum("ij,ij->i", left, right)
    return product
