"""What models may cost: less effort towards a limit, and nothing that costs once it is reached.

Three sums are held against three limits: the turn's own, the session's from its log, and the day's
over all sessions of a tenant, which is read when a turn loads and added to when it has ended. So
turns that run side by side see each other's cost a turn late: a day's limit may be passed by what
is under way when it is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import attrs

from poise.engine.settings import SpendingLimits
from poise.errors import ConflictError, NotFoundError
from poise.ports.stores import Repository
from poise.values.agents import Effort
from poise.values.spending import DaySpent


@attrs.frozen
class Spent:
    """US dollars spent on one turn, in its session, and on its day; the turn's own included."""

    turn: float = 0.0
    session: float = 0.0
    day: float = 0.0


@attrs.frozen
class Spending:
    """The limits of a turn, and what had been spent when it began.

    Attributes:
        limits: From settings.
        session: US dollars, by earlier turns of the session.
        day: US dollars, by all turns of the day that have ended.
    """

    limits: SpendingLimits
    session: float = 0.0
    day: float = 0.0

    def refusal(self, cost: float) -> str | None:
        """Return why a turn that has cost so much may ask no more of a model that costs."""
        return refusal(self.limits, self._spent(cost))

    def cap(self, cost: float) -> Effort | None:
        """Return the effort that a turn which has cost so much may have at most."""
        return cap(self.limits, self._spent(cost))

    def nearest(self, cost: float) -> str:
        """Return which limit is the nearest, and by how much, for people."""
        name, spent, limit = max(
            _sums(self.limits, self._spent(cost)), key=lambda each: _share(*each[1:])
        )
        return f"${spent:.4g} of the ${limit:.4g} for a {name} are spent"

    def _spent(self, cost: float) -> Spent:
        return Spent(cost, self.session + cost, self.day + cost)


def cap(limits: SpendingLimits, spent: Spent) -> Effort | None:
    """Return the highest effort that is allowed; `None` while any is.

    From `degrade_at` of a limit on it is LOW, from half of the way that is left on MIN. The
    strictest limit counts.
    """
    share = max((_share(sum_, limit) for _, sum_, limit in _sums(limits, spent)), default=0.0)
    if share >= (1.0 + limits.degrade_at) / 2:
        return Effort.MIN
    return Effort.LOW if share >= limits.degrade_at else None


def is_over(limits: SpendingLimits, spent: Spent) -> bool:
    """Say whether a limit is reached: only models that cost nothing may be asked."""
    return any(sum_ >= limit for _, sum_, limit in _sums(limits, spent))


def refusal(limits: SpendingLimits, spent: Spent) -> str | None:
    """Return which limit is reached, with the numbers and the mend; `None` if none is."""
    for name, sum_, limit in _sums(limits, spent):
        if sum_ >= limit:
            return (
                f"${sum_:.4g} are spent and the limit for a {name} is ${limit:.4g}; raise "
                f"spending.{name}, or route this use to a model that costs nothing"
            )
    return None


def _sums(limits: SpendingLimits, spent: Spent) -> Iterator[tuple[str, float, float]]:
    """Yield each limit that is set: its name, what is spent, and the limit."""
    if limits.turn is not None:
        yield "turn", spent.turn, limits.turn
    if limits.session is not None:
        yield "session", spent.session, limits.session
    if limits.day is not None:
        yield "day", spent.day, limits.day


def _share(spent: float, limit: float) -> float:
    return spent / limit if limit > 0 else 1.0


# -- the day's sum, over all sessions of a tenant --


def day_of(now: datetime) -> str:
    """Return the day that a moment counts to; the moment is in UTC."""
    return now.date().isoformat()


async def read_day(days: Repository[DaySpent], day: str) -> float:
    """Return the US dollars that a day has cost so far."""
    try:
        return (await days.get(day)).value.dollars
    except NotFoundError:
        return 0.0


async def add_to_day(days: Repository[DaySpent], day: str, dollars: float) -> None:
    """Add to a day's sum; of additions side by side, on whichever machine, none is lost."""
    while True:
        try:
            known = await days.get(day)
            before, version = known.value.dollars, known.version
        except NotFoundError:
            before, version = 0.0, 0
        try:
            await days.put(DaySpent(day, before + dollars), expected_version=version)
        except ConflictError:
            continue  # somebody else's addition went through: there are only so many of them
        return
