"""Trains the index of a catalog from its phrases and their vectors; a pure function of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.values.ids import RuleId, digest
from poise_discovery.calibration import Calibration, calibrate
from poise_discovery.corpus import Corpus, lay_out
from poise_discovery.heldout import hold_out, mask_unlabelled
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

    Equal content gives an equal index, whatever the order of the rules, and whatever `earlier`
    indexes there are to take unchanged heads from.

    Args:
        phrases: Of every rule.
        vectors: The row of every text of `texts_of` and of `background_for`.
        embedder: Identity of the model that made the vectors.
        target: The recall to choose thresholds for.
        earlier: Indexes whose heads are taken where nothing that touches them has changed.
        report: Told what is being done.
    """
    phrases = sorted(phrases, key=lambda each: each.rule)
    if not phrases:
        return empty_index(embedder, target)
    corpus = lay_out(phrases, vectors)
    keys = head_keys(phrases, corpus, embedder)
    heads = _heads(corpus, keys, earlier, report)
    relatives = _relatives(phrases)
    held = hold_out(
        corpus,
        heads,
        relatives,
        lambda done, total: report("choosing thresholds", done, total),
    )
    thresholds = choose(held, target)
    return Index(
        embedder=embedder,
        rules=tuple(each.rule for each in phrases),
        keys=keys,
        heads=heads,
        counted=np.packbits(corpus.counted.T > 0.0, axis=1),
        projection=corpus.projection,
        thresholds=thresholds,
        calibration=calibrate(held, thresholds, relatives),
        spoken=corpus.spoken,
        signals=tuple(each.positives for each in phrases),
        signal_rows=np.concatenate([corpus.rows[rows] for rows in corpus.positives]).astype(
            np.float16
        ),
        relatives=relatives,
    )


def empty_index(embedder: str, target: float) -> Index:
    """Return the index of a catalog in which no phrase brings anything up."""
    none = np.zeros((0, 1), dtype=np.float32)
    return Index(
        embedder=embedder,
        rules=(),
        keys=(),
        heads=Heads(none, np.zeros(0, dtype=np.float32)),
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


def _heads(corpus: Corpus, keys: Sequence[str], earlier: Sequence[Index], report: Report) -> Heads:
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
    report("telling rules apart", corpus.rules - len(changed), corpus.rules)
    if changed:
        fitted = corpus.fit(changed)
        if corpus.rules <= MOST_MASKED:
            mask_unlabelled(corpus, changed, fitted)
            fitted = corpus.fit(changed, start=fitted)
        weights[changed], bias[changed] = fitted.weights, fitted.bias
    report("telling rules apart", corpus.rules, corpus.rules)
    return Heads(weights, bias)


def _relatives(phrases: Sequence[RulePhrases]) -> tuple[tuple[int, ...], ...]:
    number: dict[RuleId, int] = {each.rule: at for at, each in enumerate(phrases)}
    return tuple(
        tuple(sorted(number[other] for other in each.relatives if other in number))
        for each in phrases
    )
