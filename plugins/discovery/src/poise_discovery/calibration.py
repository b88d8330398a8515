"""Turns margins into honest probabilities, by a logistic curve fitted to held-out scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise_discovery.heldout import DOUBTFUL, PART_SURCHARGE, HeldOut, raised
from poise_discovery.thresholds import FEW_SCORES, Thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]
    Flags = NDArray[np.bool_]

_NEAR = 2.0  # below the threshold by more than this, no one asks
_DOUBTFUL_SHARES = (0.025, 0.05)  # of a text's rules are doubtful where messages bring up one rule,
_DOUBTFUL_WEIGHTS = (0.5, 0.1)  # or several; and what a doubtful no weighs as evidence then
_OUTSIDE = 0.1  # of customers' messages are about no rule at all
_RIVAL_REACH = 4.0
_RANKED = 8  # of a text's best rules; a rival is mostly among them
_FAR = 1e6
_CURVE_PENALTY = 0.01
_CURVE_STEPS = 50


@attrs.frozen
class Calibration:
    """A logistic curve over the margin and over how far the best rival is ahead or behind.

    A rule's relatives are no rivals: a topic scores high wherever one of its policies does, and
    that says nothing against either.

    Attributes:
        constant: Log-odds at margin 0 with a rival of the same score.
        margin: Per point of margin.
        ahead: Per point of lead over the best rival, within the reach.
        behind: Per point that the best rival is ahead, within the reach.
    """

    constant: float = -1.0
    margin: float = 0.7
    ahead: float = 0.0
    behind: float = 0.0

    def chances(self, margins: Floats, over_rival: Floats) -> Floats:
        """Return the chance that each rule is relevant.

        Args:
            margins: Scores minus thresholds.
            over_rival: Scores minus the best score of a rival for the same text.
        """
        features = _features(margins, over_rival)
        odds = self.constant + features @ np.asarray(
            (self.margin, self.ahead, self.behind), dtype=np.float32
        )
        chances: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        return chances


def calibrate(
    held: HeldOut, chosen: Thresholds, relatives: Sequence[Sequence[int]] = ()
) -> Calibration:
    """Return the curve that fits held-out scores; the default one where there are too few.

    Args:
        held: Scores of texts that no head had seen.
        chosen: What the margins are measured from.
        relatives: By rule, those that are true together with it.
    """
    margins, over = _as_a_turn_sees(held, chosen, relatives)
    asked = (margins >= -_NEAR) & (held.evidence > 0.0)
    truth = held.truth[asked]
    if truth.sum() < FEW_SCORES or truth.all():
        return Calibration()
    features = _features(margins[asked], over[asked])
    doubtful = held.evidence == DOUBTFUL
    worth = np.interp(doubtful.mean(), _DOUBTFUL_SHARES, _DOUBTFUL_WEIGHTS)
    evidence = np.where(doubtful, np.float32(worth), held.evidence)
    weights = (evidence * held.weights[:, None])[asked]
    outside, share = _outside(held, chosen, relatives)
    features = np.concatenate([features, outside])
    truth = np.concatenate([truth, np.zeros(len(outside), dtype=np.bool_)])
    weights = np.concatenate([weights, np.full(len(outside), share, dtype=np.float32)])
    return Calibration(*fit_curve(features, truth, weights).tolist())


def fit_curve(features: Floats, truth: Flags, weights: Floats) -> NDArray[np.float64]:
    """Return constant and coefficients of the logistic regression of `truth` on a few features.

    Newton's method; of the coefficients, but not the constant, the squares are slightly penalised.
    scikit-learn finds the same, but importing it takes longer than training a catalog.
    """
    rows = np.column_stack([np.ones(len(features)), features]).astype(np.float64)
    signs, weights = np.where(truth, 1.0, -1.0), weights.astype(np.float64)
    penalty = np.append(0.0, np.full(features.shape[1], _CURVE_PENALTY))

    def loss(point: NDArray[np.float64]) -> float:
        lost = np.logaddexp(0.0, -signs * (rows @ point))
        return float(weights @ lost + 0.5 * penalty @ point**2)

    point, least = np.zeros(rows.shape[1]), np.inf
    for _ in range(_CURVE_STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(rows @ point, -30.0, 30.0)))
        slope = rows.T @ (weights * (chances - truth)) + penalty * point
        bend = rows.T @ (rows * (weights * chances * (1.0 - chances))[:, None])
        step = np.linalg.solve(bend + np.diag(penalty + 1e-9), slope)
        length = 1.0
        while (reached := loss(point - length * step)) > least and length > 1e-3:
            length /= 2.0
        point = point - length * step
        if least - reached < 1e-9 * abs(reached):
            break
        least = reached
    return point


def _as_a_turn_sees(
    held: HeldOut, chosen: Thresholds, relatives: Sequence[Sequence[int]]
) -> tuple[Floats, Floats]:
    """Return margins, and what the text that won them gave a rule over its best rival."""
    base = np.float32(chosen.base)
    margins = raised(held.scores, chosen.lead, chosen.knee) - base
    over = over_rivals(held.scores, relatives)
    parts = raised(held.parts, chosen.lead, chosen.knee) - base - np.float32(PART_SURCHARGE)
    parts_over = over_rivals(held.parts, relatives)
    for at, text in enumerate(held.part_of.tolist()):
        better = parts[at] > margins[text]
        margins[text, better] = parts[at, better]
        over[text, better] = parts_over[at, better]
    return margins, over


def _outside(
    held: HeldOut, chosen: Thresholds, relatives: Sequence[Sequence[int]]
) -> tuple[Floats, float]:
    """Return the features of what neutral messages nearly bring up, and the weight of each."""
    if not len(held.background):
        return np.zeros((0, 3), dtype=np.float32), 0.0
    margins = raised(held.background, chosen.lead, chosen.knee) - np.float32(chosen.base)
    near = margins >= -_NEAR
    features = _features(margins[near], over_rivals(held.background, relatives)[near])
    return features, float(_OUTSIDE * held.weights.sum() / len(held.background))


def over_rivals(scores: Floats, relatives: Sequence[Sequence[int]] = ()) -> Floats:
    """Return how far each score is above the best of a rival in its row.

    Args:
        scores: Texts × rules.
        relatives: By rule, those that are no rivals of it.
    """
    if scores.shape[1] < 2:
        return np.full_like(scores, _RIVAL_REACH)
    count = min(_RANKED, scores.shape[1])
    first = np.argpartition(scores, -count, axis=1)[:, -count:]
    within = np.argsort(-np.take_along_axis(scores, first, axis=1), axis=1, kind="stable")
    order = np.take_along_axis(first, within, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    over = scores - np.where(scores >= ranked[:, :1], ranked[:, 1:2], ranked[:, :1])
    for rule, kin in enumerate(relatives):
        if len(kin):
            over[:, rule] = scores[:, rule] - _best_rival(scores, order, ranked, (rule, *kin))
    return over.astype(np.float32)


def _best_rival(scores: Floats, order: Rows, ranked: Floats, kin: Sequence[int]) -> Floats:
    """Return by text the best score of all rules but `kin`: among the first, else among all."""
    others = ~np.isin(order, kin)
    best: Floats = np.where(others, ranked, -np.inf).max(axis=1)
    hidden = ~others.any(axis=1)
    if hidden.any():
        rest = scores[hidden]
        rest[:, list(kin)] = -_FAR
        best[hidden] = rest.max(axis=1)
    return best


def _features(margins: Floats, over: Floats) -> Floats:
    return np.stack(
        [
            margins,
            np.clip(over, 0.0, _RIVAL_REACH),
            np.clip(over, -_RIVAL_REACH, 0.0),
        ],
        axis=1,
    ).astype(np.float32)
