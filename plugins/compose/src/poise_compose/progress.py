"""Where the tools of a rule stand on this turn: done, waiting for an argument, failed, or idle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

import attrs

from poise.turn.context import TurnContext
from poise.turn.tooling import Insight
from poise.values.rules import Rule
from poise.values.tools import Parameter, Tool


class Progress(Enum):
    """What a rule's tools have come to.

    WAITING and FAILED mean that what the rule's wording may report as done has not been done.
    """

    IDLE = "idle"
    DONE = "done"
    WAITING = "waiting"
    FAILED = "failed"


@attrs.frozen
class Asked:
    """Arguments that the customer must give before a tool can run.

    Attributes:
        missing: Not given yet.
        invalid: Given and refused.
    """

    missing: tuple[Parameter, ...] = ()
    invalid: tuple[Parameter, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.invalid)


class ToolProgress:
    """What became of this turn's tools, by the rule that offers them."""

    def __init__(self, turn: TurnContext) -> None:
        # As described for this customer where the turn has that, else as declared.
        self._tools = {
            **turn.snapshot.tools,
            **{offered.tool.id: offered.tool for offered in turn.offered},
        }
        self._succeeded = {outcome.call.tool for outcome in turn.results if outcome.succeeded}
        self._tried = {outcome.call.tool for outcome in turn.results}
        self._already = frozenset(turn.tool_plan.already)
        self._insights = {insight.tool: insight for insight in turn.insights}

    def of(self, rule: Rule) -> Progress:
        """Return where the tools of `rule` stand.

        A tool that changes the world decides over one that only looks something up: while it waits
        or has failed, nothing that the others returned makes the rule done.
        """
        tools = self._tools_of(rule)
        for group in ([tool for tool in tools if tool.consequential], tools):
            states = {self._of_tool(tool) for tool in group}
            for state in (Progress.DONE, Progress.WAITING, Progress.FAILED):
                if state in states:
                    return state
        return Progress.IDLE

    def asked(self, rule: Rule) -> Asked:
        """Return the arguments that the tools of `rule` wait for, each once, by tool."""
        missing: dict[str, Parameter] = {}
        invalid: dict[str, Parameter] = {}
        for tool in self._tools_of(rule):
            insight = self._insights.get(tool.name)
            if insight is not None and not self._has_succeeded(tool):
                missing.update((each.name, each) for each in insight.missing)
                invalid.update((each.name, each) for each in _refused(insight, tool))
        for name in missing:
            invalid.pop(name, None)
        return Asked(tuple(missing.values()), tuple(invalid.values()))

    def _tools_of(self, rule: Rule) -> Sequence[Tool]:
        return [self._tools[tool] for tool in rule.tools if tool in self._tools]

    def _has_succeeded(self, tool: Tool) -> bool:
        return tool.id in self._succeeded or tool.name in self._already

    def _of_tool(self, tool: Tool) -> Progress:
        if self._has_succeeded(tool):
            return Progress.DONE
        insight = self._insights.get(tool.name)
        if insight is not None and (insight.missing or insight.invalid):
            return Progress.WAITING
        if insight is not None or tool.id in self._tried:
            return Progress.FAILED
        return Progress.IDLE


def _refused(insight: Insight, tool: Tool) -> Iterable[Parameter]:
    return (each for each in tool.parameters if each.name in insight.invalid)
