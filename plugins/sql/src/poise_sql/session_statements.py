"""The statements of the session store."""

from __future__ import annotations

from functools import cache

from sqlalchemy import Integer, and_, bindparam, insert, or_, select, tuple_, update

from poise.values.events import EventKind
from poise_sql.prepared import Prepared
from poise_sql.schema import CHECKPOINTS, EVENTS, SESSIONS

_THIS = and_(SESSIONS.c.tenant == bindparam("of_tenant"), SESSIONS.c.id == bindparam("of_session"))

_SESSION_COLUMNS = (
    SESSIONS.c.id,
    SESSIONS.c.agent,
    SESSIONS.c.customer,
    SESSIONS.c.created,
    SESSIONS.c.title,
    SESSIONS.c.length,
)

SESSION = Prepared(select(*_SESSION_COLUMNS).where(_THIS))

_NEWEST_FIRST = (
    select(*_SESSION_COLUMNS)
    .where(SESSIONS.c.tenant == bindparam("of_tenant"))
    .order_by(SESSIONS.c.created.desc(), SESSIONS.c.id.desc())
    .limit(bindparam("most", type_=Integer))
)
NEWEST = Prepared(_NEWEST_FIRST)
OLDER_THAN = Prepared(
    _NEWEST_FIRST.where(
        tuple_(SESSIONS.c.created, SESSIONS.c.id)
        < tuple_(bindparam("last_created"), bindparam("last_id"))
    )
)

ADD_SESSION = Prepared(insert(SESSIONS))

LEASE = Prepared(
    select(SESSIONS.c.length, SESSIONS.c.owner, SESSIONS.c.epoch, SESSIONS.c.expires).where(_THIS)
)
HOLD = Prepared(
    update(SESSIONS)
    .where(_THIS)
    .values(owner=bindparam("holder"), epoch=bindparam("term"), expires=bindparam("until"))
)

# Lets nothing through that the fence or `after` forbids, and says where the new events end.
GROW = Prepared(
    update(SESSIONS)
    .where(
        _THIS,
        bindparam("if_length", type_=Integer).is_(None)
        | (SESSIONS.c.length == bindparam("if_length")),
        bindparam("if_epoch", type_=Integer).is_(None)
        | and_(
            SESSIONS.c.epoch == bindparam("if_epoch"), SESSIONS.c.owner == bindparam("if_owner")
        ),
    )
    .values(length=SESSIONS.c.length + bindparam("count"))
    .returning(SESSIONS.c.length)
)

ADD_EVENT = Prepared(insert(EVENTS))

ADD_CHECKPOINT = Prepared(insert(CHECKPOINTS))
KEEP_CHECKPOINT = Prepared(
    update(CHECKPOINTS)
    .where(
        CHECKPOINTS.c.tenant == bindparam("of_tenant"),
        CHECKPOINTS.c.session == bindparam("of_session"),
        CHECKPOINTS.c.offset < bindparam("upto"),
    )
    .values(offset=bindparam("upto"), state=bindparam("folded"))
)
LENGTH_AND_CHECKPOINT = Prepared(
    select(SESSIONS.c.length, CHECKPOINTS.c.offset, CHECKPOINTS.c.state)
    .join(
        CHECKPOINTS,
        and_(CHECKPOINTS.c.tenant == SESSIONS.c.tenant, CHECKPOINTS.c.session == SESSIONS.c.id),
    )
    .where(_THIS)
)


@cache
def events_from(kinds: frozenset[EventKind] | None, *, newest: bool) -> Prepared:
    """Return the statement for events of these kinds from offset `start` on.

    Args:
        kinds: Any, where it is `None`.
        newest: The newest `most` of them, newest first; otherwise all, oldest first.
    """
    statement = select(
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
    if kinds is not None:
        values = sorted(kind.value for kind in kinds)
        statement = statement.where(or_(False, *(EVENTS.c.kind == value for value in values)))
    if newest:
        most = bindparam("most", type_=Integer)
        return Prepared(statement.order_by(EVENTS.c.offset.desc()).limit(most))
    return Prepared(statement.order_by(EVENTS.c.offset))
