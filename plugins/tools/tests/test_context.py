"""The extractor over what is known beside the conversation: results, variables, records."""

from __future__ import annotations

import pytest

from poise.testing.tools import tool_named
from poise.testing.turns import catalog_of, turn_of
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import Field, ToolOutcome
from poise.values.customers import Customer
from poise.values.ids import CustomerId
from poise.values.tools import (
    ArgumentSource,
    Parameter,
    ParameterKind,
    ToolCall,
    ToolResult,
)
from poise_tools import PatternExtractor, ToolSettings

pytestmark = pytest.mark.anyio

KIND = ParameterKind
DATE = Parameter("date", KIND.DATE)
ORDER = Parameter("order_id", KIND.STRING, pattern=r"ORD-\d{3,}")


async def facts_of(parameters, *said, tools=(), terms=(), settings=None, tool="pay", **turn):
    snapshot = catalog_of(tools=tools, terms=terms)
    found = await PatternExtractor(settings or ToolSettings()).extract(
        [Field(each, tool) for each in parameters], turn_of(snapshot, *said, **turn)
    )
    return {fact.field: fact for fact in found}


async def read(parameters, *said, **turn):
    found = await facts_of(parameters, *said, **turn)
    return {name: fact.value for name, fact in found.items()}


async def test_results_and_records_serve_by_name():
    call = ToolCall("k", tool_named("find").id, {})
    now = ToolOutcome(call, "find", result=ToolResult(data={"order_id": "ORD-999"}), offset=4)
    before = RecordedCall("find", "finished", 2, data={"orders": [{"order_id": "ORD-777"}]})
    customer = Customer(CustomerId("c1"), "Ada", metadata={"order_id": "ORD-555"})
    state = SessionState(calls={"k": before})

    fresh = await facts_of([ORDER], "where?", results=(now,), state=state, customer=customer)
    record = await facts_of([ORDER], "where?", state=state, customer=customer)
    earlier = await facts_of([ORDER], "where?", state=state)

    assert (fresh["order_id"].value, fresh["order_id"].source) == ("ORD-999", "result of find")
    assert (record["order_id"].value, record["order_id"].source) == (
        "ORD-555",
        "customer record order_id",
    )
    assert (earlier["order_id"].value, earlier["order_id"].offset) == ("ORD-777", 2)


async def test_result_with_two_values_says_nothing():
    data = [{"order_id": "ORD-111"}, {"order_id": "ORD-222"}]
    state = SessionState(calls={"k": RecordedCall("find", "finished", 2, data=data)})

    assert await read([ORDER], "where?", state=state) == {}


async def test_customers_words_win_over_a_variable():
    assert await read([ORDER], "ORD-123", variables={"order_id": "ORD-999"}) == {
        "order_id": "ORD-123"
    }


async def test_competing_words_are_not_settled_by_a_variable():
    said = "ORD-123 or ORD-456"

    assert await read([ORDER], said, variables={"order_id": "ORD-999"}) == {}


async def test_variable_that_does_not_fit_is_left_out():
    assert await read([ORDER], "where?", variables={"order_id": 5}) == {}


async def test_record_comes_from_context_alone():
    city = Parameter("city", KIND.STRING)
    address = Parameter("address", KIND.RECORD, fields=(city,))

    assert await read([address], "Graz", variables={"address": {"city": "Graz"}}) == {
        "address": {"city": "Graz"}
    }
    assert await read([address], "my city is Graz") == {}


async def test_context_parameter_is_never_read_from_words():
    tier = Parameter("tier", KIND.STRING, choices=("gold",), source=ArgumentSource.CONTEXT)

    assert await read([tier], "I am gold") == {}
    assert await read([tier], "hello", variables={"tier": "gold"}) == {"tier": "gold"}
