"""How near approved wording is to what the customer says: by vectors, else by shared words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from poise.errors import ProviderError
from poise.turn.models import TurnModels
from poise_compose.words import words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@attrs.frozen
class Nearness:
    """For each text of the wording, how near it is to each text of the customer's, 0 to 1.

    Attributes:
        heard: The customer's texts.
        rows: By text of the wording, one number for each of `heard`.
        note: What stood in for vectors, and why; empty when nothing had to.
    """

    heard: tuple[str, ...] = ()
    rows: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    note: str = ""
    _profiles: dict[tuple[str, ...], tuple[float, ...]] = attrs.field(
        factory=dict, init=False, eq=False, repr=False
    )

    def to(self, texts: tuple[str, ...]) -> float:
        """Return how near the nearest of `texts` is to anything heard; 0 where nothing is known."""
        return max(self.profile(texts), default=0.0)

    def profile(self, texts: tuple[str, ...]) -> tuple[float, ...]:
        """Return, for each text heard, how near the nearest of `texts` is to it."""
        profile = self._profiles.get(texts)
        if profile is None:
            known = [self.rows[text] for text in texts if text in self.rows]
            profile = tuple(max(column) for column in zip(*known, strict=True))
            self._profiles[texts] = profile
        return profile


class Comparer:
    """Compares wording with messages, and remembers the vectors of wording across turns.

    What a customer said is never kept: within a turn `turn.models` remembers it.
    """

    def __init__(self, cached_vectors: int) -> None:
        self._limit = cached_vectors
        self._vectors: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()

    async def compare(
        self, heard: Sequence[str], wording: Iterable[str], models: TurnModels
    ) -> Nearness:
        """Return how near each of `wording` is to each of `heard`; asks for one batch at most.

        Where no embedder answers, shared words decide, and the result's note says so.
        """
        texts = tuple(dict.fromkeys(wording))
        if not heard or not texts:
            return Nearness()
        try:
            return await self._by_vectors(tuple(heard), texts, models)
        except ProviderError as exc:
            return _by_words(tuple(heard), texts, f"compared by shared words: {exc}")

    async def _by_vectors(
        self, heard: tuple[str, ...], texts: tuple[str, ...], models: TurnModels
    ) -> Nearness:
        import numpy as np  # costs an import only where there is something to compare

        identity = models.identity()
        unknown = [text for text in texts if (identity, text) not in self._vectors]
        made = await models.embed((*heard, *unknown))
        fresh = dict(zip(unknown, made[len(heard) :], strict=True))
        rows = [fresh[text] if text in fresh else self._vectors[identity, text] for text in texts]
        products = np.clip(np.stack(rows) @ made[: len(heard)].T, 0.0, 1.0)
        self._keep(identity, texts, fresh)
        # Rounded, so that the shape of a batch can't decide between equals.
        return Nearness(
            heard,
            {
                text: tuple(row)
                for text, row in zip(texts, np.round(products, 4).tolist(), strict=True)
            },
        )

    def _keep(
        self, identity: str, used: Sequence[str], fresh: Mapping[str, NDArray[np.float32]]
    ) -> None:
        if not self._limit:
            return
        for text in used:
            if text in fresh:
                self._vectors[identity, text] = fresh[text].copy()
            else:
                self._vectors.move_to_end((identity, text))
        while len(self._vectors) > self._limit:
            self._vectors.popitem(last=False)


def _by_words(heard: tuple[str, ...], texts: tuple[str, ...], note: str) -> Nearness:
    sides = [frozenset(words_of(text)) for text in heard]
    rows: dict[str, tuple[float, ...]] = {}
    for text in texts:
        words = frozenset(words_of(text))
        rows[text] = tuple(
            round(2.0 * len(words & side) / ((len(words) + len(side)) or 1), 4) for side in sides
        )
    return Nearness(heard, rows, note)
