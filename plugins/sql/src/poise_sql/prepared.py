"""Statements of SQLAlchemy Core, compiled once and run by the driver.

A turn makes some thirty statements. Compiled each time, even from SQLAlchemy's cache, they cost
about ten times what SQLite takes to carry them out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import sqlite

Row = Sequence[Any]
"""Columns in the statement's order: whatever the database holds in them."""


class Prepared:
    """A statement whose parameters are given by name.

    Args:
        statement: Of SQLAlchemy Core; values written into it are kept.
    """

    def __init__(self, statement: ClauseElement) -> None:
        compiled = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
        self._text = str(compiled)
        self._given = {
            name: value for name, value in (compiled.params or {}).items() if value is not None
        }

    def do(self, connection: sqlite3.Connection, **parameters: Any) -> int:
        """Run it and return how many rows it changed."""
        return connection.execute(self._text, {**self._given, **parameters}).rowcount

    def do_all(self, connection: sqlite3.Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Run it once for each of `rows`."""
        connection.executemany(self._text, rows)

    def one(self, connection: sqlite3.Connection, **parameters: Any) -> Row | None:
        """Return the only row, or `None`."""
        # All of it is fetched: a statement that is not finished would hold its transaction up.
        rows = self.all(connection, **parameters)
        return rows[0] if rows else None

    def all(self, connection: sqlite3.Connection, **parameters: Any) -> Sequence[Row]:
        """Return every row."""
        return connection.execute(self._text, {**self._given, **parameters}).fetchall()
