"""What a session store does within one transaction: functions of a connection, and no waiting."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import timedelta
from sqlite3 import Connection

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
from poise_sql import session_statements as statements
from poise_sql.prepared import Prepared, Row
from poise_sql.rows import event_of, event_row, json_text, micros, session_of

logger = logging.getLogger(__name__)

_NO_CHECKPOINT = -1


def open_session(connection: Connection, tenant: str, header: SessionHeader) -> Session:
    """Return the session of that id, made if need be."""
    known = statements.SESSION.one(connection, of_tenant=tenant, of_session=header.id)
    if known is not None:
        return session_of(known)
    statements.ADD_SESSION.do(
        connection,
        tenant=tenant,
        id=header.id,
        agent=header.agent,
        customer=header.customer,
        title=header.title,
        created=micros(header.created),
        length=0,
        owner=None,
        epoch=0,
        expires=None,
    )
    statements.ADD_CHECKPOINT.do(
        connection, tenant=tenant, session=header.id, offset=_NO_CHECKPOINT, state="{}"
    )
    return Session(header, 0)


def get_session(connection: Connection, tenant: str, session: SessionId) -> Session:
    """Return the session of that id, or raise `NotFoundError`."""
    return session_of(_found(connection, statements.SESSION, tenant, session))


def find_sessions(
    connection: Connection, tenant: str, *, cursor: str | None, limit: int
) -> Sequence[Session]:
    """Return up to `limit` sessions, newest first, after the one that `cursor` names."""
    if cursor is None:
        return [
            session_of(row)
            for row in statements.NEWEST.all(connection, of_tenant=tenant, most=limit)
        ]
    last = statements.SESSION.one(connection, of_tenant=tenant, of_session=cursor)
    if last is None:
        raise InvalidValueError("sessions", "cursor", f"{cursor!r} was not given out here")
    header = session_of(last).header
    rows = statements.OLDER_THAN.all(
        connection,
        of_tenant=tenant,
        last_created=micros(header.created),
        last_id=header.id,
        most=limit,
    )
    return [session_of(row) for row in rows]


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
    grown = statements.GROW.one(
        connection,
        of_tenant=tenant,
        of_session=session,
        count=len(events),
        if_length=after,
        if_epoch=None if fence is None else fence.epoch,
        if_owner=None if fence is None else fence.owner,
    )
    if grown is None or (fence is not None and fence.session != session):
        raise _refusal(connection, tenant, session, fence=fence, after=after)
    start = grown[0] - len(events)
    statements.ADD_EVENT.do_all(
        connection,
        [
            event_row(event, tenant=tenant, session=session, offset=offset)
            for offset, event in enumerate(events, start)
        ],
    )
    if checkpoint is not None:
        statements.KEEP_CHECKPOINT.do(
            connection,
            of_tenant=tenant,
            of_session=session,
            upto=checkpoint.offset,
            folded=json_text(state_to_json(checkpoint.state), "checkpoint"),
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
    length, owner, epoch, _expires = _found(connection, statements.LEASE, tenant, session)
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
    length, upto, state = _found(connection, statements.LENGTH_AND_CHECKPOINT, tenant, session)
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
    statement = statements.events_from(kinds, newest=last is not None)
    rows = statement.all(connection, of_tenant=tenant, of_session=session, start=start, most=last)
    return [event_of(row, session) for row in (rows if last is None else reversed(rows))]


def _checkpoint(session: SessionId, upto: int, text: str) -> Checkpoint | None:
    if upto == _NO_CHECKPOINT:
        return None
    try:
        return Checkpoint(upto, state_from_json(json.loads(text)))
    except (InvalidValueError, json.JSONDecodeError) as exc:
        # A checkpoint saves time and holds nothing that the log does not: fold afresh.
        logger.info("a checkpoint is not used", extra={"session": session, "reason": str(exc)})
        return None


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
    _length, holder, epoch, expires = _found(connection, statements.LEASE, tenant, session)
    now = clock.now()  # under the lock: what was read before waiting for it would be stale
    if holder != owner:
        if holder is not None and micros(now) < expires:
            return None
        epoch += 1
    statements.HOLD.do(
        connection,
        of_tenant=tenant,
        of_session=session,
        holder=owner,
        term=epoch,
        until=micros(now + ttl),
    )
    return Fence(session, owner, epoch)


def release_session(connection: Connection, tenant: str, fence: Fence) -> None:
    """Give the lease up, unless it is stale."""
    row = statements.LEASE.one(connection, of_tenant=tenant, of_session=fence.session)
    if row is None:
        return
    _length, owner, epoch, _expires = row
    if (owner, epoch) == (fence.owner, fence.epoch):
        statements.HOLD.do(
            connection,
            of_tenant=tenant,
            of_session=fence.session,
            holder=None,
            term=epoch,
            until=None,
        )


def _found(connection: Connection, statement: Prepared, tenant: str, session: SessionId) -> Row:
    row = statement.one(connection, of_tenant=tenant, of_session=session)
    if row is None:
        raise NotFoundError("session", session)
    return row
