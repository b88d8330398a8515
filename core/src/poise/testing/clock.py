"""A clock that stands still until it is told to move, and ids that count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Where a frozen clock starts: a Monday morning."""


class FrozenClock:
    """Tells the same time until `advance` is called."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._now += timedelta(seconds=seconds)


class CountingIds:
    """Ids that count from 1, the same in every run."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count:06d}"
