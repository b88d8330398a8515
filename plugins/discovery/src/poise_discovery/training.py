"""Trains the index of a catalog from its phrases and their vectors; a pure function of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.values.ids import RuleId, digest
from poise_discovery.calibration import Calibration, calibrate
from poise_discovery.corpus import GROUP, Corpus, lay_out
from poise_discovery.heldout import MASK_FOLDS, hold_out, mask_unlabelled
from poise_discovery.index import FORMAT, Index
from poise_discovery.phrases import RulePhrases
from poise_discovery.projection import Projection
from poise_discovery.solver import Heads
from poise_discovery.thresholds import Thresholds, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Report = Callable[[str, int, int], None]

MOST_MASKED = 2_000
"""Rules up to which phrases of other rules are looked through for a rule's own."""

FITS = 1 + MASK_FOLDS + 1
"""Before, for, and after that look."""

SETTLED_FROM = 200
"""Rules from which on thresholds stay while few rules change; choosing them takes seconds there."""

UNSETTLED = 0.05
"""Share of rules that may differ from those that the thresholds were chosen on."""


def ignore_progress(_phase: str, _done: int, _total: int) -> None:
    """Take no note of progress."""


def train(
    phrases: Sequence[RulePhrases],
    vectors: Mapping[str, Floats],
    *,
    embedder: str,
    target: float,
    earlier: Sequence[Index] = (),
    report: Report = ignore_progress,
) -> Index:
    """Return the index of a catalog.

    Equal content gives equal heads, whatever the order of the rules, and whatever `earlier` indexes
    there are to take unchanged ones from. In a large catalog of which few rules have changed, the
    thresholds and the calibration stay as they were.

    Args:
        phrases: Of every rule.
        vectors: The row of every text of `texts_of` and of `background_for`.
        embedder: Identity of the model that made the vectors.
        target: The recall to choose thresholds for.
        earlier: Indexes whose heads are taken where nothing that touches them has changed.
        report: Told what is being done, every second or so.
    """
    phrases = sorted(phrases, key=lambda each: each.rule)
    if not phrases:
        return empty_index(embedder, target)
    report("telling rules apart", 0, len(phrases))
    earlier = [each for each in earlier if each.embedder == embedder and each.rules]
    corpus = lay_out(phrases, vectors)
    keys = head_keys(phrases, corpus, embedder)
    heads = _heads(corpus, keys, earlier, report=report)
    relatives = _relatives(phrases)
    own = frozenset(digest(*each.positives, "-", *each.negatives) for each in phrases)
    settled = next((each for each in earlier if _is_settled(each, own, target)), None)
    if settled is not None:
        own, thresholds, calibration = (
            settled.settled_on,
            settled.thresholds,
            settled.calibration,
        )
    else:
        held = hold_out(
            corpus,
            heads,
            relatives,
            lambda done, total: report("choosing thresholds", done, total),
        )
        thresholds = choose(held, target)
        calibration = calibrate(held, thresholds, relatives)
    return Index(
        embedder=embedder,
        rules=tuple(each.rule for each in phrases),
        keys=keys,
        heads=heads,
        settled_on=own,
        counted=np.packbits(corpus.counted.T > 0.0, axis=1),
        projection=corpus.projection,
        thresholds=thresholds,
        calibration=calibration,
        spoken=corpus.spoken,
        signals=tuple(each.positives for each in phrases),
        signal_rows=np.concatenate([corpus.rows[rows] for rows in corpus.positives]).astype(
            np.float16
        ),
        relatives=relatives,
    )


def _is_settled(earlier: Index, own: frozenset[str], target: float) -> bool:
    """Say whether the thresholds of `earlier` still hold for rules with these digests."""
    known = earlier.settled_on
    most = max(len(known), len(own))
    same = len(known & own)
    return (
        earlier.thresholds.target == target
        and len(own) >= SETTLED_FROM
        and most - same <= UNSETTLED * most
    )


def empty_index(embedder: str, target: float) -> Index:
    """Return the index of a catalog in which no phrase brings anything up."""
    none = np.zeros((0, 1), dtype=np.float32)
    return Index(
        embedder=embedder,
        rules=(),
        keys=(),
        heads=Heads(none, np.zeros(0, dtype=np.float32)),
        settled_on=frozenset(),
        counted=np.zeros((0, 0), dtype=np.uint8),
        projection=Projection(np.zeros(1, dtype=np.float32), None),
        thresholds=Thresholds(0.0, target=target),
        calibration=Calibration(),
        spoken=np.zeros(0, dtype=np.bool_),
        signals=(),
        signal_rows=np.zeros((0, 1), dtype=np.float16),
        relatives=(),
    )


def head_keys(phrases: Sequence[RulePhrases], corpus: Corpus, embedder: str) -> tuple[str, ...]:
    """Return for each rule a digest of all that its head depends on."""
    pool = digest(
        str(FORMAT),
        embedder,
        str(corpus.rows.shape[1]),
        *sorted(corpus.texts[row] for row in corpus.pool),
    )
    masked = {
        each.rule: np.flatnonzero(corpus.counted[:, rule] == 0.0).tolist()
        for rule, each in enumerate(phrases)
    }
    return tuple(
        digest(
            pool,
            *sorted(each.positives),
            "-",
            *sorted(each.negatives),
            "-",
            *(corpus.texts[corpus.pool[at]] for at in masked[each.rule]),
        )
        for each in phrases
    )


def _heads(
    corpus: Corpus, keys: Sequence[str], earlier: Sequence[Index], *, report: Report
) -> Heads:
    """Return all heads, fitted where no earlier index has the same one."""
    known = {key: (index, at) for index in reversed(earlier) for at, key in enumerate(index.keys)}
    weights = np.zeros((corpus.rules, corpus.rows.shape[1]), dtype=np.float32)
    bias = np.zeros(corpus.rules, dtype=np.float32)
    changed: list[int] = []
    for rule, key in enumerate(keys):
        found = known.get(key)
        if found is None:
            changed.append(rule)
        else:
            index, at = found
            weights[rule], bias[rule] = index.heads.weights[at], index.heads.bias[at]
            corpus.counted[:, rule] = np.unpackbits(index.counted[at], count=len(corpus.pool))
    if changed:
        told = _Ticks(report, corpus.rules, len(changed))
        fitted = corpus.fit(changed, tick=told)
        if corpus.rules <= MOST_MASKED:
            mask_unlabelled(corpus, changed, fitted, tick=told)
            fitted = corpus.fit(changed, start=fitted, tick=told)
        weights[changed], bias[changed] = fitted.weights, fitted.bias
    report("telling rules apart", corpus.rules, corpus.rules)
    return Heads(weights, bias)


class _Ticks:
    """Tells how far the fits have come, each of them in as many ticks as it has groups."""

    def __init__(self, report: Report, rules: int, changed: int) -> None:
        self._report = report
        self._rules, self._before = rules, rules - changed
        fits = FITS if rules <= MOST_MASKED else 1
        self._ticks, self._done = fits * -(-changed // GROUP), 0

    def __call__(self) -> None:
        self._done += 1
        share = min(1.0, self._done / self._ticks)
        done = self._before + int((self._rules - self._before) * share)
        self._report("telling rules apart", done, self._rules)


def _relatives(phrases: Sequence[RulePhrases]) -> tuple[tuple[int, ...], ...]:
    number: dict[RuleId, int] = {each.rule: at for at, each in enumerate(phrases)}
    return tuple(
        tuple(sorted(number[other] for other in each.relatives if other in number))
        for each in phrases
    )
