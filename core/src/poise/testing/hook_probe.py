"""A plugin that stands at every turn hook, so that a test can act there or see who was called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs

from poise.hooks.markers import hookimpl
from poise.turn.context import TurnContext
from poise.turn.models import DecisionRequest
from poise.turn.speech import Message
from poise.turn.tooling import ToolOutcome
from poise.values.catalog import CatalogSnapshot
from poise.values.events import Event, NewEvent
from poise.values.rules import Rule
from poise.values.tools import ToolCall

Answer = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Takes what a hook was called with, by name, and returns what the hook is to return."""


@attrs.frozen(eq=False)
class Visit:
    """One call of one hook."""

    hook: str
    arguments: Mapping[str, Any]


class HookProbe:
    """Implements every turn hook: notes each call, and answers where a test has put an answer.

    Args:
        name: The plugin's name.
        answers: By hook, what to do there; `None` is returned elsewhere.

    Attributes:
        visits: Every call, oldest first.
        answers: May be changed while the application runs.
    """

    def __init__(self, name: str = "probe", answers: Mapping[str, Answer] | None = None) -> None:
        self.__name__ = name
        self.visits: list[Visit] = []
        self.answers: dict[str, Answer] = dict(answers or {})

    @property
    def hooks(self) -> Sequence[str]:
        """The names of the hooks that were called, oldest first."""
        return [visit.hook for visit in self.visits]

    def at(self, hook: str) -> Sequence[Mapping[str, Any]]:
        """Return the arguments of each call of `hook`, oldest first."""
        return [visit.arguments for visit in self.visits if visit.hook == hook]

    async def _visit(self, hook: str, **arguments: Any) -> Any:  # whatever the answer gives
        self.visits.append(Visit(hook, arguments))
        answer = self.answers.get(hook)
        return None if answer is None else await answer(arguments)

    @hookimpl
    async def on_event(self, event: NewEvent) -> Any:
        return await self._visit("on_event", event=event)

    @hookimpl
    async def on_acknowledging(self, turn: TurnContext) -> Any:
        return await self._visit("on_acknowledging", turn=turn)

    @hookimpl
    async def on_acknowledged(self, turn: TurnContext) -> Any:
        return await self._visit("on_acknowledged", turn=turn)

    @hookimpl
    async def on_preparing(self, turn: TurnContext) -> Any:
        return await self._visit("on_preparing", turn=turn)

    @hookimpl
    async def on_preparation_iteration_start(self, turn: TurnContext) -> Any:
        return await self._visit("on_preparation_iteration_start", turn=turn)

    @hookimpl
    async def on_preparation_iteration_end(self, turn: TurnContext) -> Any:
        return await self._visit("on_preparation_iteration_end", turn=turn)

    @hookimpl
    async def on_rule_selected(self, rule: Rule, turn: TurnContext) -> Any:
        return await self._visit("on_rule_selected", rule=rule, turn=turn)

    @hookimpl
    async def on_model_request(
        self, route: str, request: DecisionRequest, turn: TurnContext | None
    ) -> Any:
        return await self._visit("on_model_request", route=route, request=request, turn=turn)

    @hookimpl
    async def on_model_response(
        self,
        route: str,
        model: str,
        milliseconds: float,
        error: str | None,
        turn: TurnContext | None,
    ) -> Any:
        return await self._visit(
            "on_model_response",
            route=route,
            model=model,
            milliseconds=milliseconds,
            error=error,
            turn=turn,
        )

    @hookimpl
    async def on_tool_call(self, call: ToolCall, turn: TurnContext) -> Any:
        return await self._visit("on_tool_call", call=call, turn=turn)

    @hookimpl
    async def on_tool_result(self, outcome: ToolOutcome, turn: TurnContext) -> Any:
        return await self._visit("on_tool_result", outcome=outcome, turn=turn)

    @hookimpl
    async def on_generating_messages(self, turn: TurnContext) -> Any:
        return await self._visit("on_generating_messages", turn=turn)

    @hookimpl
    async def on_draft_generated(self, message: Message, turn: TurnContext) -> Any:
        return await self._visit("on_draft_generated", message=message, turn=turn)

    @hookimpl
    async def on_message_generated(self, message: Message, turn: TurnContext) -> Any:
        return await self._visit("on_message_generated", message=message, turn=turn)

    @hookimpl
    async def on_messages_emitted(self, messages: Sequence[Event], turn: TurnContext) -> Any:
        return await self._visit("on_messages_emitted", messages=messages, turn=turn)

    @hookimpl
    async def on_rule_message(self, rule: Rule, turn: TurnContext) -> Any:
        return await self._visit("on_rule_message", rule=rule, turn=turn)

    @hookimpl
    async def on_error(self, error: Exception, turn: TurnContext | None) -> Any:
        return await self._visit("on_error", error=error, turn=turn)

    @hookimpl
    async def on_catalog_changed(self, catalog: CatalogSnapshot) -> Any:
        return await self._visit("on_catalog_changed", catalog=catalog)
