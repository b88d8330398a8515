"""Events for tests, and hypothesis strategies for single ones and for whole logs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from hypothesis import strategies as st

from poise.ports.stores import placed
from poise.testing.clock import START
from poise.testing.turns import SESSION
from poise.turn.ledger import (
    AskedLine,
    ClarificationLine,
    Ledger,
    LedgerLine,
    OptionLine,
    ledger_to_json,
)
from poise.values.events import Event, EventKind, NewEvent, Source
from poise.values.ids import EventId, TurnId

_numbers = count(1)


def new_event(
    kind: EventKind,
    data: Mapping[str, Any],
    source: Source = Source.SYSTEM,
    *,
    turn: TurnId | None = None,
) -> NewEvent:
    """Return an event to be appended, with an id of its own."""
    number = next(_numbers)
    return NewEvent(EventId(f"event_{number}"), kind, source, source.value, turn, START, data)


def said(text: str, source: Source = Source.CUSTOMER) -> NewEvent:
    """Return a message; the customer's, unless told otherwise."""
    return new_event(EventKind.MESSAGE, {"text": text}, source)


def custom(data: Mapping[str, Any] | None = None) -> NewEvent:
    """Return an event of a program's own."""
    return new_event(EventKind.CUSTOM, {} if data is None else data)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
"""Any JSON value, half surrogates included."""

_NAMES = [
    "text",
    "status",
    "upto",
    "key",
    "tool",
    "stage",
    "arguments",
    "result",
    "data",
    "fields",
    "labels",
    "error",
    "outcome",
    "lines",
    "kind",
    "fate",
    "subject",
    "hit_at",
    "confirmed",
    "fulfilled",
    "partly",
    "pruned",
    "rule",
    "owed",
    "offset",
    "mode",
    "title",
    "customer",
    "language",
]

arbitrary_data: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(_NAMES) | st.text(max_size=8),
    json_values
    | st.lists(st.dictionaries(st.sampled_from(_NAMES), json_values, max_size=5), max_size=3)
    | st.sampled_from(["sent", "silent", "error", "finished", "manual", "auto", "policy"]),
    max_size=6,
)
"""Data that somebody else may have written: the right names with the wrong values among it."""

_rules = st.sampled_from([f"rule_{letter}" for letter in "abcdef"])
_turns = st.sampled_from([None, TurnId("turn_1"), TurnId("turn_2"), TurnId("turn_3")])
_fates = st.sampled_from(
    ["in_context", "matched", "implied", "outranked", "excluded", "over_budget", "undecided"]
)
_offsets = st.integers(0, 30)

_lines = st.builds(
    LedgerLine,
    subject=_rules,
    kind=st.sampled_from(["policy", "observation", "transient"]),
    name=st.just("a rule"),
    fate=_fates,
    hit_at=st.none() | _offsets,
    confirmed=st.booleans(),
)

_options = st.builds(OptionLine, subject=_rules, as_said=st.text(max_size=6))
_clarifications = st.builds(
    ClarificationLine,
    head=_rules,
    question=st.just("Which one?"),
    options=st.lists(_options, max_size=3).map(tuple),
)
_asked = st.builds(
    AskedLine,
    tool=st.just("freeze_card"),
    rules=st.lists(_rules, max_size=2).map(tuple),
    parameters=st.just(("digits",)),
)

ledgers: st.SearchStrategy[Ledger] = st.builds(
    Ledger,
    turn=st.just("turn_1"),
    base=_offsets,
    upto=_offsets,
    outcome=st.sampled_from(["sent", "silent", "cancelled", "failed"]),
    catalog=st.just("catalog_1"),
    lines=st.lists(_lines, max_size=5).map(tuple),
    asked=st.lists(_asked, max_size=1).map(tuple),
    clarifications=st.lists(_clarifications, max_size=2).map(tuple),
    labels=st.lists(st.sampled_from(["vip", "angry"]), max_size=2).map(tuple),
)
"""Ledgers of few rules, so that those of one log meet."""

_rule_offsets = st.lists(st.fixed_dictionaries({"rule": _rules, "offset": _offsets}), max_size=3)

_tool_data = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["call_1", "call_2"]),
        "tool": st.just("freeze_card"),
        "stage": st.sampled_from(["started", "finished", "refused", "unknown"]),
        "error": st.none() | st.just("it broke"),
        "result": st.none()
        | st.fixed_dictionaries(
            {
                "data": json_values,
                "fields": st.dictionaries(st.text(max_size=4), json_values, max_size=2),
                "labels": st.lists(st.sampled_from(["vip", "angry"]), max_size=2),
                "error": st.none() | st.just("no such card"),
            }
        ),
    },
    optional={"arguments": st.dictionaries(st.text(max_size=4), json_values, max_size=2)},
)

_plausible: Mapping[EventKind, st.SearchStrategy[Mapping[str, Any]]] = {
    EventKind.MESSAGE: st.fixed_dictionaries({"text": st.text(max_size=8)}),
    EventKind.STATUS: st.fixed_dictionaries(
        {"status": st.sampled_from(["acknowledged", "error", "ready"])},
        optional={"upto": _offsets},
    ),
    EventKind.TOOL: _tool_data,
    EventKind.MATCH: ledgers.map(ledger_to_json),
    EventKind.MODE: st.fixed_dictionaries({"mode": st.sampled_from(["auto", "manual"])}),
    EventKind.SESSION: st.fixed_dictionaries(
        {},
        optional={
            "title": st.none() | st.text(max_size=8),
            "customer": st.just("customer_2"),
            "labels": st.lists(st.sampled_from(["vip", "new"]), max_size=2),
            "language": st.none() | st.just("de"),
        },
    ),
    EventKind.SETTLED: st.fixed_dictionaries(
        {
            "fulfilled": st.lists(_rules, max_size=3),
            "partly": st.lists(
                st.fixed_dictionaries({"rule": _rules, "owed": st.just("call back")}), max_size=2
            ),
            "pruned": _rule_offsets,
        }
    ),
    EventKind.CUSTOM: st.fixed_dictionaries({"anything": json_values}),
}


@st.composite
def new_events(draw: st.DrawFn) -> NewEvent:
    """Draw an event as the engine or a program writes it or, one time in five, as it should not."""
    kind = draw(st.sampled_from(list(_plausible)))
    odd = draw(st.integers(0, 4)) == 0
    return new_event(
        kind,
        draw(arbitrary_data if odd else _plausible[kind]),
        draw(st.sampled_from(list(Source))),
        turn=draw(_turns),
    )


@st.composite
def logs(draw: st.DrawFn, max_size: int = 12) -> list[Event]:
    """Draw a session's log from its first event on."""
    events = draw(st.lists(new_events(), max_size=max_size))
    return [placed(event, SESSION, offset) for offset, event in enumerate(events)]
