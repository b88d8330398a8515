"""The service `functions`: authors' code gets Python values and gives JSON."""

from __future__ import annotations

import datetime as dt
import functools
import threading
from decimal import Decimal
from enum import Enum

import anyio
import attrs
import pytest

from poise.engine.gate import ToolGate
from poise.errors import InvalidValueError
from poise.sdk.tool import tool
from poise.testing.clock import FrozenClock
from poise.testing.tools import call_of, context_of, offered
from poise.testing.turns import AGENT, catalog_of, turn_of
from poise.values.tools import ToolContext, ToolResult
from poise_tools import FunctionToolService, ToolSettings

pytestmark = pytest.mark.anyio


class Plan(Enum):
    GOLD = "gold"
    SILVER = "silver"


@attrs.frozen
class Trip:
    day: dt.date
    price: Decimal = Decimal("9.5")


@pytest.fixture
def service():
    return FunctionToolService(ToolSettings())


async def run(service, declared, **arguments):
    neutral = declared.tool_of(AGENT.id)
    return await service.call(neutral, call_of(neutral, **arguments), context_of(), declared)


@tool
async def book(context: ToolContext, trip: Trip, plan: Plan = Plan.GOLD) -> ToolResult:
    return ToolResult(
        data={"trip": trip, "plan": plan, "for": context.customer},
        fields={"price": trip.price, "day": trip.day},
    )


@tool
def where_am_i() -> str:
    return threading.current_thread().name


async def test_function_gets_its_own_types_and_gives_json(service):
    result = await run(service, book, trip={"day": "2026-03-05", "price": 12.25}, plan="silver")

    assert result.data == {
        "trip": {"day": "2026-03-05", "price": 12.25},
        "plan": "silver",
        "for": "guest",
    }
    assert dict(result.fields) == {"price": 12.25, "day": "2026-03-05"}


async def test_sync_function_runs_in_a_worker_thread(service):
    result = await run(service, where_am_i)

    assert result.data != threading.current_thread().name


async def test_plain_value_and_nothing_are_results(service):
    @tool
    async def nothing() -> None: ...

    assert await run(service, nothing) == ToolResult()


async def test_decorated_function_runs_with_its_decoration(service):
    def shouting(function):
        @functools.wraps(function)
        async def shout(*args, **kwargs):
            return (await function(*args, **kwargs)).upper()

        return shout

    @tool
    @shouting
    async def greet(name: str) -> str:
        return f"hello {name}"

    assert (await run(service, greet, name="ada")).data == "HELLO ADA"


async def test_tool_without_its_function_is_an_error_with_the_mend(service):
    neutral = where_am_i.tool_of(AGENT.id)

    with pytest.raises(InvalidValueError, match="declare it with @poise"):
        await service.call(neutral, call_of(neutral), context_of(), None)


async def test_sync_function_that_never_returns_holds_up_nobody(service):
    let_go = threading.Event()

    @tool(timeout=0.01)
    def hang() -> None:
        let_go.wait()

    neutral = hang.tool_of(AGENT.id)
    snapshot = catalog_of(tools=[neutral], bindings={neutral.id: hang.function})
    turn = turn_of(snapshot, "hello", offered=(offered(neutral),))

    async def agreed(call, turn):
        return None

    gate = ToolGate({"functions": service}, authorize=agreed, clock=FrozenClock())

    outcome = await gate.call(call_of(neutral), turn)
    let_go.set()

    assert outcome.is_unknown
    assert outcome.error == "tool 'hang': unknown outcome after 0.01 s"


async def test_calls_side_by_side_do_not_wait_for_each_other(service):
    both = threading.Barrier(2, timeout=5)

    @tool
    def meet() -> int:
        return both.wait()

    met: list[int] = []

    async def call():
        met.append((await run(service, meet)).data)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        group.start_soon(call)

    assert sorted(met) == [0, 1]
