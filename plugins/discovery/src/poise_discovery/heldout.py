"""Scores phrases with heads that have not seen them: what thresholds and calibration rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise.values.ids import digest
from poise_discovery.solver import Heads, idle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poise_discovery.corpus import Corpus

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]
    Flags = NDArray[np.bool_]

PART_SURCHARGE = 0.5
"""A part says less than its message, so it must say it more clearly."""

JOINED = 3
"""So many phrases make one simulated text of several messages."""

DOUBTFUL = 0.5
"""Marks as evidence that a held-out phrase looks like a rule's own, though its author listed it
elsewhere only: where messages bring up several rules a third of these are the rule's own."""

_FOLDS = 5
_FOLDS_OF_FEW = 10  # leaving out a fifth of ten phrases costs more than it should measure
_FEW_PHRASES = 15
MASK_FOLDS = 3
_MASK_QUANTILE = 0.25
_MANY_DOUBTFUL = 0.03  # of all pairs of a phrase and a rule
_SAMPLED_RULES = 300
_SAMPLED_OF_MANY = 150
_MANY_RULES = 2_000


@attrs.frozen(eq=False)
class HeldOut:
    """Scores of every rule for texts that no head had seen.

    Attributes:
        scores: Texts × rules.
        truth: Texts × rules: 1 where the rule is one of the text's own.
        evidence: Texts × rules: how much "not one of the text's own" says: 1; 0 for relatives; for
            what looks like the rule's own, `DOUBTFUL`.
        weights: By text: so that each rule counts the same.
        joined: Joined texts × rules: scores of several phrases in one.
        joined_truth: The same, whose phrases they are.
        background: Background phrases × rules.
        parts: Scores of parts of texts × rules.
        part_of: The text that each of these is a part of.
    """

    scores: Floats
    truth: Flags
    evidence: Floats
    weights: Floats
    joined: Floats
    joined_truth: Flags
    background: Floats
    parts: Floats
    part_of: Rows

    def effective(self, lead: float, knee: float) -> Floats:
        """Return scores as a turn makes them: the best of a message and its parts.

        Args:
            lead: Of the thresholds: what a point of the best rule's score above `knee` costs.
            knee: Of the thresholds.
        """
        scores = raised(self.scores, lead, knee)
        if len(self.part_of):
            scores = scores.copy()
            parts = raised(self.parts, lead, knee) - np.float32(PART_SURCHARGE)
            np.maximum.at(scores, self.part_of, parts)
        return scores


def raised(scores: Floats, lead: float, knee: float) -> Floats:
    """Return scores less what the best of their row raises the threshold by."""
    if not lead or not scores.size:
        return scores
    best = np.maximum(scores.max(axis=1, keepdims=True) - knee, 0.0)
    lowered: Floats = (scores - np.float32(lead) * best).astype(np.float32)
    return lowered


def mask_unlabelled(
    corpus: Corpus,
    rules: Sequence[int],
    heads: Heads,
    *,
    hidden: Flags | None = None,
    tick: Callable[[], None] = idle,
) -> None:
    """Stop counting phrases of other rules that look like a rule's own when held out.

    Authors list a phrase under one rule though it may bring up several. A pool row that scores
    above the lower quarter of the rule's own held-out phrases is no evidence against the rule.
    Each rule's mask depends on its own phrases and the pool alone.

    Args:
        corpus: Its `counted` is changed.
        rules: Whose negatives to look through.
        heads: Of these rules, to begin from.
        hidden: By row: True for rows that must not be seen.
        tick: Called whenever some of the rules are done.
    """
    seen_rows = np.ones(len(corpus.texts), dtype=np.bool_) if hidden is None else ~hidden
    folds = np.asarray([int(mark[:6], 36) % MASK_FOLDS for mark in corpus.marks])
    own = [corpus.positives[rule] for rule in rules]
    margins = [np.full(len(rows), np.nan, dtype=np.float32) for rows in own]
    pool_margins = np.zeros((len(corpus.pool), len(rules)), dtype=np.float32)
    for fold in range(MASK_FOLDS):
        aside = folds == fold
        fitted = corpus.fit(rules, without=aside | ~seen_rows, start=heads, tick=tick)
        here = aside[corpus.pool]
        pool_margins[here] = fitted.margins(corpus.rows[corpus.pool[here]])
        for at, rows in enumerate(own):
            seen = aside[rows] & seen_rows[rows]
            if seen.any() and (seen_rows[rows] & ~seen).any():
                margins[at][seen] = corpus.rows[rows[seen]] @ fitted.weights[at] + fitted.bias[at]
    for at, rule in enumerate(rules):
        known = margins[at][~np.isnan(margins[at])]
        if len(known) >= 2 * MASK_FOLDS:
            bar = np.quantile(known, _MASK_QUANTILE)
            corpus.counted[pool_margins[:, at] > bar, rule] = 0.0


def hold_out(
    corpus: Corpus,
    heads: Heads,
    relatives: Sequence[Sequence[int]],
    report: Callable[[int, int], None],
) -> HeldOut:
    """Return held-out scores; of a large catalog, those of a sample of its rules' phrases.

    Args:
        corpus: The catalog.
        heads: Of all rules, fitted to everything.
        relatives: By rule, the rules whose phrases say nothing against it.
        report: Told after each of the folds.
    """
    sample = _sample(corpus)
    typical = float(np.median([len(corpus.positives[rule]) for rule in sample]))
    count = _FOLDS if typical >= _FEW_PHRASES else _FOLDS_OF_FEW
    folds = _folds(corpus, count)
    folds[corpus.parts] = folds[corpus.part_of]
    own = np.unique(np.concatenate([corpus.positives[rule] for rule in sample]))
    in_own = np.isin(corpus.part_of, own)
    parts, part_of = corpus.parts[in_own], np.searchsorted(own, corpus.part_of[in_own])
    probed = np.concatenate([own, corpus.background, parts])
    truth = _truth(corpus, own)
    scores = np.zeros((len(probed), corpus.rules), dtype=np.float32)
    joined: list[Floats] = []
    joined_truth: list[Flags] = []
    start = Heads(heads.weights[sample], heads.bias[sample])
    evidence = _evidence(corpus, own, truth, relatives)
    fit = _fit_without
    if float((evidence == DOUBTFUL).mean()) > _MANY_DOUBTFUL and len(sample) == corpus.rules:
        fit = _fit_and_mask_without
    for fold in range(count):
        here = folds[probed] == fold
        without = np.zeros(len(corpus.texts), dtype=np.bool_)
        without[probed[here]] = True
        fitted = fit(corpus, sample, without, start=start)
        weights, bias = heads.weights.copy(), heads.bias.copy()
        weights[sample], bias[sample] = fitted.weights, fitted.bias
        mixed = Heads(weights, bias)
        scores[here] = mixed.margins(corpus.rows[probed[here]])
        vectors, labels = _join(corpus, own, truth, here[: len(own)])
        joined.append(mixed.margins(corpus.projection.apply(vectors)))
        joined_truth.append(labels)
        report(fold + 1, count)
    learnable = _learnable(corpus, folds, sample)[own]
    telling = np.flatnonzero(learnable)
    told = learnable[part_of]
    ends = (len(own), len(own) + len(corpus.background))
    kept = truth[telling]
    counts = np.maximum(kept.sum(axis=0), 1)
    return HeldOut(
        scores=scores[telling],
        truth=kept,
        evidence=evidence[telling],
        weights=(kept / counts).sum(axis=1).astype(np.float32),
        joined=np.concatenate(joined),
        joined_truth=np.concatenate(joined_truth),
        background=scores[ends[0] : ends[1]],
        parts=scores[ends[1] :][told],
        part_of=np.searchsorted(telling, part_of[told]),
    )


def _fit_without(corpus: Corpus, rules: Sequence[int], hidden: Flags, *, start: Heads) -> Heads:
    return corpus.fit(rules, without=hidden, start=start)


def _fit_and_mask_without(
    corpus: Corpus, rules: Sequence[int], hidden: Flags, *, start: Heads
) -> Heads:
    """Return heads that have not seen the hidden rows even when they chose their negatives.

    Where much is masked, what a held-out phrase had a say in masking flatters it. This takes five
    times as long, and makes no difference where little is.
    """
    inner = attrs.evolve(corpus, counted=corpus.apart.astype(np.float32))
    heads = inner.fit(rules, without=hidden, start=start)
    mask_unlabelled(inner, rules, heads, hidden=hidden)
    return inner.fit(rules, without=hidden, start=heads)


def _truth(corpus: Corpus, rows: Rows) -> Flags:
    place = {int(row): at for at, row in enumerate(rows)}
    truth = np.zeros((len(rows), corpus.rules), dtype=np.bool_)
    for rule, own in enumerate(corpus.positives):
        truth[[place[row] for row in own.tolist() if row in place], rule] = True
    return truth


def _folds(corpus: Corpus, count: int) -> Rows:
    """Return a fold per row, so that every rule's phrases are spread evenly over the folds."""
    folds = np.full(len(corpus.texts), -1, dtype=np.intp)
    for group in (*corpus.positives, *corpus.negatives, corpus.background):
        ranked = sorted(group.tolist(), key=corpus.marks.__getitem__)
        start = int(corpus.marks[ranked[0]][:4], 36) if ranked else 0
        for place, row in enumerate(ranked):
            if folds[row] < 0:
                folds[row] = (start + place) % count
    return folds


def _sample(corpus: Corpus) -> list[int]:
    limit = _SAMPLED_RULES if corpus.rules <= _MANY_RULES else _SAMPLED_OF_MANY
    ranked = sorted(
        range(corpus.rules),
        key=lambda rule: digest(*(corpus.texts[row] for row in corpus.positives[rule])),
    )
    return sorted(ranked[:limit])


def _learnable(corpus: Corpus, folds: Rows, sample: Sequence[int]) -> Flags:
    """Return the rows that tell something: of a rule that is still known without their fold."""
    found = np.zeros(len(corpus.texts), dtype=np.bool_)
    for rule in sample:
        rows = corpus.positives[rule]
        if corpus.spoken[rule] and len(set(folds[rows].tolist())) >= 2:
            found[rows] = True
    return found


def _join(corpus: Corpus, own: Rows, truth: Flags, here: Flags) -> tuple[Floats, Flags]:
    """Return vectors of several phrases in one text, as the mean of theirs, and whose they are."""
    ranked = sorted(
        np.flatnonzero(here).tolist(), key=lambda at: digest("join", corpus.texts[own[at]])
    )
    usable = len(ranked) // JOINED * JOINED
    groups = np.asarray(ranked[:usable], dtype=np.intp).reshape(-1, JOINED)
    mixed = corpus.vectors[own[groups]].mean(axis=1)
    mixed /= np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-6)
    labels = np.asarray(truth[groups].any(axis=1), dtype=np.bool_)
    return mixed.astype(np.float32), labels


def _evidence(
    corpus: Corpus, rows: Rows, truth: Flags, relatives: Sequence[Sequence[int]]
) -> Floats:
    evidence = np.ones(truth.shape, dtype=np.float32)
    place = {int(row): at for at, row in enumerate(corpus.pool)}
    for at, row in enumerate(rows.tolist()):
        if row in place:
            evidence[at, corpus.counted[place[row]] == 0.0] = DOUBTFUL
    for rule, kin in enumerate(relatives):
        if len(kin):
            evidence[truth[:, kin].any(axis=1), rule] = 0.0
    evidence[truth] = 1.0
    return evidence
