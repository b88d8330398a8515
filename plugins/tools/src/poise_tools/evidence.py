"""What the words around a value say about which parameter it is for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from poise.values.tools import Parameter
from poise_tools.readings import Reading
from poise_tools.words import WORD, name_words, stem, vocabulary, words_of

_MONEY = frozenset(
    vocabulary(
        "amount price sum total cost fee balance budget payment deposit refund money salary income "
        "fund"
    )
)
MONEY_VERBS = frozenset(vocabulary("send pay transfer refund deposit withdraw wire charge top"))
_NEAR_BEFORE = 4  # words before a value among which the parameter's own may stand
_NEAR_AFTER = 2
_AROUND = 80  # characters on either side of a value that are looked at for words

_LEADING = frozenset(vocabulary("from to by until till on at for in since before after"))
"""Words that speak of what follows them, never of what stands before."""

_SPOKEN: Mapping[str, frozenset[str]] = {
    "start": frozenset(vocabulary("from starting beginning since")),
    "from": frozenset(vocabulary("starting beginning since")),
    "end": frozenset(vocabulary("to until till")),
    "to": frozenset(vocabulary("until till")),
    "destination": frozenset({"to"}),
    "target": frozenset({"to"}),
    "source": frozenset({"from"}),
    "origin": frozenset({"from"}),
}
"""How people say a word of a name."""

_SENTENCE_END = re.compile(r"[.!?;\n](?:\s|$)")


def is_money(parameter: Parameter) -> bool:
    """Say whether a parameter is an amount of money, by its name or its description."""
    words = {*name_words(parameter.name), *words_of(parameter.description)}
    return bool(words & _MONEY)


def own_words(parameters: Sequence[Parameter]) -> Mapping[str, frozenset[str]]:
    """Return for each parameter the words of its name that no other one has."""
    every = [_spoken(parameter.name) for parameter in parameters]
    return {
        parameter.name: frozenset(
            word for word in words if sum(word in others for others in every) == 1 and len(word) > 1
        )
        for parameter, words in zip(parameters, every, strict=True)
    }


def _spoken(name: str) -> set[str]:
    words = set(name_words(name))
    return words.union(*(_SPOKEN.get(word, frozenset()) for word in words))


def distance_to(reading: Reading, text: str, words: AbstractSet[str]) -> int | None:
    """Return how many words away one of `words` stands in the same sentence, or `None`."""
    found: list[int] = []
    before = text[max(0, reading.start - _AROUND) : reading.start]
    ends = list(_SENTENCE_END.finditer(before))
    before = before[ends[-1].end() :] if ends else before
    near = [stem(match[0]) for match in WORD.finditer(before)][-_NEAR_BEFORE:]
    for steps, word in enumerate(reversed(near), start=1):
        if word in words:
            found.append(steps)
            break
    after = text[reading.end : reading.end + _AROUND]
    end = _SENTENCE_END.search(after)
    after = after[: end.start()] if end else after
    following = [stem(match[0]) for match in WORD.finditer(after)][:_NEAR_AFTER]
    for steps, word in enumerate(following, start=2):
        if word in words and word not in _LEADING:
            found.append(steps)
            break
    return min(found, default=None)
