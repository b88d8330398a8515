"""The JSON form of a session's state, for stores that keep a checkpoint as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poise.errors import InvalidValueError
from poise.turn.state import (
    FOLD_VERSION,
    Awaited,
    Clarification,
    Membership,
    Owed,
    RecordedCall,
    SessionState,
    Unsettled,
)
from poise.values.ids import CustomerId, RuleId, TurnId
from poise.values.sessions import SessionMode


def state_to_json(state: SessionState) -> dict[str, Any]:
    """Return the state as JSON values. Rows are lists: a checkpoint is written on every turn."""
    return {
        "version": FOLD_VERSION,
        "offset": state.offset,
        "working_set": {
            rule: [member.since, member.last_hit, member.last_match]
            for rule, member in state.working_set.items()
        },
        "pruned": dict(state.pruned),
        "confirmed": dict(state.confirmed),
        "applied": dict(state.applied),
        "partly": {rule: [owed.offset, owed.what] for rule, owed in state.partly.items()},
        "calls": {key: _call_to_json(call) for key, call in state.calls.items()},
        "awaiting": {
            rule: [asked.tool, list(asked.parameters)] for rule, asked in state.awaiting.items()
        },
        "clarifications": {
            head: [asked.question, [list(option) for option in asked.options], asked.offset]
            for head, asked in state.clarifications.items()
        },
        "unanswered": list(state.unanswered),
        "unsettled": None
        if state.unsettled is None
        else [state.unsettled.turn, list(state.unsettled.assumed)],
        "mode": state.mode.value,
        "labels": sorted(state.labels),
        "language": state.language,
        "title": state.title,
        "customer": state.customer,
        "spent": state.spent,
    }


def _call_to_json(call: RecordedCall) -> dict[str, Any]:
    return {
        "tool": call.tool,
        "stage": call.stage,
        "offset": call.offset,
        "arguments": dict(call.arguments),
        "data": call.data,
        "fields": dict(call.fields),
        "transient_rules": list(call.transient_rules),
        "error": call.error,
    }


def _call_from_json(call: Mapping[str, Any]) -> RecordedCall:
    return RecordedCall(**{**call, "transient_rules": tuple(call["transient_rules"])})


def state_from_json(data: object) -> SessionState:
    """Return the state that `state_to_json` wrote.

    Raises:
        InvalidValueError: It is of another version of the fold, or damaged: fold from scratch.
    """
    if not isinstance(data, Mapping):
        raise InvalidValueError("checkpoint", "state", "is damaged (it is no mapping)")
    version = data.get("version")
    if version != FOLD_VERSION:
        raise InvalidValueError(
            "checkpoint", "version", f"is {version!r}, not {FOLD_VERSION}; fold the log afresh"
        )
    try:
        return _state(data)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise InvalidValueError("checkpoint", "state", f"is damaged ({exc!r})") from exc


def _state(data: Mapping[str, Any]) -> SessionState:
    unsettled, customer = data["unsettled"], data["customer"]
    return SessionState(
        offset=data["offset"],
        working_set={RuleId(rule): Membership(*row) for rule, row in data["working_set"].items()},
        pruned=data["pruned"],
        confirmed=data["confirmed"],
        applied=data["applied"],
        partly={RuleId(rule): Owed(*row) for rule, row in data["partly"].items()},
        calls={key: _call_from_json(call) for key, call in data["calls"].items()},
        awaiting={
            RuleId(rule): Awaited(tool, tuple(parameters))
            for rule, (tool, parameters) in data["awaiting"].items()
        },
        clarifications={
            RuleId(head): Clarification(
                RuleId(head),
                question,
                tuple((RuleId(subject), as_said) for subject, as_said in options),
                offset,
            )
            for head, (question, options, offset) in data["clarifications"].items()
        },
        unanswered=tuple(data["unanswered"]),
        unsettled=None
        if unsettled is None
        else Unsettled(TurnId(unsettled[0]), tuple(map(RuleId, unsettled[1]))),
        mode=SessionMode(data["mode"]),
        labels=frozenset(data["labels"]),
        language=data["language"],
        title=data["title"],
        customer=None if customer is None else CustomerId(customer),
        spent=data["spent"],
    )
