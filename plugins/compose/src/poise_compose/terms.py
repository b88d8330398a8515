"""Finds vocabulary by whole-word mention, with one pass over the text whatever the vocabulary."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from poise import TermFinder
from poise.turn.context import TurnContext
from poise.values.catalog import CatalogSnapshot
from poise.values.terms import Term
from poise_compose.settings import ComposeSettings
from poise_compose.words import words_of

_KEPT_SNAPSHOTS = 8


@attrs.frozen
class _Vocabulary:
    """The phrases of a vocabulary, laid out for one look-up per word and length.

    Attributes:
        terms: By name.
        phrases: The places in `terms` that a phrase stands for.
        lengths: How many words the phrases have that begin with a word.
    """

    terms: tuple[Term, ...]
    phrases: Mapping[tuple[str, ...], frozenset[int]]
    lengths: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, terms: Iterable[Term]) -> _Vocabulary:
        ordered = sorted(terms, key=lambda term: (words_of(term.name), term.name, term.id))
        phrases: dict[tuple[str, ...], set[int]] = defaultdict(set)
        lengths: dict[str, set[int]] = defaultdict(set)
        for place, term in enumerate(ordered):
            for name in (term.name, *term.synonyms):
                words = tuple(words_of(name))
                if words:
                    phrases[words].add(place)
                    lengths[words[0]].add(len(words))
        return cls(
            tuple(ordered),
            {words: frozenset(places) for words, places in phrases.items()},
            {first: frozenset(found) for first, found in lengths.items()},
        )

    def mentioned(self, words: Sequence[str]) -> Iterable[int]:
        for start, word in enumerate(words):
            for length in self.lengths.get(word, ()):
                yield from self.phrases.get(tuple(words[start : start + length]), ())


class LexicalTermFinder(TermFinder):
    """Returns the terms whose name or synonym stands in the window as whole words.

    Case, accents, hyphens and apostrophes make no difference. Terms come by name, so that neither
    the order of declaration nor the order of mention moves a prompt's bytes. The newest messages
    are read first, up to `term_characters` in all; of a longer message its head and its tail.
    """

    def __init__(self, settings: ComposeSettings) -> None:
        self._limit = settings.term_characters
        self._compiled: OrderedDict[str, _Vocabulary] = OrderedDict()

    async def find(self, turn: TurnContext) -> Sequence[Term]:
        if not turn.snapshot.terms:
            return ()
        vocabulary = self._vocabulary(turn.snapshot)
        found: set[int] = set()
        left = self._limit
        for event in reversed(turn.history.messages):
            if left <= 0:
                break
            text = _clipped(event.text, left)
            left -= len(text)
            found.update(vocabulary.mentioned(words_of(text)))
        return tuple(vocabulary.terms[place] for place in sorted(found))

    def _vocabulary(self, snapshot: CatalogSnapshot) -> _Vocabulary:
        known = self._compiled.get(snapshot.version)
        if known is None:
            known = _Vocabulary.of(snapshot.terms.values())
            self._compiled[snapshot.version] = known
            if len(self._compiled) > _KEPT_SNAPSHOTS:
                self._compiled.popitem(last=False)
        else:
            self._compiled.move_to_end(snapshot.version)
        return known


def _clipped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = max(1, limit // 2)
    return f"{text[:half]}\n{text[-half:]}"
