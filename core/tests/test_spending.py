"""Limits on spending: what they allow, what they refuse, and sums that nobody's addition is lost
from."""

from __future__ import annotations

from datetime import UTC, datetime

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.engine.settings import SpendingLimits
from poise.engine.spending import (
    Spending,
    Spent,
    add_to_day,
    cap,
    day_of,
    is_over,
    read_day,
    refusal,
)
from poise.memory.repositories import MemoryRepository
from poise.ports.codecs import SPENDING
from poise.turn.state import fold
from poise.values.agents import Effort
from poise.values.events import Event, EventKind, Source
from poise.values.ids import EventId, SessionId, TurnId

DAY = "2026-12-01"


@pytest.mark.parametrize(
    ("spent", "expected"),
    [
        (0.0, None),
        (0.79, None),
        (0.80, Effort.LOW),
        (0.89, Effort.LOW),
        (0.90, Effort.MIN),
        (1.00, Effort.MIN),
        (5.00, Effort.MIN),
    ],
)
def test_effort_falls_step_by_step_towards_a_limit(spent: float, expected: Effort | None) -> None:
    assert cap(SpendingLimits(session=1.0), Spent(session=spent)) is expected


def test_the_strictest_limit_counts() -> None:
    limits = SpendingLimits(turn=1.0, session=10.0, day=100.0)

    assert cap(limits, Spent(turn=0.1, session=8.5, day=10.0)) is Effort.LOW
    assert cap(limits, Spent(turn=0.95, session=1.0, day=1.0)) is Effort.MIN


def test_without_limits_nothing_is_capped_or_refused() -> None:
    spent = Spent(1e6, 1e6, 1e6)

    assert cap(SpendingLimits(), spent) is None
    assert refusal(SpendingLimits(), spent) is None


def test_a_refusal_says_which_limit_with_the_numbers_and_the_mend() -> None:
    said = refusal(SpendingLimits(turn=1.0, day=20.0), Spent(turn=0.5, day=20.5))

    assert said == (
        "$20.5 are spent and the limit for a day is $20; raise spending.day, or route this use to "
        "a model that costs nothing"
    )


sums = st.floats(0, 1000, allow_nan=False)
limits_of = st.builds(
    SpendingLimits,
    turn=st.none() | sums,
    session=st.none() | sums,
    day=st.none() | sums,
    degrade_at=st.floats(0.01, 1.0),
)


def order(effort: Effort | None) -> int:
    return len(Effort) if effort is None else effort


@given(limits_of, sums, sums, sums, sums)
def test_who_has_spent_more_may_never_do_more(
    limits: SpendingLimits, turn: float, session: float, day: float, more: float
) -> None:
    before = Spent(turn, session, day)
    after = Spent(turn + more, session + more, day + more)

    assert order(cap(limits, after)) <= order(cap(limits, before))
    assert is_over(limits, after) >= is_over(limits, before)


@given(limits_of, sums, sums, sums)
def test_what_is_refused_was_brought_down_to_the_least_effort(
    limits: SpendingLimits, turn: float, session: float, day: float
) -> None:
    spent = Spent(turn, session, day)

    assert (refusal(limits, spent) is not None) == is_over(limits, spent)
    if is_over(limits, spent):
        assert cap(limits, spent) is Effort.MIN


def test_a_turns_own_cost_counts_in_all_three_sums() -> None:
    spending = Spending(SpendingLimits(turn=1.0, session=2.0, day=3.0), session=1.5, day=2.5)

    assert spending.refusal(0.4) is None
    assert "a session" in (spending.refusal(0.5) or "")


def test_a_day_is_a_date_in_utc() -> None:
    assert day_of(datetime(2026, 12, 1, 23, 59, tzinfo=UTC)) == DAY


@pytest.mark.anyio
async def test_of_additions_side_by_side_none_is_lost() -> None:
    days = MemoryRepository(SPENDING)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(add_to_day, days, DAY, 0.25)

    assert await read_day(days, DAY) == pytest.approx(12.5)
    assert await read_day(days, "2026-12-02") == 0.0


outcomes = st.sampled_from(["sent", "silent", "cancelled", "failed"])
costs = st.lists(st.none() | st.floats(0, 10), max_size=4)


@given(st.lists(st.tuples(outcomes, costs, costs), max_size=5), st.data())
def test_a_sessions_sum_counts_every_request_whatever_became_of_its_turn(
    turns: list[tuple[str, list[float | None], list[float | None]]], data: st.DataObject
) -> None:
    events = []
    for number, (outcome, asked, late) in enumerate(turns):
        for kind, said in (
            (EventKind.MATCH, {"outcome": outcome, "upto": 0, "requests": lines(asked)}),
            (EventKind.SETTLED, {"fulfilled": [], "requests": lines(late)}),
        ):
            events.append(event(len(events), kind, said, f"turn-{number}"))
    cut = data.draw(st.integers(0, len(events)))

    whole = fold(events)
    pieces = fold(events[cut:], fold(events[:cut]))

    expected = sum(cost or 0.0 for _, asked, late in turns for cost in (*asked, *late))
    assert whole.spent == pytest.approx(expected)
    assert pieces.spent == pytest.approx(whole.spent)


def lines(costs: list[float | None]) -> list[dict[str, object]]:
    return [{"route": "r", "model": "p:m", "items": 1, "cost": cost} for cost in costs]


def event(offset: int, kind: EventKind, data: dict[str, object], turn: str) -> Event:
    return Event(
        SessionId("s"),
        offset,
        EventId(f"e{offset}"),
        kind,
        Source.SYSTEM,
        "engine",
        TurnId(turn),
        datetime(2026, 12, 1, tzinfo=UTC),
        data,
    )
