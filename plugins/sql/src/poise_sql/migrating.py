"""Bringing a database's tables up to date, or refusing one that this version does not know."""

from __future__ import annotations

from sqlite3 import Connection

from poise.errors import ConfigError
from poise_sql.schema import HEAD


def migrate(connection: Connection, path: str) -> None:
    """Make or change the tables as `HEAD` has them, within the connection's open transaction.

    Whole or not at all: a step that fails leaves the database as it was.

    Raises:
        ConfigError: The database is a newer version's, or somebody else's.
    """
    current = _current(connection, path)
    if current == HEAD:
        return
    if current is not None and current > HEAD:
        raise ConfigError(
            f"{path} was written by a newer poise-sql (tables {current}, known here up to {HEAD}): "
            f"upgrade poise-sql, or set sql.path to another file"
        )
    _upgrade(connection)


def _current(connection: Connection, path: str) -> str | None:
    """Return the step that the database stands at; `None` for one without any tables."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    names = {name for (name,) in tables.fetchall()}
    if not names:
        return None
    if {"alembic_version", "events"} <= names:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        if found:
            return str(found[0][0])
    raise ConfigError(
        f"{path} is a database of something else (it holds {', '.join(sorted(names)[:3])}): "
        f"set sql.path to another file"
    )


def _upgrade(connection: Connection) -> None:
    # Imported only when there is something to do: most starts find the tables up to date.
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import StaticPool, create_engine

    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: connection,
        poolclass=StaticPool,
        pool_reset_on_return=None,  # the connection goes on after this
    )
    config = Config()
    config.set_main_option("script_location", "poise_sql:migrations")
    with engine.begin() as migrating:
        config.attributes["connection"] = migrating
        command.upgrade(config, "head")
