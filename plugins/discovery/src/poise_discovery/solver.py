"""Fits one logistic regression per rule, many rules at once, against a shared pool of negatives."""

from __future__ import annotations

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
_SHRINK = 0.8  # of the rules are still moving: worth setting the others aside
_CURVATURE = 0.12  # of the logistic loss, on average over the points that matter


def idle() -> None:
    """Take no note of progress."""


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

    The rows of `pool` are shared by all rules, those of `own` belong to one rule each. A weight
    above 0 makes a row a positive of the rule, below 0 a negative; how far from 0 says how much it
    counts. Padding and masked rows have weight 0.
    """

    pool: Floats  # pool rows × dimensions
    pool_weights: Floats  # rules × pool rows
    own: Floats  # rules × own rows × dimensions
    own_weights: Floats  # rules × own rows

    def of(self, rules: slice | NDArray[np.intp]) -> Problem:
        """Return the same problem for some of the rules."""
        return Problem(
            self.pool, self.pool_weights[rules], self.own[rules], self.own_weights[rules]
        )


def balanced(pool: Floats, own: Floats) -> tuple[Floats, Floats]:
    """Return the weights of a `Problem`, scaled so that each side of a rule sums to one half.

    Args:
        pool: Rules × pool rows: above 0 for a positive, below for a negative, 0 for neither.
        own: Rules × own rows: the same.
    """
    up, down = (
        0.5
        / np.maximum(
            np.maximum(pool * side, 0.0).sum(axis=1, keepdims=True)
            + np.maximum(own * side, 0.0).sum(axis=1, keepdims=True),
            1e-9,
        )
        for side in (np.float32(1.0), np.float32(-1.0))
    )
    return pool * np.where(pool > 0.0, up, down), own * np.where(own > 0.0, up, down)


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
    features' variance as the first guess of the curvature; a rule that has arrived is done.

    Args:
        problem: Rows and weights.
        penalty: Positive; scikit-learn's `1 / C` when the weights of a rule sum to 1.
        start: Where to begin; a good guess saves time.
        tolerance: Largest remaining gradient, in the norm of the preconditioner.
        iterations: At most this many steps.
    """
    rules, dimensions = problem.own.shape[0], problem.own.shape[2]
    weights = np.empty((rules, dimensions), dtype=np.float32)
    bias = np.empty(rules, dtype=np.float32)
    variance = _variance(problem)
    for begin in range(0, rules, BLOCK):
        here = slice(begin, min(begin + BLOCK, rules))
        point = np.zeros((here.stop - begin, dimensions + 1), dtype=np.float32)
        if start is not None:
            point[:, :-1], point[:, -1] = start.weights[here], start.bias[here]
        _Descent(problem.of(here), variance, penalty).to_minimum(point, tolerance, iterations)
        weights[here], bias[here] = point[:, :-1], point[:, -1]
    return Heads(weights, bias)


def _variance(problem: Problem) -> Floats:
    rows = problem.pool if len(problem.pool) else problem.own.reshape(-1, problem.own.shape[2])
    squares: Floats = np.square(rows, dtype=np.float32).mean(axis=0)
    return squares


class _Descent:
    """The loss of a block of rules, and the way down."""

    def __init__(self, problem: Problem, variance: Floats, penalty: float) -> None:
        self._problem = problem
        self._penalty = np.float32(penalty)
        curvature = np.append(self._penalty + _CURVATURE * variance, np.float32(0.25))
        self._scale: Floats = (1.0 / curvature).astype(np.float32)

    def to_minimum(self, points: Floats, tolerance: float, iterations: int) -> None:
        """Move each row of `points`, in place, to where its rule's loss is least."""
        problem, rules = self._problem, np.arange(len(points))
        point = points.copy()
        loss, gradient = self._evaluate(problem, point)
        history: list[tuple[Floats, Floats, Floats]] = []
        for _ in range(iterations):
            moving = np.square(gradient).dot(self._scale) > tolerance**2
            if not moving.any():
                break
            if moving.sum() <= _SHRINK * len(moving):
                points[rules] = point
                kept = np.flatnonzero(moving)
                rules, problem = rules[kept], problem.of(kept)
                point, loss, gradient = point[kept], loss[kept], gradient[kept]
                history = [(change[kept], bend[kept], by[kept]) for change, bend, by in history]
            step = self._direction(gradient, history)
            slope = _rowwise(gradient, step)
            uphill = slope >= 0.0
            if uphill.any():
                step[uphill] = -(gradient * self._scale)[uphill]
                slope[uphill] = _rowwise(gradient, step)[uphill]
            moved, new_loss, new_gradient = self._search(problem, point, loss, step, slope)
            change, bend = moved - point, new_gradient - gradient
            product = _rowwise(change, bend)
            inverse = np.where(product > 1e-12, 1.0 / np.maximum(product, 1e-12), 0.0)
            history = [*history[1 - _MEMORY :], (change, bend, inverse.astype(np.float32))]
            point, loss, gradient = moved, new_loss, new_gradient
        points[rules] = point

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
        self, problem: Problem, point: Floats, loss: Floats, step: Floats, slope: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return points that lie lower, halving the step of each rule that went too far."""
        moved = point + step
        new_loss, gradient = self._evaluate(problem, moved)
        length = 1.0
        for attempt in range(_HALVINGS):
            # Single precision can't see a smaller gain than the last term.
            good = new_loss <= loss + 1e-4 * length * slope + 2e-6 * np.abs(loss)
            far = np.flatnonzero(~good)
            if not len(far):
                break
            length = 0.0 if attempt == _HALVINGS - 1 else length / 2
            moved[far] = point[far] + np.float32(length) * step[far]
            new_loss[far], gradient[far] = self._evaluate(problem.of(far), moved[far])
        return moved, new_loss, gradient

    def _evaluate(self, problem: Problem, point: Floats) -> tuple[Floats, Floats]:
        """Return loss and gradient of every rule at `point`, whose last column is the bias."""
        weights, bias = point[:, :-1], point[:, -1:]
        scores = weights @ problem.pool.T
        scores += bias
        loss, pull = _logistic(scores, problem.pool_weights)
        gradient = np.empty_like(point)
        gradient[:, :-1] = pull @ problem.pool
        gradient[:, -1] = pull.sum(axis=1)
        if problem.own.shape[1]:
            own = np.matmul(problem.own, weights[:, :, None])[:, :, 0] + bias
            own_loss, own_pull = _logistic(own, problem.own_weights)
            loss += own_loss
            gradient[:, :-1] += np.matmul(own_pull[:, None, :], problem.own)[:, 0, :]
            gradient[:, -1] += own_pull.sum(axis=1)
        loss += 0.5 * self._penalty * _rowwise(weights, weights)
        gradient[:, :-1] += self._penalty * weights
        return loss, gradient


def _logistic(scores: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return by row the weighted loss of scores, and by score its derivative; no overflow."""
    wrong = np.where(weights > 0.0, -scores, scores)
    small = np.exp(-np.abs(wrong))
    loss = np.log1p(small)
    loss += np.maximum(wrong, 0.0)
    slope = np.where(wrong >= 0.0, np.float32(1.0), small)
    slope /= 1.0 + small
    slope *= -weights
    return _rowwise(loss, np.abs(weights)), slope


def _rowwise(left: Floats, right: Floats) -> Floats:
    product: Floats = np.einsum("ij,ij->i", left, right)
    return product
