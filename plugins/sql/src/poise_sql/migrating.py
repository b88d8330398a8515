"""Bringing a database's tables up to date, or refusing one that this version does not know."""

from __future__ import annotations

from sqlite3 import Connection

from poise.errors import ConfigError
from poise_sql.schema import HEAD


def migrate(connection: Connection, path: str) -> None:
    """Make or change the tables as `HEAD` has them, in a transaction of their own.

    Whole or not at all: a step that fails leaves the database as it was. Of several processes
    that come at once, one does it and the others wait.

    Raises:
        ConfigError: The database is a newer version's, or somebody else's.
    """
    if not _is_current(connection, path):
        _upgrade(connection, path)


def _is_current(connection: Connection, path: str) -> bool:
    current = _current(connection, path)
    if current is not None and current > HEAD:
        raise ConfigError(
            f"{path} was written by a newer poise-sql (tables {current}, known here up to {HEAD}): "
            f"upgrade poise-sql, or set sql.path to another file"
        )
    return current == HEAD


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


def _upgrade(connection: Connection, path: str) -> None:
    # Imported only when there is something to do: most starts find the tables up to date.
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import StaticPool, create_engine, event
    from sqlalchemy.exc import DBAPIError

    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: connection,
        poolclass=StaticPool,
        pool_reset_on_return=None,  # the connection goes on after this
    )
    # The lock is taken here, since SQLAlchemy rolls back whatever it finds on a new connection.
    event.listen(engine, "begin", lambda each: each.exec_driver_sql("BEGIN IMMEDIATE"))
    config = Config()
    config.set_main_option("script_location", "poise_sql:migrations")
    try:
        with engine.begin() as migrating:
            config.attributes["connection"] = migrating
            if not _is_current(connection, path):  # another process may have been first
                command.upgrade(config, "head")
    except DBAPIError as exc:
        raise exc.orig or exc from exc  # the driver's own, as from any other statement
