"""The tables. Times are whole microseconds since 1970 in UTC; JSON is text.

A change here needs a step in `migrations/versions` that makes it, and `HEAD` to name that step.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

HEAD = "0001"
"""The newest step of the migrations."""

METADATA = MetaData()

# SQLite's strict tables know INTEGER alone, which holds 64 bits there.
_Long = BigInteger().with_variant(Integer(), "sqlite")


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("agent", Text, nullable=False),
    Column("customer", Text, nullable=False),
    Column("title", Text),
    Column("created", _Long, nullable=False),
    Column("length", Integer, nullable=False),
    Column("owner", Text),
    Column("epoch", Integer, nullable=False),
    Column("expires", _Long),
    Index("sessions_by_age", "tenant", "created", "id"),
    sqlite_strict=True,
)

# Apart from the session's row, which every append rewrites.
CHECKPOINTS = Table(
    "checkpoints",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("offset", Integer, nullable=False),
    Column("state", Text, nullable=False),
    ForeignKeyConstraint(["tenant", "session"], ["sessions.tenant", "sessions.id"]),
    sqlite_strict=True,
)

EVENTS = Table(
    "events",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("session", Text, primary_key=True),
    Column("offset", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("turn", Text),
    Column("at", _Long, nullable=False),
    Column("data", Text, nullable=False),  # last: what looks for a kind need not read past it
    ForeignKeyConstraint(["tenant", "session"], ["sessions.tenant", "sessions.id"]),
    sqlite_strict=True,
)

RECORDS = Table(
    "records",
    METADATA,
    Column("tenant", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_strict=True,
)

ARTIFACTS = Table(
    "artifacts",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("bytes", LargeBinary, nullable=False),
    sqlite_strict=True,
)
