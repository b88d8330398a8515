"""What a session store does within one transaction: functions of a connection, and no waiting."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Integer, Select, bindparam, insert, select, tuple_, update

from poise.errors import (
    ConflictError,
    InvalidValueError,
    NotFoundError,
    StaleFenceError,
    StoreError,
)
from poise.ports.stores import Fence, placed
from poise.turn.history import Checkpoint, History
from poise.turn.state_json import state_from_json, state_to_json
from poise.values.clock import Clock
from poise.values.events import Event, EventKind, NewEvent
from poise.values.ids import SessionId
from poise.values.sessions import Session, SessionHeader
from poise_sql.rows import event_of, event_row, json_text, micros, session_of
from poise_sql.schema import CHECKPOINTS, EVENTS, SESSIONS

logger = logging.getLogger(__name__)

_NO_CHECKPOINT = -1
_THIS = (SESSIONS.c.tenant == bindparam("of_tenant")) & (SESSIONS.c.id == bindparam("of_session"))

_COLUMNS = (
    SESSIONS.c.id,
    SESSIONS.c.agent,
    SESSIONS.c.customer,
    SESSIONS.c.created,
    SESSIONS.c.title,
    SESSIONS.c.length,
)
_SESSION = select(*_COLUMNS).where(_THIS)
_LEASE = select(SESSIONS.c.length, SESSIONS.c.owner, SESSIONS.c.epoch, SESSIONS.c.expires).where(
    _THIS
)
_ADD_EVENT = insert(EVENTS)
# Lets nothing through that the fence or `after` forbids, and says where the new events stand.
_GROW = (
    update(SESSIONS)
    .where(
        _THIS,
        bindparam("after", type_=Integer).is_(None) | (SESSIONS.c.length == bindparam("after")),
        bindparam("fence", type_=Integer).is_(None)
        | ((SESSIONS.c.epoch == bindparam("fence")) & (SESSIONS.c.owner == bindparam("of_owner"))),
    )
    .values(length=SESSIONS.c.length + bindparam("count"))
    .returning(SESSIONS.c.length)
)
_HOLD = (
    update(SESSIONS)
    .where(_THIS)
    .values(owner=bindparam("holder"), epoch=bindparam("term"), expires=bindparam("until"))
)
_KEEP_CHECKPOINT = (
    update(CHECKPOINTS)
    .where(
        CHECKPOINTS.c.tenant == bindparam("of_tenant"),
        CHECKPOINTS.c.session == bindparam("of_session"),
        CHECKPOINTS.c.offset < bindparam("upto"),
    )
    .values(offset=bindparam("upto"), state=bindparam("folded"))
)
_LENGTH_AND_CHECKPOINT = (
    select(SESSIONS.c.length, CHECKPOINTS.c.offset, CHECKPOINTS.c.state)
    .join(
        CHECKPOINTS,
        (CHECKPOINTS.c.tenant == SESSIONS.c.tenant) & (CHECKPOINTS.c.session == SESSIONS.c.id),
    )
    .where(_THIS)
)
_EVENTS = select(
    EVENTS.c.offset,
    EVENTS.c.id,
    EVENTS.c.kind,
    EVENTS.c.source,
    EVENTS.c.actor,
    EVENTS.c.turn,
    EVENTS.c.at,
    EVENTS.c.data,
).where(
    EVENTS.c.tenant == bindparam("of_tenant"),
    EVENTS.c.session == bindparam("of_session"),
    EVENTS.c.offset >= bindparam("start"),
)


def open_session(connection: Connection, tenant: str, header: SessionHeader) -> Session:
    """Return the session of that id, made if need be."""
    known = connection.execute(_SESSION, _this(tenant, header.id)).one_or_none()
    if known is not None:
        return session_of(known)
    connection.execute(
        insert(SESSIONS),
        {
            "tenant": tenant,
            "id": header.id,
            "agent": header.agent,
            "customer": header.customer,
            "title": header.title,
            "created": micros(header.created),
            "length": 0,
            "epoch": 0,
        },
    )
    connection.execute(
        insert(CHECKPOINTS),
        {"tenant": tenant, "session": header.id, "offset": _NO_CHECKPOINT, "state": "{}"},
    )
    return Session(header, 0)


def get_session(connection: Connection, tenant: str, session: SessionId) -> Session:
    """Return the session of that id, or raise `NotFoundError`."""
    return session_of(_found(connection, _SESSION, tenant, session))


def find_sessions(
    connection: Connection, tenant: str, *, cursor: str | None, limit: int
) -> Sequence[Session]:
    """Return up to `limit` sessions, newest first, after the one that `cursor` names."""
    age = tuple_(SESSIONS.c.created, SESSIONS.c.id)
    statement = (
        select(*_COLUMNS)
        .where(SESSIONS.c.tenant == tenant)
        .order_by(SESSIONS.c.created.desc(), SESSIONS.c.id.desc())
        .limit(limit)
    )
    if cursor is not None:
        try:
            last = get_session(connection, tenant, SessionId(cursor)).header
        except NotFoundError as exc:
            raise InvalidValueError(
                "sessions", "cursor", f"{cursor!r} was not given out here"
            ) from exc
        statement = statement.where(age < tuple_(micros(last.created), last.id))
    return [session_of(row) for row in connection.execute(statement)]


def append_events(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    events: Sequence[NewEvent],
    fence: Fence | None,
    after: int | None,
    checkpoint: Checkpoint | None,
) -> Sequence[Event]:
    """Append all events or none: fence and length are checked under the lock that writes them."""
    this = _this(tenant, session)
    upto = connection.execute(
        _GROW,
        {
            **this,
            "count": len(events),
            "after": after,
            "fence": None if fence is None else fence.epoch,
            "of_owner": None if fence is None else fence.owner,
        },
    ).scalar()
    if upto is None or (fence is not None and fence.session != session):
        raise _refusal(connection, tenant, session, fence=fence, after=after)
    start = upto - len(events)
    rows = [
        event_row(event, tenant=tenant, session=session, offset=offset)
        for offset, event in enumerate(events, start)
    ]
    connection.execute(_ADD_EVENT, rows if len(rows) > 1 else rows[0])
    if checkpoint is not None:
        connection.execute(
            _KEEP_CHECKPOINT,
            {
                **this,
                "upto": checkpoint.offset,
                "folded": json_text(state_to_json(checkpoint.state), "checkpoint"),
            },
        )
    return tuple(placed(event, session, offset) for offset, event in enumerate(events, start))


def _refusal(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    fence: Fence | None,
    after: int | None,
) -> StoreError:
    """Return why nothing was appended; raising it undoes the transaction."""
    length, owner, epoch, _expires = _found(connection, _LEASE, tenant, session)
    if fence is not None and (fence.session, fence.owner, fence.epoch) != (session, owner, epoch):
        return StaleFenceError(session)
    return ConflictError(f"session {session!r}", after, length)


def read_history(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    start: int,
    last: int | None,
    kinds: frozenset[EventKind] | None,
) -> History:
    """Return the window asked for, from one state of the log."""
    length, upto, state = _found(connection, _LENGTH_AND_CHECKPOINT, tenant, session)
    events: Sequence[Event] = ()
    if start < length and last != 0:
        events = read_events(connection, tenant, session, start=start, last=last, kinds=kinds)
    return History(tuple(events), length, _checkpoint(session, upto, state))


def read_events(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    start: int,
    last: int | None = None,
    kinds: frozenset[EventKind] | None = None,
) -> Sequence[Event]:
    """Return events from `start` on, of these kinds, and of those only the newest `last`."""
    statement = _EVENTS
    if kinds is not None:
        statement = statement.where(EVENTS.c.kind.in_(sorted(kind.value for kind in kinds)))
    if last is None:
        statement = statement.order_by(EVENTS.c.offset)
    else:
        statement = statement.order_by(EVENTS.c.offset.desc()).limit(last)
    rows = connection.execute(statement, {**_this(tenant, session), "start": start}).all()
    return [event_of(row, session) for row in (rows if last is None else reversed(rows))]


def claim_session(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    owner: str,
    ttl: timedelta,
    clock: Clock,
) -> Fence | None:
    """Return the lease for `owner`, taken or renewed; `None` while another owner holds it."""
    _length, holder, epoch, expires = _found(connection, _LEASE, tenant, session)
    now = clock.now()  # under the lock: what was read before waiting for it would be stale
    if holder != owner:
        if holder is not None and micros(now) < expires:
            return None
        epoch += 1
    _hold(connection, tenant, session, holder=owner, term=epoch, until=micros(now + ttl))
    return Fence(session, owner, epoch)


def release_session(connection: Connection, tenant: str, fence: Fence) -> None:
    """Give the lease up, unless it is stale."""
    row = connection.execute(_LEASE, _this(tenant, fence.session)).one_or_none()
    if row is not None and (row.owner, row.epoch) == (fence.owner, fence.epoch):
        _hold(connection, tenant, fence.session, holder=None, term=fence.epoch, until=None)


def _hold(
    connection: Connection,
    tenant: str,
    session: SessionId,
    *,
    holder: str | None,
    term: int,
    until: int | None,
) -> None:
    this = _this(tenant, session)
    connection.execute(_HOLD, {**this, "holder": holder, "term": term, "until": until})


def _this(tenant: str, session: SessionId) -> dict[str, Any]:
    return {"of_tenant": tenant, "of_session": session}


def _found(
    connection: Connection, statement: Select[Any], tenant: str, session: SessionId
) -> Any:  # the row; its columns are the statement's
    row = connection.execute(statement, _this(tenant, session)).one_or_none()
    if row is None:
        raise NotFoundError("session", session)
    return row


def _checkpoint(session: SessionId, upto: int, text: str) -> Checkpoint | None:
    if upto == _NO_CHECKPOINT:
        return None
    try:
        return Checkpoint(upto, state_from_json(json.loads(text)))
    except (InvalidValueError, json.JSONDecodeError) as exc:
        # A checkpoint saves time and holds nothing that the log does not: fold afresh.
        logger.info("a checkpoint is not used", extra={"session": session, "reason": str(exc)})
        return None
