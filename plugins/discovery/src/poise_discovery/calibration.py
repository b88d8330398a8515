"""Turns margins into honest probabilities; scikit-learn is imported when one is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise_discovery.thresholds import FEW_SCORES, Thresholds, raised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poise_discovery.heldout import HeldOut

    Floats = NDArray[np.float32]

_NEAR = 4.0  # margins this far below the threshold still say something; the rest is a no
_RIVAL_REACH = 4.0


@attrs.frozen
class Calibration:
    """A logistic curve over the margin and over how far the best other rule is ahead or behind.

    Attributes:
        constant: Log-odds at margin 0 with a rival of the same score.
        margin: Per point of margin.
        ahead: Per point of lead over the best other rule, within the reach.
        behind: Per point that the best other rule is ahead, within the reach.
    """

    constant: float = -1.0
    margin: float = 0.7
    ahead: float = 0.0
    behind: float = 0.0

    def chances(self, margins: Floats, over_rival: Floats) -> Floats:
        """Return the chance that each rule is relevant.

        Args:
            margins: Scores minus thresholds.
            over_rival: Scores minus the best score of another rule for the same text.
        """
        features = _features(margins, over_rival)
        odds = self.constant + features @ np.asarray(
            (self.margin, self.ahead, self.behind), dtype=np.float32
        )
        chances: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
        return chances


def calibrate(held: HeldOut, chosen: Thresholds) -> Calibration:
    """Return the curve that fits held-out scores; the default one where there are too few."""
    margins = raised(held.scores, chosen.lead, chosen.knee) - np.float32(chosen.base)
    asked = (margins >= -_NEAR) & (held.evidence > 0.0)
    truth = held.truth[asked]
    if truth.sum() < FEW_SCORES or truth.all():
        return Calibration()
    features = _features(margins[asked], over_rivals(held.scores)[asked])
    weights = (held.evidence * held.weights[:, None])[asked]
    # Imported here: a warm start fits nothing, and this import takes longer than the rest of it.
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    curve = LogisticRegression(C=100.0, max_iter=500).fit(features, truth, sample_weight=weights)
    margin, ahead, behind = (float(each) for each in curve.coef_[0])
    return Calibration(float(curve.intercept_[0]), margin, ahead, behind)


def over_rivals(scores: Floats) -> Floats:
    """Return how far each score is above the best other score of its row."""
    if scores.shape[1] < 2:
        return np.full_like(scores, _RIVAL_REACH)
    top = np.partition(scores, -2, axis=1)[:, -2:]
    first, second = top[:, 1:], top[:, :1]
    rivals = np.where(scores >= first, second, first)
    return (scores - rivals).astype(np.float32)


def _features(margins: Floats, over: Floats) -> Floats:
    return np.stack(
        [
            margins,
            np.clip(over, 0.0, _RIVAL_REACH),
            np.clip(over, -_RIVAL_REACH, 0.0),
        ],
        axis=1,
    ).astype(np.float32)
