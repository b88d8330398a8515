"""What a tenant has spent on models, by day."""

from __future__ import annotations

from datetime import date
from math import isfinite

import attrs

from poise.errors import InvalidValueError


@attrs.frozen
class DaySpent:
    """What all sessions of a tenant have spent on models in one day.

    Attributes:
        day: In UTC, as `2026-01-31`.
        dollars: US dollars.
    """

    day: str
    dollars: float

    def __attrs_post_init__(self) -> None:
        try:
            date.fromisoformat(self.day)
        except ValueError as exc:
            raise InvalidValueError("day's spending", "day", f"is {self.day!r}, no date") from exc
        if not isfinite(self.dollars) or self.dollars < 0:
            raise InvalidValueError("day's spending", "dollars", f"is {self.dollars}")
