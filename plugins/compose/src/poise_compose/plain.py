"""Values from tools, hooks and variables, made plain: text, numbers, dates, flat lists of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence, Set
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from uuid import UUID

import attrs

Plain = str | int | float | Decimal | date | time | list["Plain"]
"""What a template may hold; `bool` counts as `int`, `datetime` as `date`."""

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NUMBER_LIMIT = 40  # digits; what is longer is no number that people read
_LIST_LIMIT = 100


@attrs.frozen
class Writing:
    """How plain values are written.

    Attributes:
        yes: A true value.
        no: A false value.
        conjunction: Between the last two names of a list of parameters.
        limit: Characters that text from outside may have.
    """

    yes: str = "yes"
    no: str = "no"
    conjunction: str = " and "
    limit: int = 1000


def plain(value: object, writing: Writing) -> Plain | None:
    """Return `value` without anything but its content, or `None` where it has no plain form.

    Records, `None`, NaN, infinities, numbers of more than 40 digits and lists that hold such are
    not plain. Text loses control characters and is cut to `writing.limit`.
    """
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return _plain_text(value, writing.limit)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() < 130 else None
    if isinstance(value, float):
        return float(value) if math.isfinite(value) and abs(value) < 10.0**_NUMBER_LIMIT else None
    if isinstance(value, Decimal):
        sane = value.is_finite() and len(format(value, "f")) <= _NUMBER_LIMIT + 2
        return value if sane else None
    if isinstance(value, date | time):
        return value
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Set):
        value = sorted(value, key=str)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return _plain_list(value, writing)
    return None


def _plain_text(value: str, limit: int) -> str:
    head = value[: limit + 1]
    clean = _CONTROLS.sub("", head.encode("utf-8", "replace").decode("utf-8"))
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def _plain_list(values: Sequence[object], writing: Writing) -> list[Plain] | None:
    found: list[Plain] = []
    for each in values[:_LIST_LIMIT]:
        if isinstance(each, list | tuple | Set):
            return None
        item = plain(each, writing)
        if item is None:
            return None
        found.append(item)
    return found


def written(value: Plain, writing: Writing) -> str:
    """Return `value` as a customer reads it; at most `writing.limit` characters."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return writing.yes if value else writing.no
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Fifteen digits are what a float is good for: 0.1 + 0.2 reads 0.3, and 10.0 reads 10.
        return _trimmed(format(Decimal(format(round(value, 12), ".15g")), "f"))
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.replace(microsecond=0).isoformat(" ", "minutes")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("minutes")
    return _plain_text(", ".join(written(each, writing) for each in value), writing.limit)


def _trimmed(number: str) -> str:
    short = number.rstrip("0").rstrip(".") if "." in number else number
    return "0" if short == "-0" else short


def listed(names: Sequence[str], conjunction: str) -> str:
    """Return `names` as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])}{conjunction}{names[-1]}"


def is_blank(text: str) -> bool:
    """Say whether nothing of `text` would be seen."""
    return not any(each.isprintable() and not each.isspace() for each in text)
