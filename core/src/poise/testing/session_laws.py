"""What holds of every session's log, whatever happened in it: for tests of whole applications."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from poise.turn.ledger import Ledger, ledger_from_json
from poise.turn.state import fold
from poise.values.events import Event, EventKind, Source
from poise.values.ids import TurnId
from poise.values.sessions import SessionMode

STATUS_GRAMMAR = re.compile(
    r"acknowledged(?: processing| typing)*(?: ready| cancelled ready| error ready)"
)
"""The statuses of one turn, in order, as one text."""


def statuses(events: Sequence[Event]) -> Mapping[TurnId, str]:
    """Return the statuses of each turn that has some, in order, as one text."""
    found: dict[TurnId, list[str]] = {}
    for event in events:
        if event.kind is EventKind.STATUS and event.turn is not None:
            found.setdefault(event.turn, []).append(str(event.data["status"]))
    return {turn: " ".join(each) for turn, each in found.items()}


def ledgers(events: Sequence[Event]) -> Sequence[Ledger]:
    """Return the account of every turn, oldest first."""
    return [ledger_from_json(event.data) for event in events if event.kind is EventKind.MATCH]


def agent_messages(events: Sequence[Event]) -> Sequence[str]:
    """Return what the engine said, oldest first."""
    return [
        event.text
        for event in events
        if event.kind is EventKind.MESSAGE and event.source is Source.AI_AGENT
    ]


def assert_session_laws(events: Sequence[Event], *, at_rest: bool = True) -> None:
    """Assert what holds of a whole log, from its first event on.

    Args:
        events: Every event.
        at_rest: Nothing is under way any more.

    Raises:
        AssertionError: A law is broken; the message says which, and where.
    """
    assert [event.offset for event in events] == list(range(len(events))), (
        "offsets are dense from 0"
    )
    turns = _by_turn(events)
    for turn, own in turns.items():
        _assert_turn(turn, own, at_rest=at_rest)
    _assert_one_at_a_time(events, turns)
    state = fold(events)
    if at_rest and state.mode is SessionMode.AUTO:
        assert not state.unanswered, f"nobody answered the messages at {state.unanswered}"


def _by_turn(events: Sequence[Event]) -> Mapping[TurnId, Sequence[Event]]:
    turns: dict[TurnId, list[Event]] = {}
    for event in events:
        if event.turn is not None:
            turns.setdefault(event.turn, []).append(event)
    return turns


def _assert_turn(turn: TurnId, events: Sequence[Event], *, at_rest: bool) -> None:
    shown = statuses(events).get(turn, "")
    if at_rest and shown:
        assert STATUS_GRAMMAR.fullmatch(shown), f"turn {turn} has the statuses {shown!r}"
    kinds = [
        str(event.data["status"]) if event.kind is EventKind.STATUS else event.kind.value
        for event in events
    ]
    spoken = [place for place, kind in enumerate(kinds) if kind == "message"]
    if spoken:
        assert "typing" not in kinds[spoken[-1] :], f"turn {turn} types after its last message"
        assert "cancelled" not in kinds, f"turn {turn} spoke and was cancelled: {kinds}"
    if "ready" in kinds:
        ready = kinds.index("ready")
        assert kinds[:ready].count("match") == 1, f"turn {turn} has no account at ready: {kinds}"
        assert set(kinds[ready + 1 :]) <= {"settled"}, f"turn {turn} goes on after ready: {kinds}"
    for event in events:
        if event.kind is EventKind.MATCH:
            _assert_ledger(ledger_from_json(event.data), events)


def _assert_ledger(ledger: Ledger, events: Sequence[Event]) -> None:
    subjects = [line.subject for line in ledger.lines]
    assert len(set(subjects)) == len(subjects), f"a candidate has two lines: {subjects}"
    assert all(line.fate for line in ledger.lines), "a line has no fate"
    assert ledger.catalog, "the account pins no catalog version"
    recorded = {
        str(event.data["key"])
        for event in events
        if event.kind is EventKind.TOOL and event.data["stage"] != "started"
    }
    called = {line.key for line in ledger.calls if line.outcome != "reused"}
    assert recorded <= called, f"calls on record that the account lacks: {recorded - called}"
    said = sum(event.kind is EventKind.MESSAGE for event in events)
    if ledger.outcome == "sent":
        assert said, "the account says that something was sent, and nothing was"
    elif ledger.outcome in ("silent", "cancelled"):
        assert not said, f"the account says {ledger.outcome!r}, and something was said"


def _assert_one_at_a_time(events: Sequence[Event], turns: Mapping[TurnId, Sequence[Event]]) -> None:
    spans = sorted((own[0].offset, own[-1].offset, turn) for turn, own in turns.items())
    for (_, end, one), (start, _, other) in pairwise(spans):
        assert end < start, f"turns {one} and {other} of one session ran at the same time"
