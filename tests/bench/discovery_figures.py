"""Figures of a bar over scores: recall, rules admitted, the worst decile, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from discovery_data import DataSet

from poise.values.rules import Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]

BINS = 10


def truth_of(data: DataSet, rules: Sequence[Rule]) -> Flags:
    """Return messages × rules: which rules a test message should bring up."""
    titles = [rule.title for rule in rules]
    return np.asarray([[title in each.intents for title in titles] for each in data.test])


def figures(
    scores: Floats, truth: Flags, bar: float, outside: Floats | None
) -> dict[str, float | None]:
    """Return what a bar admits: recall, rules a message, out of scope, the worst decile."""
    admitted = scores >= bar
    by_rule = [admitted[truth[:, at], at].mean() for at in np.flatnonzero(truth.any(axis=0))]
    found: dict[str, float | None] = {
        "recall": float(admitted[truth].mean()),
        "mean_rule_recall": float(np.mean(by_rule)),
        "admitted": float(admitted.sum(axis=1).mean()),
        "out_of_scope": None,
        "p10_rule_recall": float(np.quantile(by_rule, 0.1)),
        "auroc_out_of_scope": None,
    }
    if outside is not None and len(outside):
        found["out_of_scope"] = float((outside >= bar).sum(axis=1).mean())
        found["auroc_out_of_scope"] = auroc(scores.max(axis=1), outside.max(axis=1))
    return found


def auroc(inside: Floats, outside: Floats) -> float:
    """Return the chance that a message in scope scores above one out of scope."""
    both = np.concatenate([outside, inside])
    ranks = np.empty(len(both))
    ranks[np.argsort(both, kind="stable")] = np.arange(1, len(both) + 1)
    below = len(inside) * (len(inside) + 1) / 2
    return float((ranks[len(outside) :].sum() - below) / (len(inside) * len(outside)))


def bar_at(scores: Floats, truth: Flags, recall: float) -> float:
    """Return the bar at which that share of the true rules is admitted."""
    own = np.sort(scores[truth])
    return float(own[int((1.0 - recall) * len(own))])


def mean_rows(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each column over draws of signals."""
    found: dict[str, float | None] = {}
    for column in rows[0]:
        values = [row[column] for row in rows if row[column] is not None]
        found[column] = (
            float(np.mean([float(value or 0.0) for value in values])) if values else None
        )
    return found


def ece(chances: Floats, truth: Flags) -> float:
    """Return the expected calibration error over bins of equal width."""
    places = np.clip((chances * BINS).astype(int), 0, BINS - 1)
    return float(
        sum(
            abs(chances[places == at].mean() - truth[places == at].mean()) * (places == at).mean()
            for at in range(BINS)
            if (places == at).any()
        )
    )
