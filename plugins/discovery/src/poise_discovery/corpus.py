"""Lays the phrases of a catalog out for training: rows, pool of negatives, and who is masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise.values.ids import digest
from poise_discovery.background import BACKGROUND
from poise_discovery.parts import split_message
from poise_discovery.projection import Projection, fit_projection
from poise_discovery.solver import Heads, Problem, balanced, idle, solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poise_discovery.phrases import RulePhrases

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]
    Flags = NDArray[np.bool_]

FEW_RULES = 30
"""Below this, other rules' phrases alone do not say what customers else talk about."""

PENALTY = 1e-3
"""Of the squared weights, where each rule's losses sum to one; flat between a third and thrice."""

_POOL = 1_000
_POOL_OF_MANY = 500  # as good, and twice as fast
_MANY_RULES = 2_000
_SAME = 0.93  # cosine from which a phrase of another rule says the same
_TAKEN = 0.80  # cosine from which a background phrase is some rule's business
GROUP = 256  # rules laid out together


@attrs.frozen(eq=False)
class Corpus:
    """Everything that heads are fitted to.

    Attributes:
        texts: One per row.
        marks: Their digests: what is drawn by these is drawn alike whatever else is there.
        vectors: Rows as the embedder gave them.
        rows: The same rows, projected.
        projection: From `vectors` to `rows`.
        positives: By rule, the rows of its own phrases.
        negatives: By rule, the rows of its anti-signals.
        pool: Rows that are negatives of every rule, as far as `counted`.
        apart: Pool × rules: False where a row is the rule's own, a relative's, or says the same.
        counted: Pool × rules: 1 where the row is a negative of the rule, 0 where masked: where it
            is not apart, and where it was found to look like the rule's own.
        background: Rows of no rule at all.
        parts: Rows of the parts of phrases that a turn would split.
        part_of: The row of the phrase that each of these is a part of.
        spoken: By rule: its phrases are customers' and not its own words.
    """

    texts: tuple[str, ...]
    marks: tuple[str, ...]
    vectors: Floats
    rows: Floats
    projection: Projection
    positives: tuple[Rows, ...]
    negatives: tuple[Rows, ...]
    pool: Rows
    apart: Flags
    counted: Floats
    background: Rows
    parts: Rows
    part_of: Rows
    spoken: Flags

    @property
    def rules(self) -> int:
        """How many rules there are."""
        return len(self.positives)

    def fit(
        self,
        rules: Sequence[int],
        *,
        without: Flags | None = None,
        start: Heads | None = None,
        tick: Callable[[], None] = idle,
    ) -> Heads:
        """Return the heads of `rules`, in that order.

        Args:
            rules: Which ones.
            without: By row: True for rows that must not be seen.
            start: Heads of the same rules to begin from.
            tick: Called whenever some of them are done.
        """
        weights = np.zeros((len(rules), self.rows.shape[1]), dtype=np.float32)
        bias = np.zeros(len(rules), dtype=np.float32)
        seen = np.ones(len(self.texts), dtype=np.bool_) if without is None else ~without
        pool = np.flatnonzero(seen[self.pool])
        place = np.full(len(self.texts), -1, dtype=np.intp)
        place[self.pool[pool]] = np.arange(len(pool))
        vectors = self.rows[self.pool[pool]]
        counted = self.counted[pool].T
        # Rules of like size share a layout, so that one's many rows pad no one else's few.
        size = [len(self.positives[rule]) + len(self.negatives[rule]) for rule in rules]
        order = np.argsort(np.asarray(size), kind="stable")
        for begin in range(0, len(order), GROUP):
            group = order[begin : begin + GROUP]
            numbers = [rules[at] for at in group]
            problem = self._problem(numbers, vectors, -counted[numbers], place, seen)
            guess = None if start is None else Heads(start.weights[group], start.bias[group])
            found = solve(problem, PENALTY, start=guess)
            weights[group], bias[group] = found.weights, found.bias
            tick()
        return Heads(weights, bias)

    def _problem(
        self, rules: Sequence[int], pool: Floats, sides: Floats, place: Rows, seen: Flags
    ) -> Problem:
        """Return what these rules have to solve.

        Args:
            rules: Which ones.
            pool: Rows of the pool that may be seen.
            sides: Rules × pool: -1 where a row is a negative; the rules' own are added to it.
            place: By row of the corpus: where it stands in `pool`, or -1.
            seen: By row of the corpus: whether it may be seen.
        """
        own: list[tuple[Rows, Rows]] = []
        for at, rule in enumerate(rules):
            apart = []
            for rows, side in ((self.positives[rule], 1.0), (self.negatives[rule], -1.0)):
                rows = rows[seen[rows]]
                # What stands in the pool is scored with it; only the rest takes room of its own.
                sides[at, place[rows[place[rows] >= 0]]] += side
                apart.append(rows[place[rows] < 0])
            own.append((apart[0], apart[1]))
        width = max(len(yes) + len(no) for yes, no in own)
        rows_of = np.zeros((len(rules), width, pool.shape[1]), dtype=np.float32)
        own_sides = np.zeros((len(rules), width), dtype=np.float32)
        for at, (yes, no) in enumerate(own):
            end = len(yes) + len(no)
            rows_of[at, : len(yes)] = self.rows[yes]
            rows_of[at, len(yes) : end] = self.rows[no]
            own_sides[at, : len(yes)] = 1.0
            own_sides[at, len(yes) : end] = -1.0
        pool_weights, own_weights = balanced(sides, own_sides)
        return Problem(pool, pool_weights, rows_of, own_weights)


def background_for(rules: int) -> tuple[str, ...]:
    """Return the phrases that every catalog's thresholds are probed with."""
    return BACKGROUND if rules else ()


def texts_of(phrases: RulePhrases) -> tuple[str, ...]:
    """Return every text of a rule whose vector training needs."""
    parts = (part for text in phrases.positives for part in split_message(text))
    return tuple(dict.fromkeys((*phrases.positives, *phrases.negatives, *parts)))


def lay_out(
    phrases: Sequence[RulePhrases],
    vectors: Mapping[str, Floats],
) -> Corpus:
    """Return the corpus of a catalog; equal content gives an equal corpus, in any order.

    Args:
        phrases: Of every rule, by ascending rule id.
        vectors: The embedder's row of every text of `texts_of` and of `background_for`.
    """
    own = sorted({text for each in phrases for text in (*each.positives, *each.negatives)})
    at = {text: row for row, text in enumerate(own)}
    positives = tuple(_rows(at[text] for text in each.positives) for each in phrases)
    negatives = tuple(_rows(at[text] for text in each.negatives) for each in phrases)
    said = {text for each in phrases for text in each.positives}
    background = _neutral(own, vectors, len(phrases))
    parts = [(part, at[text]) for text in sorted(said) for part in split_message(text)]
    texts = (*own, *background, *(part for part, _ in parts))
    table = np.stack([vectors[text] for text in texts]).astype(np.float32)
    after = len(own) + len(background)

    limit = _POOL if len(phrases) <= _MANY_RULES else _POOL_OF_MANY
    # Ranked by digest: a phrase's chance to be in the pool is the same whatever else is there.
    marks = tuple(digest(text) for text in texts)
    pool = _rows(sorted((at[text] for text in said), key=marks.__getitem__)[:limit])
    if len(phrases) < FEW_RULES:
        pool = np.concatenate([pool, _rows(range(len(own), after))])
    projection = fit_projection(table[pool], len(phrases))
    apart = _apart(phrases, positives, pool, table)
    return Corpus(
        texts=texts,
        marks=marks,
        vectors=table,
        rows=projection.apply(table),
        projection=projection,
        positives=positives,
        negatives=negatives,
        pool=pool,
        apart=apart,
        counted=apart.astype(np.float32),
        background=_rows(range(len(own), after)),
        parts=_rows(range(after, len(texts))),
        part_of=_rows(row for _, row in parts),
        spoken=np.asarray([not each.from_own_words for each in phrases], dtype=np.bool_),
    )


def _neutral(own: Sequence[str], vectors: Mapping[str, Floats], rules: int) -> tuple[str, ...]:
    """Return the background phrases that are no rule's business: no greeting where one greets."""
    known = set(own)
    wanted = [text for text in background_for(rules) if text not in known]
    table = np.stack([vectors[text] for text in own])
    nearest = (table @ np.stack([vectors[text] for text in wanted]).T).max(axis=0)
    return tuple(text for text, near in zip(wanted, nearest, strict=True) if near < _TAKEN)


def _apart(
    phrases: Sequence[RulePhrases],
    positives: Sequence[Rows],
    pool: Rows,
    table: Floats,
) -> Flags:
    """Return which pool rows are neither a rule's own nor its relatives', nor say the same."""
    apart = np.ones((len(phrases), len(pool)), dtype=np.bool_)
    place = np.full(len(table), -1, dtype=np.intp)
    place[pool] = np.arange(len(pool))
    number = {each.rule: at for at, each in enumerate(phrases)}
    seen = table[pool].T
    for begin in range(0, len(phrases), GROUP):
        group = [at for at in range(len(phrases))[begin : begin + GROUP] if len(positives[at])]
        if group:
            own = [positives[at] for at in group]
            starts = np.cumsum([0, *(len(rows) for rows in own[:-1])])
            near = np.maximum.reduceat(table[np.concatenate(own)] @ seen, starts, axis=0)
            apart[group] = near < _SAME
    for rule, each in enumerate(phrases):
        kin = [positives[number[other]] for other in each.relatives if other in number]
        for rows in (positives[rule], *kin):
            inside = place[rows]
            apart[rule, inside[inside >= 0]] = False
    return np.ascontiguousarray(apart.T)


def _rows(numbers: Iterable[int]) -> Rows:
    return np.asarray(list(numbers), dtype=np.intp)
