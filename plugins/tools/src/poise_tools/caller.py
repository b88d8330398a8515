"""The tool caller `default`: calls what it can without guessing, says what is missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from poise import Extractor, ToolCaller
from poise.turn.arguments import ArgumentError, validate_arguments
from poise.turn.context import TurnContext
from poise.turn.state import RecordedCall
from poise.turn.tooling import Fact, Field, Insight, OfferedTool, ToolPlan, call_key
from poise.values.events import ToolStage
from poise.values.tools import ArgumentSource, Parameter, Tool, ToolCall
from poise_tools.complaints import complaints
from poise_tools.settings import ToolSettings

_ANEW = re.compile(r"\b(?:again|another|once more|one more|a second time|repeat)\b", re.IGNORECASE)
_LOOKING_BACK = re.compile(
    r"^\W*(?:did|have|has|had|was|were|is|are|when|where|why|how|what)\b", re.IGNORECASE
)


@attrs.frozen
class _Decision:
    """What becomes of one tool: a call, a result at hand, or an insight."""

    call: ToolCall | None = None
    already: str | None = None
    insight: Insight | None = None


class ReadingToolCaller(ToolCaller):
    """Fills each offered tool's arguments with what an extractor reads, and decides.

    A turn never makes one call twice. A look-up of an earlier turn with the same arguments serves
    while it is fresh and nothing was changed since. A consequential call that was made before is
    made again only when the customer asks anew.
    """

    def __init__(self, extractor: Extractor, settings: ToolSettings) -> None:
        self._extractor = extractor
        self._settings = settings

    async def infer(self, tools: Sequence[OfferedTool], turn: TurnContext) -> ToolPlan:
        calls: list[ToolCall] = []
        already: dict[str, str] = {}
        insights: list[Insight] = []
        found: list[Fact] = []
        for offered in _merged(tools):
            fields = [Field(each, offered.tool.name) for each in offered.tool.parameters]
            facts = await self._extractor.extract(fields, turn) if fields else ()
            found.extend(facts)
            decision = self._decide(offered, facts, turn)
            if decision.call is not None:
                calls.append(decision.call)
            if decision.already is not None:
                already[offered.tool.name] = decision.already
            if decision.insight is not None:
                insights.append(decision.insight)
        return ToolPlan(tuple(calls), already, tuple(insights), tuple(found))

    def _decide(self, offered: OfferedTool, facts: Sequence[Fact], turn: TurnContext) -> _Decision:
        tool = offered.tool
        values = {fact.field: fact.value for fact in facts}
        absent = [each for each in tool.parameters if each.required and each.name not in values]
        if absent:
            return _Decision(insight=_insight(tool, absent, turn))
        try:
            arguments = validate_arguments(tool, values)
        except ArgumentError as exc:
            return _Decision(insight=_refused(tool, exc.problems))
        key = call_key(turn.session.id, turn.base, tool.name, arguments, 0)
        call = ToolCall(
            key,
            tool.id,
            arguments,
            sources=_sources(tool, facts),
            why=offered.offered_by,
        )
        return self._made_before(tool, call, facts, turn) or _Decision(call=call)

    def _made_before(
        self, tool: Tool, call: ToolCall, facts: Sequence[Fact], turn: TurnContext
    ) -> _Decision | None:
        """Return what to do instead of a call that was made before, or `None` to make it."""
        for outcome in turn.results:
            same = outcome.tool == tool.name and outcome.call.arguments == call.arguments
            if outcome.call.key == call.key or (same and outcome.refusal is None):
                # What failed is not made again on this turn, and is no result either.
                return _Decision(already=outcome.call.key if outcome.succeeded else None)
        if call.key in turn.state.calls:
            return None  # this very turn, started again: the gate answers from the log
        earlier = [
            (key, known)
            for key, known in turn.state.calls.items()
            if known.tool == tool.name
            and known.arguments == call.arguments
            and known.stage != ToolStage.REFUSED.value
        ]
        if not earlier:
            return None
        key, known = max(earlier, key=lambda pair: pair[1].offset)
        if tool.consequential:
            return None if _asked_anew(facts, turn) else _not_again(tool, key, known)
        is_usable = known.stage == ToolStage.FINISHED.value and known.error is None
        return _Decision(already=key) if is_usable and self._is_fresh(known, turn) else None

    def _is_fresh(self, known: RecordedCall, turn: TurnContext) -> bool:
        made = next(
            (event.at for event in turn.history.events if event.offset == known.offset), None
        )
        if made is None or (turn.now - made).total_seconds() > self._settings.freshness:
            return False
        changing = {each.name for each in turn.snapshot.tools.values() if each.consequential}
        return not any(
            call.tool in changing and call.offset > known.offset
            for call in turn.state.calls.values()
            if call.stage != ToolStage.REFUSED.value
        )


def _merged(tools: Sequence[OfferedTool]) -> Sequence[OfferedTool]:
    """Return each tool once, with every rule that offers it."""
    merged: dict[str, OfferedTool] = {}
    for offered in tools:
        known = merged.get(offered.tool.id)
        rules = (*(known.offered_by if known else ()), *offered.offered_by)
        merged[offered.tool.id] = OfferedTool(offered.tool, tuple(dict.fromkeys(rules)))
    return tuple(merged.values())


def _sources(tool: Tool, facts: Sequence[Fact]) -> Mapping[str, str]:
    """Return where each argument stands; what nobody gave is a default."""
    sources = {each.name: "default" for each in tool.parameters if not each.required}
    for fact in facts:
        place = "" if fact.offset is None else f" (event {fact.offset})"
        sources[fact.field] = f"{fact.source}{place}"
    return sources


# -- why not --


def _insight(tool: Tool, absent: Sequence[Parameter], turn: TurnContext) -> Insight:
    """Return what to ask for: the first group by precedence, and why an answer did not count."""
    askable = [each for each in absent if each.source is not ArgumentSource.CONTEXT]
    first = min((each.precedence for each in askable), default=0)
    unknown = [each.name for each in absent if each.source is ArgumentSource.CONTEXT]
    return Insight(
        tool.name,
        missing=tuple(each for each in askable if each.precedence == first),
        invalid=complaints(askable, turn),
        note=f"nothing that is known of the customer gives {', '.join(unknown)}" if unknown else "",
    )


def _refused(tool: Tool, problems: Mapping[str, str]) -> Insight:
    named = {path.partition(".")[0] for path in problems}
    wrong = [
        each
        for each in tool.parameters
        if each.name in named and each.source is not ArgumentSource.CONTEXT
    ]
    first = min((each.precedence for each in wrong), default=0)
    return Insight(
        tool.name,
        missing=tuple(each for each in wrong if each.precedence == first),
        invalid=dict(problems),
    )


def _not_again(tool: Tool, key: str, known: RecordedCall) -> _Decision:
    if known.stage == ToolStage.FINISHED.value and known.error is None:
        return _Decision(already=key)
    note = (
        f"an earlier attempt with the same values came to nothing that is known "
        f"({known.error or 'no answer'}); it is made again when the customer asks for it again"
    )
    return _Decision(insight=Insight(tool.name, note=note))


def _asked_anew(facts: Sequence[Fact], turn: TurnContext) -> bool:
    """Say whether unanswered words give an argument and don't merely ask about what was done."""
    new: dict[int, Any] = {
        event.offset: event.text
        for event in turn.history.events
        if event.is_customer_message and event.offset >= turn.base
    }
    if any(_ANEW.search(text) for text in new.values()):
        return True
    return any(fact.offset in new and not _LOOKING_BACK.match(new[fact.offset]) for fact in facts)
