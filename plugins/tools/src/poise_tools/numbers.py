"""Numbers in a text, and what digits mean in the ways people group them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from poise_tools.amounts import CURRENCIES, in_context, tidy
from poise_tools.number_words import numbers_in_words
from poise_tools.readings import Reading, Span, overlaps

_DIGITS = re.compile(r"[-−+]?\d(?:[\d.,\u00a0\u202f'’]*\d)?")


def numbers(text: str, taken: Sequence[Span] = ()) -> tuple[Reading, ...]:
    """Return the numbers of `text`, in order.

    A number that is part of something else (a time, an id, an ordinal) is none; one that can be
    written for two values (`1.250`) is left out.

    Args:
        text: Digits in ASCII.
        taken: Where something else stands, such as a date.
    """
    found = [*_in_digits(text), *numbers_in_words(text)]
    return tuple(
        in_context(reading, text)
        for reading in sorted(found, key=lambda each: each.start)
        if not overlaps(reading.span, taken)
    )


def _in_digits(text: str) -> Iterator[Reading]:
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        sign = text[start] if text[start] in "-−+" else ""
        before = text[start - 1] if start else " "
        if before.isalnum() or before in "_":
            code = re.search(r"(?<![A-Za-z])([A-Za-z]{3})$", text[max(0, start - 4) : start])
            if sign or code is None or code[1].upper() not in CURRENCIES:
                continue
        elif before in "/:@.,-−+*" or (before == "#" and not sign):
            continue
        after = text[end : end + 4]
        thousand = re.match(r"[kK](?![A-Za-z0-9])", after)
        if thousand is None and not _ends_here(after):
            continue
        if _beside_digits(text, start, end):
            continue
        value = parse(match[0].lstrip("+"))
        if value is None:
            continue
        if thousand:
            value, end = value * 1_000, end + 1
        yield Reading(tidy(value), start, end)


def _ends_here(after: str) -> bool:
    if not after:
        return True
    if after[0].isalpha() or after[0] == "_":
        word = re.match(r"[A-Za-z]+", after)
        return word is not None and word[0].upper() in CURRENCIES
    return re.match(r"[/:][\d]|[-−–]\w|[@#*]", after) is None


def _beside_digits(text: str, start: int, end: int) -> bool:
    """Say whether only a space parts it from other digits: groups of an id, or two numbers."""
    return bool(re.search(r"\d $", text[max(0, start - 2) : start])) or bool(
        re.match(r" \d", text[end : end + 2])
    )


def parse(written: str) -> int | float | None:
    """Return the value of digits with separators, or `None` where two readings compete.

    The last of two kinds of separator is the decimal one. A single comma before three digits
    groups thousands, as one repeated separator does; a single point before three digits is left
    open.
    """
    sign = -1 if written[0] in "-−" else 1
    body = re.sub(r"[\u00a0\u202f'’]", "", written.lstrip("-−"))
    commas, points = body.count(","), body.count(".")
    if commas and points:
        decimal = "," if body.rfind(",") > body.rfind(".") else "."
        group = "." if decimal == "," else ","
        whole, _, rest = body.rpartition(decimal)
        if decimal in whole or not _is_grouped(whole, group):
            return None
        return sign * float(f"{whole.replace(group, '')}.{rest}")
    separator = "," if commas else "." if points else ""
    if not separator:
        return sign * int(body) if len(body) <= 30 else None
    whole, _, rest = body.partition(separator)
    if commas + points > 1:
        return sign * int(body.replace(separator, "")) if _is_grouped(body, separator) else None
    if len(rest) == 3 and whole != "0":
        return sign * int(whole + rest) if separator == "," and len(whole) <= 3 else None
    return sign * float(f"{whole}.{rest}")


def _is_grouped(body: str, separator: str) -> bool:
    first, *groups = body.split(separator)
    return (
        1 <= len(first) <= 3
        and all(2 <= len(each) <= 3 for each in groups)
        and (not groups or len(groups[-1]) == 3)
    )
