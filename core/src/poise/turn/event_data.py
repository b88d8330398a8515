"""Reading what an event's data holds, whoever wrote it: a value of the kind asked for, or nothing.

Absent and null are the same here: an empty mapping, an empty sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class NotUnderstoodError(Exception):
    """An event's data is not laid out as its kind asks."""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise NotUnderstoodError


def items(value: object) -> Sequence[Any]:
    """Return a list or a tuple; a text is none."""
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise NotUnderstoodError


def text(value: object, absent: str | None = None) -> str:
    """Return a text; `absent` stands in for null where it is given."""
    if isinstance(value, str):
        return value
    if value is None and absent is not None:
        return absent
    raise NotUnderstoodError


def text_or_none(value: object) -> str | None:
    """Return a text or `None`."""
    return None if value is None else text(value)


def texts(value: object) -> Sequence[str]:
    """Return a list of texts."""
    return [text(item) for item in items(value)]


def number(value: object) -> int:
    """Return a whole number; a truth value is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise NotUnderstoodError


def dollars(value: object) -> float:
    """Return a sum of money that a request can have cost; none at all for null."""
    if value is None:
        return 0.0
    # A sum that nobody can have spent is a mistake, and one that is no number would stay for ever.
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1_000_000:
        return float(value)
    raise NotUnderstoodError
