"""Scores texts against an index: margins, the text that did best, and the chance of each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise.turn.candidates import Sighting
from poise.turn.queries import Query, QueryKind, clip_words
from poise.values.ids import RuleId
from poise_discovery.heldout import PART_SURCHARGE
from poise_discovery.index import Index
from poise_discovery.parts import split_message
from poise_discovery.threads import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_FAR = 1e9
_NEVER = np.float32(-_FAR)  # the margin of a rule that no text of the turn may bring up
_STALE_MARGIN = -100.0  # the same, as sightings tell it


@attrs.frozen
class Probe:
    """One text to be scored: a query's own, or a part of a message."""

    text: str
    query: Query
    is_part: bool = False


def probes_of(queries: Sequence[Query]) -> tuple[Probe, ...]:
    """Return every text to score for these queries: each one whole, and the parts of messages."""
    probes: list[Probe] = []
    for query in queries:
        text = clip_words(query.text)
        if not text:
            continue
        probes.append(Probe(text, query))
        if query.kind is QueryKind.MESSAGE:
            probes.extend(Probe(part, query, is_part=True) for part in split_message(text))
    return tuple(probes)


@attrs.frozen(eq=False)
class Scored:
    """All rules of an index against all texts of a turn.

    Attributes:
        index: What scored.
        probes: The texts.
        rows: Their projected vectors.
        scores: Texts × rules.
        margins: By rule: score minus threshold, for the text that did best.
        winner: By rule: which text that was.
        fresh_margins: By rule: the same among texts that repeat no older words.
        fresh_winner: By rule: which of all texts that was.
    """

    index: Index
    probes: tuple[Probe, ...]
    rows: Floats
    scores: Floats
    margins: Floats
    winner: NDArray[np.intp]
    fresh_margins: Floats
    fresh_winner: NDArray[np.intp]

    def hits(self) -> list[int]:
        """Return the rules that a text brings up, best margin first."""
        found = np.flatnonzero(self.margins >= 0.0)
        ranked: list[int] = found[np.argsort(-self.margins[found], kind="stable")].tolist()
        return ranked

    def sighting(self, rule: int, *, over_budget: bool = False) -> Sighting:
        """Return the account of one rule's score."""
        at = int(self.winner[rule])
        margin, score = float(self.margins[rule]), float(self.scores[at, rule])
        name = RuleId(self.index.rules[rule])
        if margin <= _NEVER / 2:
            return Sighting(name, _STALE_MARGIN, score, score - _STALE_MARGIN, 0.0)
        fresh = int(self.fresh_winner[rule])
        chance = self.index.calibration.chances(
            np.asarray([self.fresh_margins[rule]], dtype=np.float32),
            np.asarray([self.scores[fresh, rule] - self._rival(fresh, rule)], dtype=np.float32),
        )
        return Sighting(
            rule=name,
            margin=margin,
            score=score,
            threshold=score - margin,
            probability=float(chance[0]),
            query=self.probes[at].query,
            signal=self.index.nearest_signal(rule, self.rows[at]),
            over_budget=over_budget,
        )

    def _rival(self, at: int, rule: int) -> float:
        """Return the best score for the same text of a rule that is no relative of `rule`."""
        scores = self.scores[at].copy()
        scores[[rule, *self.index.relatives[rule]]] = -_FAR
        return float(scores.max(initial=-_FAR))


def score(
    index: Index,
    probes: Sequence[Probe],
    vectors: Floats,
    pruned: Mapping[RuleId, int] | None = None,
) -> Scored:
    """Return how every rule scores.

    Args:
        index: What was trained.
        probes: At least one text.
        vectors: The embedder's row of each text.
        pruned: Rules that only a text of a later offset may bring up again. A joined text repeats
            older words and so never does.
    """
    with one_thread():
        rows = index.projection.apply(vectors)
        # One product per text: for a few rows it is several times faster than one of them all.
        scores = np.stack([index.heads.weights @ row for row in rows])
    scores += index.heads.bias
    asked = np.asarray(
        [
            index.thresholds.at(float(best)) + _surcharge(probe, index.thresholds.joined)
            for probe, best in zip(probes, scores.max(axis=1, initial=-_FAR), strict=True)
        ],
        dtype=np.float32,
    )
    margins = scores - asked[:, None]
    margins += index.discount
    for rule_id, offset in (pruned or {}).items():
        rule = index.number(rule_id)
        if rule is not None:
            stale = [
                probe.query.offset <= offset or probe.query.kind is QueryKind.JOINED
                for probe in probes
            ]
            margins[stale, rule] = _NEVER
    winner, best = _best_of(margins, range(len(probes)))
    # A text of older words too may stand alone, where a program explains a stored query.
    fresh = [at for at, probe in enumerate(probes) if probe.query.is_fresh]
    fresh_winner, fresh_best = (
        (winner, best) if not fresh or len(fresh) == len(probes) else _best_of(margins, fresh)
    )
    return Scored(
        index=index,
        probes=tuple(probes),
        rows=rows,
        scores=scores,
        margins=best,
        winner=winner,
        fresh_margins=fresh_best,
        fresh_winner=fresh_winner,
    )


def hits_of_each(
    index: Index, texts: Sequence[Sequence[Probe]], vectors: Mapping[str, Floats]
) -> Sequence[tuple[Sighting, ...]]:
    """Return, for each text, the account of every rule that it brings up, best margin first.

    Args:
        index: What was trained.
        texts: What is to be scored of each text; nothing brings nothing up.
        vectors: The embedder's row of every probe.
    """
    found: list[tuple[Sighting, ...]] = []
    for probes in texts:
        if not probes:
            found.append(())
            continue
        scored = score(index, probes, np.stack([vectors[probe.text] for probe in probes]))
        found.append(tuple(scored.sighting(rule) for rule in scored.hits()))
    return found


def _best_of(margins: Floats, chosen: Sequence[int]) -> tuple[NDArray[np.intp], Floats]:
    """Return, by rule, which of the chosen texts did best, and its margin."""
    if len(chosen) == 1:
        return np.full(margins.shape[1], chosen[0], dtype=np.intp), margins[chosen[0]]
    rows = np.asarray(chosen, dtype=np.intp)
    some = margins[rows]
    return rows[some.argmax(axis=0)], some.max(axis=0)


def _surcharge(probe: Probe, joined: float) -> float:
    if probe.query.kind is QueryKind.MESSAGE:
        return PART_SURCHARGE if probe.is_part else 0.0
    return joined
