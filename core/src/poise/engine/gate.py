"""The gate: the one way from a turn to a tool, and what it takes to get through."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import attrs

from poise.engine.spans import SESSION_ID, TOOL, TOOL_KEY, TOOL_NAME, TOOL_OUTCOME, TURN_ID
from poise.errors import InvalidValueError
from poise.hooks.tracing import span
from poise.ports.tools import ToolService
from poise.turn.arguments import validate_arguments
from poise.turn.context import TurnContext
from poise.turn.control import Bail
from poise.turn.state import RecordedCall
from poise.turn.tooling import ToolOutcome
from poise.values.clock import Clock
from poise.values.events import ToolStage
from poise.values.tools import Tool, ToolCall, ToolContext, ToolResult

logger = logging.getLogger(__name__)

Authorize = Callable[[ToolCall, TurnContext], Awaitable[ToolCall | Bail | None]]
"""What folds `on_tool_call`: another call, a `Bail` to refuse, or `None` to go on."""

_IN_DOUBT = frozenset({ToolStage.STARTED.value, ToolStage.UNKNOWN.value})


class ToolGate:
    """Checks, runs and bounds tool calls; whatever happens, the answer is an outcome.

    Args:
        services: By name, what runs tools.
        authorize: Asked about every call that is let through; an exception refuses the call.
        clock: Measures how long calls take.
        timeout: Seconds for a tool that names no timeout of its own.
        result_limit: How many characters of JSON a result may have.
    """

    def __init__(
        self,
        services: Mapping[str, ToolService],
        *,
        authorize: Authorize,
        clock: Clock,
        timeout: float = 30.0,
        result_limit: int = 8_000_000,
    ) -> None:
        self._services = services
        self._authorize = authorize
        self._clock = clock
        self._timeout = timeout
        self._result_limit = result_limit

    async def describe(self, tool: Tool, turn: TurnContext) -> Tool:
        """Return a tool as its service describes it for this customer.

        Raises:
            Exception: Whatever the service raises; the caller goes on with the tool as declared.
        """
        service = self._services.get(tool.service)
        if service is None:
            return tool
        with anyio.fail_after(self._timeout):
            return await service.describe(tool, _context(turn, ""))

    async def call(self, call: ToolCall, turn: TurnContext) -> ToolOutcome:
        """Return what came of `call`; never raises.

        A call whose key has finished in this session is answered from the log. One whose outcome
        was lost is reconciled with its service, and a consequential one is not made again. Once
        started, a call is shielded from the turn's cancellation and ends by its own deadline.
        """
        checked = self._admit(call, turn)
        if isinstance(checked, ToolOutcome):
            return checked
        tool, call = checked
        recorded = turn.state.calls.get(call.key)
        if recorded is not None and recorded.stage == ToolStage.FINISHED.value:
            return _reused(call, tool, recorded)
        if recorded is not None and recorded.stage in _IN_DOUBT:
            settled = await self._reconcile(call, tool, recorded)
            if settled is not None:
                return settled
        try:
            with anyio.fail_after(self._timeout):
                answer = await self._authorize(call, turn)
        except TimeoutError:
            reason = f"could not be authorised: no answer within {self._timeout:g} s"
            return _refused(call, tool.name, reason)
        except Exception as exc:
            return _refused(call, tool.name, f"could not be authorised: {exc}")
        if isinstance(answer, Bail):
            return _refused(call, tool.name, answer.reason or "a hook refused the call")
        if answer is not None and answer != call:
            checked = self._admit(answer, turn)
            if isinstance(checked, ToolOutcome):
                return checked
            tool, call = checked
        return await self._run(call, tool, turn)

    async def fetch(self, call: ToolCall, turn: TurnContext) -> ToolOutcome:
        """Return what came of a call that the catalog itself makes, for a variable's value.

        No rule offers it, and it is neither authorised nor remembered; all else is as in `call`.
        The tool's context has no key.
        """
        tool = turn.snapshot.tools.get(call.tool)
        if tool is None:
            return _unknown_tool(call)
        checked = self._check(tool, call)
        if isinstance(checked, ToolOutcome):
            return checked
        return await self._run(checked, tool, turn, key="")

    # -- what is let through --

    def _admit(self, call: ToolCall, turn: TurnContext) -> tuple[Tool, ToolCall] | ToolOutcome:
        # The offered tool is the one described for this customer, so its choices are theirs.
        offered = next((each.tool for each in turn.offered if each.tool.id == call.tool), None)
        if offered is None:
            known = turn.snapshot.tools.get(call.tool)
            if known is None:
                return _unknown_tool(call)
            return _refused(
                call, known.name, f"tool {known.name!r} is not offered now: no active rule has it"
            )
        checked = self._check(offered, call)
        return checked if isinstance(checked, ToolOutcome) else (offered, checked)

    def _check(self, tool: Tool, call: ToolCall) -> ToolCall | ToolOutcome:
        try:
            arguments = validate_arguments(tool, call.arguments)
        except InvalidValueError as exc:
            return _refused(call, tool.name, str(exc))
        if tool.service not in self._services:
            known = ", ".join(sorted(self._services)) or "none"
            return _refused(
                call,
                tool.name,
                f"tool {tool.name!r} is run by the service {tool.service!r}, which this "
                f"application does not have; it has: {known}",
            )
        return attrs.evolve(call, arguments=arguments)

    # -- the call itself --

    async def _run(
        self, call: ToolCall, tool: Tool, turn: TurnContext, *, key: str | None = None
    ) -> ToolOutcome:
        started = self._clock.now()
        context = _context(turn, call.key if key is None else key)
        with span(
            TOOL,
            {
                TOOL_NAME: tool.name,
                TOOL_KEY: call.key,
                SESSION_ID: turn.session.id,
                TURN_ID: turn.id,
            },
        ) as current:
            outcome = await self._bounded(call, tool, context, turn)
            # What a tool says may quote the customer, so the span names the kind of end alone.
            ended = "finished" if outcome.error is None else "failed"
            current.set_attribute(TOOL_OUTCOME, "unknown" if outcome.is_unknown else ended)
        if outcome.error is not None:
            logger.warning("a tool call failed", extra={"tool": tool.name, "key": call.key})
        spent = (self._clock.now() - started).total_seconds() * 1000
        return attrs.evolve(outcome, milliseconds=spent)

    async def _bounded(
        self, call: ToolCall, tool: Tool, context: ToolContext, turn: TurnContext
    ) -> ToolOutcome:
        service = self._services[tool.service]
        binding = turn.snapshot.bindings.get(tool.id)
        timeout = self._timeout if tool.timeout is None else tool.timeout
        result: ToolResult | None = None
        with anyio.move_on_after(timeout, shield=True) as scope:
            try:
                result = await service.call(tool, call, context, binding)
            except (Exception, SystemExit) as exc:  # a tool may not end the program either
                said = str(exc) or "no message"
                error = f"tool {tool.name!r} raised {type(exc).__name__}: {said}"
                return ToolOutcome(call, tool.name, error=error)
        if scope.cancelled_caught:
            error = f"tool {tool.name!r}: unknown outcome after {timeout:g} s"
            return ToolOutcome(call, tool.name, error=error, is_unknown=True)
        return self._accept(call, tool, result)

    def _accept(self, call: ToolCall, tool: Tool, result: Any) -> ToolOutcome:  # what was returned
        if not isinstance(result, ToolResult):
            error = (
                f"service {tool.service!r} answered for tool {tool.name!r} with a "
                f"{type(result).__name__}, which is no ToolResult"
            )
            return ToolOutcome(call, tool.name, error=error)
        try:
            result, size = _as_json(result)
        except (TypeError, ValueError, RecursionError) as exc:
            error = f"tool {tool.name!r} returned what is not JSON: {exc}"
            return ToolOutcome(call, tool.name, error=error)
        if size > self._result_limit:
            error = (
                f"tool {tool.name!r} returned {size:,} characters of JSON, more than the limit of "
                f"{self._result_limit:,}; return less, or raise the limit"
            )
            return ToolOutcome(call, tool.name, error=error)
        return ToolOutcome(call, tool.name, result=result)

    async def _reconcile(
        self, call: ToolCall, tool: Tool, recorded: RecordedCall
    ) -> ToolOutcome | None:
        """Return what became of a call that was cut off, or `None` when it may be made again."""
        try:
            with anyio.move_on_after(self._timeout, shield=True):
                result = await self._services[tool.service].reconcile(call)
                if result is not None:
                    return self._accept(call, tool, result)
        except Exception:
            logger.warning(
                "a tool call could not be reconciled",
                extra={"tool": tool.name, "key": call.key},
                exc_info=True,
            )
        if not tool.consequential:
            return None
        error = (
            f"tool {tool.name!r}: unknown outcome of an earlier attempt; it changes something, so "
            f"it is not tried again"
        )
        return ToolOutcome(
            call, tool.name, error=error, offset=recorded.offset, reused=True, is_unknown=True
        )


def _as_json(result: ToolResult) -> tuple[ToolResult, int]:
    """Return the result as JSON gives it back, and its size: later changes do not reach it."""
    read: dict[str, Any] = {}
    size = 0
    for part in ("data", "fields", "metadata"):
        value = getattr(result, part)
        try:
            text = json.dumps(
                dict(value) if part != "data" else value, allow_nan=False, default=_refuse
            )
        except (TypeError, ValueError, RecursionError) as exc:
            reason = "it is nested too deeply" if isinstance(exc, RecursionError) else exc
            raise ValueError(f"its {part}: {reason}") from exc
        size += len(text)
        read[part] = json.loads(text)
    return attrs.evolve(result, **read), size


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _context(turn: TurnContext, key: str) -> ToolContext:
    return ToolContext(
        tenant=turn.scope.tenant,
        agent=turn.agent.id,
        customer=turn.customer.id,
        session=turn.session.id,
        turn=turn.id,
        key=key,
        variables=turn.variables,
        customer_metadata=turn.customer.metadata,
    )


def _reused(call: ToolCall, tool: Tool, recorded: RecordedCall) -> ToolOutcome:
    result: ToolResult | None = ToolResult(
        data=recorded.data,
        fields=recorded.fields,
        transient_rules=recorded.transient_rules,
        error=recorded.error,
    )
    if recorded.error is not None and recorded.data is None and not recorded.fields:
        result = None  # it raised: there never was a result
    error = recorded.error if result is None else None
    return ToolOutcome(
        call, tool.name, result=result, error=error, offset=recorded.offset, reused=True
    )


def _refused(call: ToolCall, tool: str, reason: str) -> ToolOutcome:
    logger.warning("a tool call was refused", extra={"tool": tool, "key": call.key})
    return ToolOutcome(call, tool, refusal=reason)


def _unknown_tool(call: ToolCall) -> ToolOutcome:
    return _refused(call, str(call.tool), f"there is no tool {call.tool!r} in this agent's catalog")
