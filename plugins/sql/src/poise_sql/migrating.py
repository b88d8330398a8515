"""Bringing a database's tables up to date, or refusing one that this version does not know."""

from __future__ import annotations

from sqlalchemy import Connection

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
    # Imported only when there is something to do: most starts find the tables up to date.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "poise_sql:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _current(connection: Connection, path: str) -> str | None:
    """Return the step that the database stands at; `None` for one without any tables."""
    tables = connection.exec_driver_sql(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).scalars()
    names = set(tables)
    if not names:
        return None
    if "alembic_version" in names and "events" in names:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        if isinstance(found, str):
            return found
    raise ConfigError(
        f"{path} is a database of something else (it holds {', '.join(sorted(names)[:3])}): "
        f"set sql.path to another file"
    )
