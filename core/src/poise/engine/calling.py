"""The stages *infer* and *call*: only what surviving rules offer, through the gate, on record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import attrs

from poise.engine.account import Account
from poise.engine.log import TurnLog
from poise.engine.parts import Parts
from poise.turn.context import TurnContext
from poise.turn.ledger import CallLine
from poise.turn.queries import Query, result_query
from poise.turn.tooling import OfferedTool, ToolOutcome, ToolPlan
from poise.values.events import EventKind, NewEvent, ToolStage
from poise.values.ids import RuleId, ToolId
from poise.values.rules import Rule, RuleKind
from poise.values.tools import ToolCall


async def infer(turn: TurnContext, *, parts: Parts, account: Account) -> TurnContext:
    """Return the turn with the tools that active rules offer, and the plan for calling them."""
    offered = await _offered(turn, parts, account)
    if not offered:
        return attrs.evolve(turn, offered=(), tool_plan=ToolPlan())
    turn = attrs.evolve(turn, offered=offered)
    try:
        plan = await parts.tool_caller.infer(offered, turn)
    except Exception as exc:
        account.degrade("tool caller", exc, "called no tool")
        plan = ToolPlan()
    return attrs.evolve(turn, tool_plan=plan)


async def _offered(turn: TurnContext, parts: Parts, account: Account) -> tuple[OfferedTool, ...]:
    by_tool: dict[ToolId, list[RuleId]] = {}
    for rule in turn.active_rules:
        for offer in rule.tools:
            by_tool.setdefault(offer, []).append(rule.id)
    offered: list[OfferedTool] = []
    for known, rules in by_tool.items():
        tool = turn.snapshot.tools.get(known)
        if tool is None:
            continue
        try:
            tool = await parts.gate.describe(tool, turn)
        except Exception as exc:
            account.degrade(f"tool {tool.name}", exc, "offered it as declared")
        offered.append(OfferedTool(tool, tuple(rules)))
    return tuple(offered)


async def call(
    turn: TurnContext, *, parts: Parts, account: Account, log: TurnLog
) -> tuple[TurnContext, Sequence[Query]]:
    """Make the planned calls that are not made yet; return the turn and what to discover next.

    Calls run one after another: a tool may see what the one before it changed. A call that has
    started is finished and recorded even when the turn is cancelled meanwhile.
    """
    made = {outcome.call.key for outcome in turn.results}
    queries: list[Query] = []
    for planned in turn.tool_plan.calls:
        if planned.key in made:
            continue
        made.add(planned.key)
        outcome = await _call(planned, turn, parts=parts, account=account, log=log)
        turn = attrs.evolve(turn, results=(*turn.results, outcome))
        if outcome.result is not None:
            query = result_query(outcome.result.data, outcome.offset or turn.base)
            if query is not None:
                queries.append(query)
            turn = _instructed(turn, outcome, parts.may_instruct)
        await parts.hooks.notify("on_tool_result", account.hook_failed, outcome=outcome, turn=turn)
    return turn, queries


async def _call(
    planned: ToolCall, turn: TurnContext, *, parts: Parts, account: Account, log: TurnLog
) -> ToolOutcome:
    """Make one call and record it: what has started is finished, even in a cancelled turn."""
    with anyio.CancelScope(shield=True):
        before = attrs.evolve(turn, state=log.state)
        tool = turn.snapshot.tools.get(planned.tool)
        if tool is not None and tool.consequential and not _is_on_record(planned, log):
            # On record before it happens: after a crash nobody makes the call a second time. Who
            # changed their mind meanwhile is heard first, and nothing is on record then.
            await log.commit_unless_superseded(
                log.event(EventKind.TOOL, _data(planned, tool.name, ToolStage.STARTED.value))
            )
        started = time.perf_counter()
        outcome = await parts.gate.call(planned, before)
        outcome = attrs.evolve(outcome, milliseconds=(time.perf_counter() - started) * 1000)
        _account_for(outcome, account)
        if not outcome.reused:
            outcome = await _record(outcome, log)
    # The shield is over: a turn that was cancelled meanwhile ends here, its result recorded.
    await anyio.lowlevel.checkpoint_if_cancelled()
    return outcome


def _is_on_record(planned: ToolCall, log: TurnLog) -> bool:
    known = log.state.calls.get(planned.key)
    return known is not None and known.stage != ToolStage.REFUSED.value


async def _record(outcome: ToolOutcome, log: TurnLog) -> ToolOutcome:
    events = [_event(outcome, log)]
    result = outcome.result
    if result is not None and result.mode is not None:
        mode = {"mode": result.mode, "reason": f"tool {outcome.tool}"}
        events.append(log.event(EventKind.MODE, mode))
    appended = await log.commit(*events)
    return attrs.evolve(outcome, offset=appended[0].offset)


def _event(outcome: ToolOutcome, log: TurnLog) -> NewEvent:
    result = outcome.result
    if outcome.refusal is not None:
        stage = ToolStage.REFUSED
    elif outcome.is_unknown:
        stage = ToolStage.UNKNOWN
    else:
        stage = ToolStage.FINISHED
    return log.event(
        EventKind.TOOL,
        {
            **_data(outcome.call, outcome.tool, stage.value),
            "refusal": outcome.refusal,
            "error": outcome.error,
            "milliseconds": round(outcome.milliseconds, 3),
            "result": None
            if result is None
            else {
                "data": result.data,
                "fields": dict(result.fields),
                "transient_rules": list(result.transient_rules),
                "labels": sorted(result.labels),
                "error": result.error,
                "metadata": dict(result.metadata),
            },
        },
    )


def _data(call: ToolCall, tool: str, stage: str) -> dict[str, Any]:
    return {
        "stage": stage,
        "key": call.key,
        "tool": tool,
        "arguments": dict(call.arguments),
        "sources": dict(call.sources),
        "why": list(call.why),
    }


def _instructed(
    turn: TurnContext, outcome: ToolOutcome, may_instruct: frozenset[str]
) -> TurnContext:
    """Return the turn with a tool's instructions for it, where its service may give any."""
    result = outcome.result
    tool = turn.snapshot.tools.get(outcome.call.tool)
    if result is None or tool is None or tool.service not in may_instruct:
        return turn
    rules = tuple(
        Rule(
            id=RuleId(f"{outcome.call.key}:{place}"),
            agent=turn.agent.id,
            kind=RuleKind.POLICY,
            then=text,
        )
        for place, text in enumerate(result.transient_rules)
        if text.strip()
    )
    return attrs.evolve(turn, transient=(*turn.transient, *rules))


def _account_for(outcome: ToolOutcome, account: Account) -> None:
    if outcome.refusal is not None:
        said, detail = "refused", outcome.refusal
    elif outcome.is_unknown:
        said, detail = "unknown", outcome.error or ""
    elif outcome.error is not None:
        said, detail = "failed", outcome.error
    elif outcome.result is not None and outcome.result.error is not None:
        said, detail = "failed", outcome.result.error
    elif outcome.reused:
        said, detail = "reused", ""
    else:
        said, detail = "finished", ""
    account.calls.append(
        CallLine(
            key=outcome.call.key,
            tool=outcome.tool,
            arguments=dict(outcome.call.arguments),
            why=outcome.call.why,
            sources=dict(outcome.call.sources),
            outcome=said,
            detail=detail,
            milliseconds=outcome.milliseconds,
        )
    )
