"""The extractor `patterns`: reads arguments off the conversation by their form, never guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import anyio.to_thread

from poise import Extractor
from poise.turn.context import StashKey, TurnContext
from poise.turn.tooling import Fact, Field
from poise.values.events import ToolStage
from poise.values.tools import ArgumentSource, Parameter, ParameterKind
from poise_tools.answers import answer
from poise_tools.claims import Assignment, Claim, Wanted, assign
from poise_tools.context import fitting, known_facts
from poise_tools.conversation import Exchange, asked, exchanges
from poise_tools.reading import PassageReader
from poise_tools.settings import ToolSettings

_AT_ONCE = 4_000  # characters; reading more takes a worker thread, so that nobody waits for it
_READER = StashKey("poise_tools.reader", PassageReader)
_FINISHED = ToolStage.FINISHED.value
_IN_DOUBT = frozenset({ToolStage.STARTED.value, ToolStage.UNKNOWN.value})


class PatternExtractor(Extractor):
    """Finds values in what the customer said, then in variables, records and results.

    Unanswered messages come first, then earlier ones, newest first; the newest exchange that
    speaks of a parameter decides about it, and leaves it out where two readings compete. For a
    consequential tool, what was said before its last call has been dealt with and is not read.
    """

    def __init__(self, settings: ToolSettings) -> None:
        self._zone: tzinfo = UTC if settings.timezone == "UTC" else ZoneInfo(settings.timezone)

    async def extract(self, fields: Sequence[Field], turn: TurnContext) -> Sequence[Fact]:
        if sum(len(event.text) for event in turn.history.messages) > _AT_ONCE:
            return await anyio.to_thread.run_sync(self._extract, fields, turn)
        return self._extract(fields, turn)

    def _extract(self, fields: Sequence[Field], turn: TurnContext) -> Sequence[Fact]:
        facts: dict[str, Fact] = {}
        for tool in dict.fromkeys(field.tool for field in fields):
            parameters = [
                field.parameter
                for field in fields
                if field.tool == tool and field.parameter.name not in facts
            ]
            facts.update(self._read(tool, parameters, turn))
        return tuple(facts.values())

    def _read(
        self, tool: str, parameters: Sequence[Parameter], turn: TurnContext
    ) -> Mapping[str, Fact]:
        said, competing = self._said(tool, parameters, turn)
        facts: dict[str, Fact] = {}
        for parameter in parameters:
            if parameter.name in said:
                facts[parameter.name] = said[parameter.name]
            elif parameter.source is not ArgumentSource.CUSTOMER and (
                parameter.name not in competing
            ):
                known = next(known_facts(parameter, turn), None)
                if known is not None:
                    facts[parameter.name] = known
        return facts

    def _said(
        self, tool: str, parameters: Sequence[Parameter], turn: TurnContext
    ) -> tuple[Mapping[str, Fact], frozenset[str]]:
        """Return what the customer's words give, and what they speak of without settling it."""
        wanted = [each for each in parameters if each.source is not ArgumentSource.CONTEXT]
        facts: dict[str, Fact] = {}
        competing: set[str] = set()
        reader = self._reader(turn)
        is_linked = True
        for exchange in exchanges(turn, since=_dealt_with(tool, turn)):
            names = asked(wanted, exchange)
            missing = [
                each for each in wanted if each.name not in facts and each.name not in competing
            ]
            if not missing:
                break
            assignment = _assigned(missing, exchange, names, reader=reader, is_linked=is_linked)
            for parameter in missing:
                claims = assignment.taken.get(parameter.name, ())
                fact = _fact(parameter, claims, exchange) if claims else None
                if fact is not None:
                    facts[parameter.name] = fact
                elif claims:
                    competing.add(parameter.name)  # what was said does not fit it
            competing |= assignment.open
            # What came before a question about this tool belongs to the same request.
            is_linked = is_linked and bool(names)
        return facts, frozenset(competing)

    def _reader(self, turn: TurnContext) -> PassageReader:
        reader = turn.stash.get(_READER)
        if reader is None:
            now = turn.now.astimezone(self._zone)
            reader = PassageReader(now, turn.snapshot.terms.values())
            turn.stash.put(_READER, reader)
        return reader


def _dealt_with(tool: str, turn: TurnContext) -> int:
    """Return the offset from which messages may still ask something of `tool`."""
    known = turn.snapshot.tool_named(tool)
    if known is None or not known.consequential:
        return 0
    done = [
        call.offset
        for call in turn.state.calls.values()
        if call.tool == tool
        and call.offset < turn.base  # a call of this very turn does not answer its own request
        and (call.stage in _IN_DOUBT or (call.stage == _FINISHED and call.error is None))
    ]
    return max(done, default=0)


def _assigned(
    parameters: Sequence[Parameter],
    exchange: Exchange,
    names: frozenset[str],
    *,
    reader: PassageReader,
    is_linked: bool,
) -> Assignment:
    wanted: list[Wanted] = []
    for parameter in parameters:
        whole = answer(parameter, exchange, names)
        readings = (
            ((whole,),)
            if whole is not None
            else tuple(reader.read(passage, parameter) for passage in exchange.passages)
        )
        wanted.append(Wanted(parameter, readings, is_asked=parameter.name in names))
    return assign(wanted, exchange.passages, is_linked=is_linked)


def _fact(parameter: Parameter, claims: Sequence[Claim], exchange: Exchange) -> Fact | None:
    passage = exchange.passages[claims[0].place]
    if any(claim.place != claims[0].place for claim in claims):
        return None  # the elements of a list stand in several messages: no one text says it
    start = min(claim.reading.start for claim in claims)
    end = max(claim.reading.end for claim in claims)
    values = list(dict.fromkeys(claim.reading.value for claim in claims))
    found = fitting(parameter, values if parameter.kind is ParameterKind.LIST else values[0])
    if found is None:
        return None
    return Fact(parameter.name, found[0], passage.said[start:end], passage.offset)
