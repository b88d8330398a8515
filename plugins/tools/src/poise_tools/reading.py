"""What a passage can be read as for one parameter, by the parameter's kind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import attrs

from poise.values.terms import Term
from poise.values.tools import Parameter, ParameterKind
from poise_tools.conversation import Passage
from poise_tools.dates import clock_places, dates, moments
from poise_tools.evidence import is_money
from poise_tools.named import addresses, choices, patterned
from poise_tools.numbers import numbers
from poise_tools.readings import Reading, Span, overlaps
from poise_tools.words import name_words

_ELEMENTS = frozenset({ParameterKind.STRING, ParameterKind.DATE})
"""What a list can be read of: elements that are known by their form."""

_MOST = 64  # readings of one passage


class PassageReader:
    """Reads passages for one turn, each number and date once.

    Args:
        now: In the customer's time zone.
        terms: Vocabulary; the synonyms of a term that is called like a choice name it too.
    """

    def __init__(self, now: datetime, terms: Iterable[Term]) -> None:
        self._now = now
        self._synonyms = {term.name.lower(): term.synonyms for term in terms}
        self._dates: dict[str, tuple[tuple[Reading, ...], tuple[Span, ...]]] = {}
        self._numbers: dict[str, tuple[Reading, ...]] = {}

    def read(self, passage: Passage, parameter: Parameter) -> tuple[Reading, ...]:
        """Return the values that the passage holds for `parameter`, in order.

        A text made of values has too many to mean one of them: the first ones stand for all.
        """
        return self._read(passage.text, parameter)[:_MOST]

    def _read(self, text: str, parameter: Parameter) -> tuple[Reading, ...]:
        kind = parameter.kind
        if kind is ParameterKind.STRING:
            return self._text(text, parameter)
        if kind in (ParameterKind.INTEGER, ParameterKind.NUMBER):
            return self._number(text, parameter)
        if kind is ParameterKind.DATE:
            return self._dates_of(text)[0]
        if kind is ParameterKind.DATETIME:
            return moments(text, self._now)
        if kind is ParameterKind.LIST and parameter.items is not None:
            item = attrs.evolve(parameter.items, name=parameter.name)
            return self._read(text, item) if item.kind in _ELEMENTS else ()
        return ()

    def _text(self, text: str, parameter: Parameter) -> tuple[Reading, ...]:
        if _is_currency(parameter):
            return self._currency(text, parameter)
        if parameter.choices:
            return choices(text, parameter, self._synonyms)
        if parameter.pattern is not None:
            return patterned(text, parameter.pattern)
        if {"email", "mail"} & set(name_words(parameter.name)):
            return addresses(text)
        return ()

    def _number(self, text: str, parameter: Parameter) -> tuple[Reading, ...]:
        read = self._numbers_of(text)
        if parameter.choices:
            read = tuple(each for each in read if each.value in parameter.choices)
        money = [each for each in read if each.currencies]
        if is_money(parameter):
            if any(each.value < 0 for each in read):
                return ()  # a minus or a dash: nobody can tell
            # With a currency beside one of them, the others are no amounts.
            return tuple(money) if money else read
        if parameter.kind is ParameterKind.INTEGER:
            read = tuple(each for each in read if not each.currencies)
        own = frozenset(name_words(parameter.name))
        return tuple(
            attrs.evolve(each, doubtful=False) if each.unit in own else each for each in read
        )

    def _currency(self, text: str, parameter: Parameter) -> tuple[Reading, ...]:
        """Return the currencies that amounts are named in, where they can be only one."""
        found: list[Reading] = []
        for amount in self._numbers_of(text):
            codes = [
                code
                for code in amount.currencies
                if code and (not parameter.choices or code in parameter.choices)
            ]
            if len(codes) == 1:
                first, last = amount.core
                mark = (amount.start, first) if amount.start < first else (last, amount.end)
                found.append(Reading(codes[0], *_trimmed(text, mark), decisive=True))
        named = choices(text, parameter, self._synonyms) if parameter.choices else ()
        apart = [each for each in named if not overlaps(each.span, [one.span for one in found])]
        return tuple(sorted([*found, *apart], key=lambda each: each.start))

    def _dates_of(self, text: str) -> tuple[tuple[Reading, ...], tuple[Span, ...]]:
        if text not in self._dates:
            self._dates[text] = dates(text, self._now.date())
        return self._dates[text]

    def _numbers_of(self, text: str) -> tuple[Reading, ...]:
        if text not in self._numbers:
            taken = (*self._dates_of(text)[1], *clock_places(text))
            self._numbers[text] = numbers(text, taken)
        return self._numbers[text]


def _trimmed(text: str, span: Span) -> Span:
    within = text[span[0] : span[1]]
    return (
        span[0] + len(within) - len(within.lstrip()),
        span[1] - len(within) + len(within.rstrip()),
    )


def _is_currency(parameter: Parameter) -> bool:
    return "currency" in name_words(parameter.name)
