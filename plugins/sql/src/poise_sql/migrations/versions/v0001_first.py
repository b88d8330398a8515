"""The first tables: sessions with their events and checkpoints, records, artifacts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "sessions",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("customer", sa.Text, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("created", long, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("expires", long),
        sqlite_strict=True,
    )
    op.create_index("sessions_by_age", "sessions", ["tenant", "created", "id"])
    op.create_table(
        "checkpoints",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("offset", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["tenant", "session"], ["sessions.tenant", "sessions.id"]),
        sqlite_strict=True,
    )
    op.create_table(
        "events",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("offset", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("turn", sa.Text),
        sa.Column("at", long, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["tenant", "session"], ["sessions.tenant", "sessions.id"]),
        sqlite_strict=True,
    )
    op.create_table(
        "records",
        sa.Column("tenant", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "artifacts",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("bytes", sa.LargeBinary, nullable=False),
        sqlite_strict=True,
    )
