"""Chooses what a score has to reach, for a stated recall, from held-out scores alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise_discovery.corpus import FEW_RULES
from poise_discovery.heldout import HeldOut, raised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OWN_WORDS_DISCOUNT = 1.0
"""Where nobody wrote what customers say, a weaker hint has to do."""

FEW_SCORES = 20
"""Held-out scores below which there is nothing to choose from."""

_CAUTIOUS_FLOOR = -1.5  # the threshold of a catalog that is too small to choose one
_LEADS = (0.0, 0.25, 0.5, 0.75)
_PLAIN = 0.4  # of held-out phrases score lower for their own rule than what counts as plain
_WORTH = 0.98  # a higher lead must spare at least a fiftieth of what is admitted
_SURCHARGES = tuple(step * 0.25 for step in range(25))
_JOINED_SHARE = 0.1


@attrs.frozen
class Thresholds:
    """What a score has to reach: the same for every rule, higher where another rule is plain.

    A message that one rule recognises plainly is seldom about its neighbours. So above `knee`,
    each point of the best rule's score raises everyone's threshold by `lead` points.

    Attributes:
        base: For a customer's message in which no rule is plain.
        lead: Between 0 and 1.
        knee: Where a score begins to be plain.
        joined: Added for texts of several messages, and for tools' results.
        target: The recall that was asked for.
    """

    base: float
    lead: float = 0.0
    knee: float = 0.0
    joined: float = 1.0
    target: float = 0.97

    def at(self, best: float) -> float:
        """Return what a message asks of a score when its best rule scores `best`."""
        return self.base + self.lead * max(best - self.knee, 0.0)


def choose(held: HeldOut, target: float) -> Thresholds:
    """Return the thresholds that admit least at recall `target`, on texts no head had seen.

    Among the leads, the one wins that admits fewest rules for a message of a rule and for a
    neutral message, taken together: a catalog whose messages bring up several rules has none.
    """
    rows, rules = np.nonzero(held.truth)
    if len(rows) < FEW_SCORES:
        return Thresholds(_CAUTIOUS_FLOOR, target=target)
    quantile = 1.0 - _cautious(target, len(rows), held.truth.shape[1])
    weights = 1.0 / np.maximum(held.truth.sum(axis=0), 1)[rules]
    knee = weighted_quantile(held.scores[rows, rules], weights, _PLAIN)
    best, least = Thresholds(_CAUTIOUS_FLOOR, target=target), np.inf
    for lead in _LEADS:
        scores = held.effective(lead, knee)
        base = weighted_quantile(scores[rows, rules], weights, quantile)
        admitted = (((scores >= base) & (held.evidence == 1.0)).sum(axis=1) * held.weights).sum()
        cost = float(admitted / held.weights.sum())
        if len(held.background):
            cost += float((raised(held.background, lead, knee) >= base).sum(axis=1).mean())
        if cost < least * _WORTH:
            best, least = Thresholds(base, lead, knee, target=target), cost
    return attrs.evolve(best, joined=_joined_surcharge(held, best))


def weighted_quantile(values: Floats, weights: NDArray[np.floating], quantile: float) -> float:
    """Return the value below which `quantile` of the weight lies."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weights[order]) / weights.sum()
    at = int(np.searchsorted(share, quantile, side="right"))
    return float(values[order[min(at, len(order) - 1)]])


def _cautious(target: float, scores: int, rules: int) -> float:
    """Ask a small catalog for one standard error more: its worst phrases are too few to pool."""
    if rules >= FEW_RULES:
        return target
    return min(0.995, target + float(np.sqrt(target * (1.0 - target) / scores)))


def _joined_surcharge(held: HeldOut, chosen: Thresholds) -> float:
    """Return what joined texts must score more, so that they add few rules that are none of theirs.

    Each message has been scored alone when it was new; a joined text is there for what only
    several messages together say, and it comes with every turn.
    """
    scores = held.effective(chosen.lead, chosen.knee)
    plainly = ~held.truth & (held.evidence == 1.0)
    wrong = float(((scores >= chosen.base) & plainly).sum(axis=1).mean())
    joined = raised(held.joined, chosen.lead, chosen.knee)
    if not joined.size:
        return 1.0
    for surcharge in _SURCHARGES:
        extra = ((joined >= chosen.base + surcharge) & ~held.joined_truth).sum(axis=1).mean()
        if extra <= _JOINED_SHARE * wrong:
            return surcharge
    return _SURCHARGES[-1]
