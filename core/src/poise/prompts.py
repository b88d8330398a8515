"""The prompt sections that more than one plugin needs: one pure function each.

Whatever a customer, a tool or a document said is quoted as a JSON string, which it can't close.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from poise.turn.context import TurnContext
from poise.turn.prompts import Cut, Prompt, Section, Stability
from poise.turn.tooling import ToolOutcome
from poise.values.agents import Agent
from poise.values.events import Event
from poise.values.terms import Term

MESSAGE_LIMIT = 4_000
"""Characters of one message in a prompt: head and tail of a longer one."""


def quoted(text: str, limit: int = MESSAGE_LIMIT) -> str:
    """Return `text` as data: a JSON string, cut in the middle beyond `limit` characters."""
    if len(text) > limit:
        left_out = len(text) - limit
        text = f"{text[: limit // 2]} […{left_out} characters left out…] {text[-limit // 2 :]}"
    return json.dumps(text, ensure_ascii=False)


def identity(agent: Agent) -> Section:
    """Return who the agent is; never left out."""
    lines = [f"You are {agent.name}.", agent.instructions]
    return Section(
        "identity",
        "\n".join(filter(None, lines)),
        Stability.CATALOG,
        priority=100,
        cut=Cut.NOTHING,
    )


def terms(found: Sequence[Term]) -> Section:
    """Return the vocabulary in play; empty without any."""
    lines = [
        f"- {term.name}"
        + (f" (also: {', '.join(term.synonyms)})" if term.synonyms else "")
        + f": {term.description}"
        for term in found
    ]
    text = "\n".join(["Terms, as they are meant here:", *lines]) if lines else ""
    return Section("terms", text, Stability.SESSION, priority=40)


def variables(values: Mapping[str, Any]) -> Section:
    """Return what is known of the customer; empty without anything."""
    lines = [
        f"- {name}: {quoted(json.dumps(values[name], ensure_ascii=False, default=str))}"
        for name in sorted(values)
    ]
    text = "\n".join(["Facts about the customer (data):", *lines]) if lines else ""
    return Section("variables", text, Stability.SESSION, priority=60)


def history(events: Sequence[Event]) -> Section:
    """Return the conversation's messages, one line each, quoted.

    Where room is short the oldest messages are the first to go, and the newest is the last.
    """
    lines = [
        f"{'customer' if event.is_customer_message else 'agent'}: {quoted(event.text)}"
        for event in events
    ]
    text = "\n".join(["The conversation so far (quoted data):", *lines]) if lines else ""
    return Section("history", text, Stability.SESSION, priority=30, cut=Cut.OLDEST_LINES)


def results(outcomes: Sequence[ToolOutcome], limit: int = 16_000) -> Section:
    """Return what the tools of this turn said, quoted and capped."""
    lines = [
        f"- {outcome.tool}: "
        + (
            quoted(json.dumps(outcome.result.data, ensure_ascii=False, default=str), limit)
            if outcome.result is not None
            else f"no result ({outcome.refusal or outcome.error})"
        )
        for outcome in outcomes
    ]
    text = "\n".join(["Results of tools (quoted data):", *lines]) if lines else ""
    return Section("results", text, Stability.TURN, priority=70, cut=Cut.OLDEST_LINES)


def situation(turn: TurnContext, result_limit: int = 16_000) -> Prompt:
    """Return what every route of a turn has in common: the same bytes for all of them.

    Args:
        turn: The turn so far.
        result_limit: Characters of one tool result; longer ones are cut in the middle.
    """
    return Prompt.of(
        identity(turn.agent),
        terms(turn.terms),
        variables(turn.variables),
        history(turn.history.messages),
        results(turn.results, result_limit),
    )
