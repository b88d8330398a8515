"""What stands around a number: a currency, what is counted, or a word that makes it a name."""

from __future__ import annotations

import re

import attrs

from poise_tools.readings import Reading
from poise_tools.words import WORD, stem, vocabulary

_SYMBOLS: dict[str, tuple[str, ...]] = {
    "£": ("GBP",),
    "€": ("EUR",),
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "¥": ("JPY", "CNY"),
    "₹": ("INR",),
}
CURRENCIES = frozenset(
    vocabulary(
        "EUR USD GBP CHF JPY CNY INR CAD AUD NZD SEK NOK DKK PLN CZK HUF RON TRY ZAR BRL MXN SGD "
        "HKD ILS AED KRW"
    )
)
_NAMES: dict[str, tuple[str, ...]] = {
    "euro": ("EUR",),
    "dollar": _SYMBOLS["$"],
    "buck": _SYMBOLS["$"],
    "pound": ("GBP",),
    "quid": ("GBP",),
    "franc": ("CHF",),
    "yen": ("JPY",),
    "rupee": ("INR",),
}
_HUNDREDTHS: dict[str, tuple[str, ...]] = {
    "cent": (*_NAMES["dollar"], "EUR"),
    "penny": ("GBP",),
    "pence": ("GBP",),
}

_COUNTED = frozenset(
    vocabulary(
        "second minute min hour day week fortnight month year time percent kg km mile metre meter "
        "people person kid child children am pm o'clock"
    )
)
"""Nouns after a number that make it a count of these, and of nothing else."""

_NAMING = frozenset(
    vocabulary(
        "ending end number no nr ref reference id code pin phone tel telephone mobile flat apt "
        "apartment street line step version since zip postcode ticket case tracking extension"
    )
)
"""Words before a number that make it a name rather than an amount."""

_NAMING_LONG = frozenset(vocabulary("card account acct order invoice booking room flight policy"))
"""The same, where the number has four digits or more."""

_VAGUE = re.compile(
    r"\b(?:less than|more than|under|over|up to|at least|at most|around|about|approximately|"
    r"approx|roughly|almost|nearly|between(?:\s+\S+\s+and)?)\s+$",
    re.IGNORECASE,
)
"""Words before a number that make it a bound or an estimate."""

_LINKING = frozenset(vocabulary("is in with was the a an my are of"))


def tidy(value: int | float) -> int | float:
    """Return a whole number as an integer, and any other without the noise of binary fractions."""
    if isinstance(value, float):
        value = round(value, 6)
        return int(value) if value.is_integer() else value
    return value


def in_context(reading: Reading, text: str) -> Reading:
    """Return the reading with its currency, its unit, and whether it is an amount at all."""
    reading = attrs.evolve(_with_currency(reading, text), held=reading.span)
    after = WORD.match(text, _skip(text, reading.end))
    unit = stem(after[0]) if after else ""
    if text[reading.end : reading.end + 2].lstrip().startswith("%"):
        unit = "percent"
    vague = _VAGUE.search(text[max(0, reading.start - 30) : reading.start]) is not None
    if reading.currencies:
        return attrs.evolve(reading, doubtful=vague)
    other = _is_named(reading, text) or unit in _COUNTED
    return attrs.evolve(reading, unit=unit, doubtful=reading.doubtful or other or vague)


def _skip(text: str, place: int) -> int:
    return place + 1 if text[place : place + 1] in (" ", "-") else place


def _is_named(reading: Reading, text: str) -> bool:
    before = [
        match[0].lower()
        for match in WORD.finditer(text[max(0, reading.start - 40) : reading.start])
    ]
    if text[: reading.start].rstrip().endswith("#"):
        return True
    while before and before[-1] in _LINKING:
        is_year = before[-1] in ("in", "of") and isinstance(reading.value, int)
        if is_year and 1900 <= reading.value <= 2100:
            return True
        before.pop()
    if not before:
        return False
    last = stem(before[-1])
    long = isinstance(reading.value, int) and abs(reading.value) >= 1_000
    return last in _NAMING or before[-1] in _NAMING or (long and last in _NAMING_LONG)


def _with_currency(reading: Reading, text: str) -> Reading:
    start, end = reading.span
    before = text[:start].rstrip(" ") if text[max(0, start - 2) : start].count(" ") < 2 else ""
    if before and before[-1] in _SYMBOLS:
        return attrs.evolve(reading, start=len(before) - 1, currencies=_SYMBOLS[before[-1]])
    code = re.search(r"(?<![A-Za-z])([A-Z]{3})$", before[-4:])
    if code and code[1] in CURRENCIES:
        return attrs.evolve(reading, start=len(before) - 3, currencies=(code[1],))
    rest = _skip(text, end) if text[end : end + 1] == " " else end
    symbol = text[rest : rest + 1]
    if symbol in _SYMBOLS:
        return attrs.evolve(reading, end=rest + 1, currencies=_SYMBOLS[symbol])
    word = WORD.match(text, rest)
    if word is None:
        return reading
    written, name = word[0].upper(), stem(word[0])
    value = reading.value
    if name == "grand":
        return attrs.evolve(reading, value=tidy(value * 1_000), end=word.end(), currencies=("",))
    if name in _HUNDREDTHS:
        return attrs.evolve(
            reading, value=tidy(value / 100), end=word.end(), currencies=_HUNDREDTHS[name]
        )
    currencies = (written,) if written in CURRENCIES else _NAMES.get(name, ())
    return attrs.evolve(reading, end=word.end(), currencies=currencies) if currencies else reading
