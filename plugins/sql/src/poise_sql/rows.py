"""Values as rows: times as whole microseconds, JSON as text that any database can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

from poise.errors import InvalidValueError
from poise.values.events import Event, EventKind, NewEvent, Source
from poise.values.ids import AgentId, CustomerId, EventId, SessionId, TurnId
from poise.values.sessions import Session, SessionHeader

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Return an aware moment as microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(micros: int) -> datetime:
    """Return the moment that `micros` wrote, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def json_text(value: object, what: str) -> str:
    """Return `value` as JSON in ASCII, so that half surrogates and null bytes pass unharmed.

    Args:
        value: JSON values; frozen mappings, sets and enums are written as what they hold.
        what: What an error calls it.

    Raises:
        InvalidValueError: Something in there is no JSON.
    """
    try:
        return json.dumps(value, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidValueError(what, "data", f"can't be written as JSON: {exc}") from exc


def _plain(value: object) -> Any:  # JSON values
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"it holds a {type(value).__name__}")


def event_row(event: NewEvent, *, tenant: str, session: SessionId, offset: int) -> dict[str, Any]:
    """Return the row of an event about to be appended."""
    return {
        "tenant": tenant,
        "session": session,
        "offset": offset,
        "id": event.id,
        "kind": event.kind.value,
        "source": event.source.value,
        "actor": event.actor,
        "turn": event.turn,
        "at": micros(event.at),
        "data": json_text(event.data, f"event {event.kind.value}"),
    }


def event_of(row: Sequence[Any], session: SessionId) -> Event:
    """Return the event of a row `offset, id, kind, source, actor, turn, at, data`."""
    offset, event, kind, source, actor, turn, at, data = row
    return Event(
        session,
        offset,
        EventId(event),
        EventKind(kind),
        Source(source),
        actor,
        None if turn is None else TurnId(turn),
        moment_of(at),
        json.loads(data),
    )


def session_of(row: Sequence[Any]) -> Session:
    """Return the session of a row `id, agent, customer, created, title, length`."""
    session, agent, customer, created, title, length = row
    return Session(
        SessionHeader(
            SessionId(session), AgentId(agent), CustomerId(customer), moment_of(created), title
        ),
        length,
    )
