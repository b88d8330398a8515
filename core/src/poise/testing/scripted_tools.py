"""Tool ports that follow a script: functions by name, and arguments written as `name=value`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from poise.ports.tools import Extractor, ToolCaller, ToolService
from poise.turn.arguments import ArgumentError, validate_arguments
from poise.turn.context import TurnContext
from poise.turn.tooling import Fact, Field, Insight, OfferedTool, ToolPlan, call_key
from poise.values.catalog import Binding
from poise.values.events import Event
from poise.values.tools import ArgumentSource, Tool, ToolCall, ToolContext, ToolResult

Script = Callable[[ToolCall, ToolContext], Any]
"""Answers a call: a `ToolResult`, or its data."""


class ScriptedToolService(ToolService):
    """Answers calls from a script by the tool's name, else with the binding's own answer.

    Attributes:
        calls: Every call that was made, oldest first, with its context.
    """

    def __init__(
        self,
        script: Mapping[str, Script] | None = None,
        *,
        name: str = "functions",
        outcomes: Mapping[str, ToolResult] | None = None,
    ) -> None:
        self.name = name
        self._script = dict(script or {})
        self._outcomes = dict(outcomes or {})
        self.calls: list[tuple[ToolCall, ToolContext]] = []

    async def list_tools(self) -> Sequence[Tool]:
        return ()

    async def call(
        self, tool: Tool, call: ToolCall, context: ToolContext, binding: Binding | None
    ) -> ToolResult:
        self.calls.append((call, context))
        if tool.name in self._script:
            answer = self._script[tool.name](call, context)
        elif binding is not None:
            answer = binding(**call.arguments)
        else:
            raise LookupError(f"the script has no answer for tool {tool.name!r}")
        if hasattr(answer, "__await__"):
            answer = await answer
        return answer if isinstance(answer, ToolResult) else ToolResult(data=answer)

    async def reconcile(self, call: ToolCall) -> ToolResult | None:
        return self._outcomes.get(call.key)


class ScriptedExtractor(Extractor):
    """Reads what the newest messages say as `name=value`, the value as JSON or else as a text.

    A variable serves a parameter of its name. A value with two readings is left out.
    """

    async def extract(self, fields: Sequence[Field], turn: TurnContext) -> Sequence[Fact]:
        facts: dict[str, Fact] = {}
        for field in fields:
            fact = self._fact(field, turn)
            if fact is not None:
                facts.setdefault(field.parameter.name, fact)
        return tuple(facts.values())

    def _fact(self, field: Field, turn: TurnContext) -> Fact | None:
        parameter = field.parameter
        if parameter.source is not ArgumentSource.CONTEXT:
            for event in reversed(turn.history.messages):
                found = _said(parameter.name, event) if event.is_customer_message else []
                if found:
                    same = len({repr(value) for value, _ in found}) == 1
                    value, source = found[0]
                    return Fact(parameter.name, value, source, event.offset) if same else None
        if parameter.source is not ArgumentSource.CUSTOMER and parameter.name in turn.variables:
            source = f"variable {parameter.name}"
            return Fact(parameter.name, turn.variables[parameter.name], source)
        return None


def _said(name: str, event: Event) -> list[tuple[Any, str]]:
    found: list[tuple[Any, str]] = []
    for match in re.finditer(rf"(?<!\w){re.escape(name)}=([\w-]+)", event.text[:8_000]):
        try:
            found.append((json.loads(match[1]), match[1]))
        except ValueError:
            found.append((match[1], match[1]))
    return found


class ScriptedToolCaller(ToolCaller):
    """Calls each offered tool whose arguments an extractor finds, once a turn."""

    def __init__(self, extractor: Extractor | None = None) -> None:
        self._extractor = extractor or ScriptedExtractor()

    async def infer(self, tools: Sequence[OfferedTool], turn: TurnContext) -> ToolPlan:
        calls: list[ToolCall] = []
        already: dict[str, str] = {}
        insights: list[Insight] = []
        found: list[Fact] = []
        for offered in {each.tool.id: each for each in tools}.values():
            tool = offered.tool
            facts = await self._extractor.extract(
                [Field(each, tool.name) for each in tool.parameters], turn
            )
            found.extend(facts)
            values = {fact.field: fact.value for fact in facts}
            missing = tuple(
                each for each in tool.parameters if each.required and each.name not in values
            )
            if missing:
                insights.append(Insight(tool.name, missing=missing))
                continue
            try:
                arguments = validate_arguments(tool, values)
            except ArgumentError as exc:
                insights.append(Insight(tool.name, invalid=exc.problems))
                continue
            key = call_key(turn.session.id, turn.base, tool.name, arguments, 0)
            if any(outcome.call.key == key for outcome in turn.results):
                already[tool.name] = key
                continue
            sources = {name: "default" for name in arguments if name not in values}
            sources.update({fact.field: fact.source for fact in facts})
            calls.append(ToolCall(key, tool.id, arguments, sources=sources, why=offered.offered_by))
        return ToolPlan(tuple(calls), already, tuple(insights), tuple(found))
