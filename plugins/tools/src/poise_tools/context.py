"""Values that the conversation's context holds: variables, the customer's record, results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from poise.errors import InvalidValueError
from poise.turn.arguments import validate_arguments
from poise.turn.context import TurnContext
from poise.turn.tooling import Fact
from poise.values.events import ToolStage
from poise.values.ids import GUEST, AgentId, ToolId
from poise.values.tools import Parameter, Tool

_LOOKED_AT = 2_000  # places in one result
_ABSENT = object()


def fitting(parameter: Parameter, value: Any) -> tuple[Any] | None:  # any JSON
    """Return the value as the parameter takes it, alone in a tuple, or `None` if it does not."""
    # The name is no part of the check, and one name lets parameters of a kind share a model.
    alone = attrs.evolve(parameter, name="value", description="", question=None, required=True)
    probe = Tool(ToolId("probe"), AgentId("probe"), "probe", "probe", parameters=(alone,))
    try:
        return (validate_arguments(probe, {"value": value})["value"],)
    except InvalidValueError:
        return None


def known_facts(parameter: Parameter, turn: TurnContext) -> Iterator[Fact]:
    """Yield what the context holds under the parameter's name, the most pertinent first.

    This turn's results, newest first; the customer's variables; the customer's record; results of
    earlier turns, newest first. A result that holds the name with two values says nothing.
    """
    for value, source, offset in _named(parameter.name, turn):
        found = fitting(parameter, value)
        if found is not None:
            yield Fact(parameter.name, found[0], source, offset)


def _named(name: str, turn: TurnContext) -> Iterator[tuple[Any, str, int | None]]:
    for outcome in reversed(turn.results):
        if outcome.result is not None and outcome.succeeded:
            value = _in_result(name, outcome.result.fields, outcome.result.data)
            if value is not _ABSENT:
                yield value, f"result of {outcome.tool}", outcome.offset
    if name in turn.variables:
        yield turn.variables[name], f"variable {name}", None
    yield from _in_record(name, turn)
    finished = [
        call
        for call in turn.state.calls.values()
        if call.stage == ToolStage.FINISHED.value and call.error is None
    ]
    for call in sorted(finished, key=lambda each: each.offset, reverse=True):
        value = _in_result(name, call.fields, call.data)
        if value is not _ABSENT:
            yield value, f"result of {call.tool}", call.offset


def _in_record(name: str, turn: TurnContext) -> Iterator[tuple[Any, str, int | None]]:
    customer = turn.customer
    if name in customer.metadata:
        yield customer.metadata[name], f"customer record {name}", None
    if customer.id != GUEST and name == "customer_id":
        yield str(customer.id), "customer record id", None
    if customer.id != GUEST and name == "customer_name":
        yield customer.name, "customer record name", None


def _in_result(name: str, fields: Mapping[str, Any], data: Any) -> Any:  # any JSON
    if name in fields:
        return fields[name]
    if isinstance(data, Mapping) and name in data:
        return data[name]
    found: list[Any] = []
    waiting, looked_at = [data], 0
    while waiting and looked_at < _LOOKED_AT:
        each = waiting.pop()
        looked_at += 1
        if isinstance(each, Mapping):
            if name in each and each[name] not in found:
                found.append(each[name])
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            waiting.extend(each)
    return found[0] if len(found) == 1 and not waiting else _ABSENT
