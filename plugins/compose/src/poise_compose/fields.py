"""Where the fields of a template come from: the one place that looks them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import Any

import attrs

from poise.turn.context import TurnContext
from poise.values.events import ToolStage
from poise_compose.plain import Plain, Writing, listed, plain


class Origin(Enum):
    """Where a value was found."""

    STANDARD = "standard"
    RESULT = "result"
    HOOK = "hook"
    EARLIER = "earlier"
    VARIABLE = "variable"


@attrs.frozen
class Found:
    """A field's value in plain form, and where it comes from."""

    value: Plain
    origin: Origin


class Fields:
    """The fields of one turn.

    `std.` names the customer, the agent, variables and the arguments that tools still miss.
    `generic.` is for a language model, so here it has no value. Any other name is looked up in
    this turn's tool results with the arguments they were asked for (newest first), what hooks
    contributed, those of earlier turns (newest first) and variables; a dotted name walks records
    and nothing else. A value is missing when it is absent, `None`, or has no plain form; zero,
    false and empty are values.

    An earlier result of a tool that this turn tried in vain is not read: the reply would state as
    done, or as current, what was neither.
    """

    def __init__(
        self,
        turn: TurnContext,
        writing: Writing,
        *,
        missing: Sequence[str] = (),
        invalid: Sequence[str] = (),
    ) -> None:
        self.writing = writing
        self._turn = turn
        self._missing = tuple(missing)
        self._invalid = tuple(invalid)
        self._seen: dict[str, Found | None] = {}

    def asking_for(self, missing: Sequence[str], invalid: Sequence[str]) -> Fields:
        """Return the same fields with other names for what is missing and what was refused."""
        return Fields(self._turn, self.writing, missing=missing, invalid=invalid)

    def find(self, path: str) -> Found | None:
        """Return the value of the field `path`, or `None` where it is missing."""
        if path not in self._seen:
            self._seen[path] = self._find(path)
        return self._seen[path]

    def _find(self, path: str) -> Found | None:
        names = path.split(".")
        if any(not name or name.startswith("_") for name in names) or names[0] == "generic":
            return None
        if names[0] == "std":
            return self._found(self._standard(names[1:]), Origin.STANDARD)
        for origin, record in self._records:
            found = self._found(_walk(record, names), origin)
            if found is not None:
                return found
        return None

    def _found(self, value: object, origin: Origin) -> Found | None:
        made = plain(value, self.writing)
        return None if made is None else Found(made, origin)

    def _standard(self, names: Sequence[str]) -> Any:  # whatever a variable holds
        match names:
            case ["customer", "name"]:
                return self._turn.customer.name
            case ["agent", "name"]:
                return self._turn.agent.name
            case ["variables", *rest] if rest:
                return _walk(self._turn.variables, rest)
            case ["missing_params"] if self._missing:
                return listed(self._missing, self.writing.conjunction)
            case ["invalid_params"] if self._invalid:
                return listed(self._invalid, self.writing.conjunction)
            case _:
                return None

    @cached_property
    def _records(self) -> tuple[tuple[Origin, Mapping[str, Any]], ...]:
        return (
            *((Origin.RESULT, record) for record in _this_turn(self._turn)),
            (Origin.HOOK, self._turn.fields),
            *((Origin.EARLIER, record) for record in _earlier_turns(self._turn)),
            (Origin.VARIABLE, self._turn.variables),
        )


def _this_turn(turn: TurnContext) -> Iterator[Mapping[str, Any]]:
    for outcome in reversed(turn.results):
        if outcome.succeeded and outcome.result is not None:
            yield outcome.result.fields
            if isinstance(outcome.result.data, Mapping):
                yield outcome.result.data
            yield outcome.call.arguments
    # What the tool caller calls already known answers this turn as well as a fresh result.
    for key in turn.tool_plan.already.values():
        call = turn.state.calls.get(key)
        if call is not None and call.error is None:
            yield call.fields
            if isinstance(call.data, Mapping):
                yield call.data
            yield call.arguments


def _earlier_turns(turn: TurnContext) -> Iterator[Mapping[str, Any]]:
    in_vain = {insight.tool for insight in turn.insights}
    for outcome in turn.results:
        if not outcome.succeeded:
            in_vain.update((outcome.tool, outcome.call.tool))
    for call in sorted(turn.state.calls.values(), key=lambda each: -each.offset):
        tried = call.tool in in_vain
        if call.stage == ToolStage.FINISHED.value and call.error is None and not tried:
            yield call.fields
            if isinstance(call.data, Mapping):
                yield call.data
            yield call.arguments


def _walk(record: object, names: Sequence[str]) -> Any:  # whatever stands there
    for name in names:
        if not isinstance(record, Mapping) or name not in record:
            return None
        record = record[name]
    return record
