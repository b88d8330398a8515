"""Repositories in SQLite: entities of one kind of one tenant, as versioned JSON by key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from poise.ports.stores import Codec, E, Record, Repository
from poise_sql.database import SQLiteDatabase
from poise_sql.rows import json_text
from poise_sql.schema import RECORDS


class SQLiteRepository(Repository[E]):
    """Entities by key.

    Args:
        codec: Turns entities into JSON and back; its kind is the namespace.
        database: Open while the repository is used.
        tenant: Whose.
    """

    def __init__(self, codec: Codec[E], database: SQLiteDatabase, tenant: str) -> None:
        super().__init__(codec)
        self._database = database
        self._tenant = tenant
        self._mine = (RECORDS.c.tenant == tenant) & (RECORDS.c.kind == codec.kind)

    async def _read(self, key: str) -> Record | None:
        statement = select(RECORDS.c.body, RECORDS.c.version).where(self._at(key))
        row = await self._database.read(
            lambda connection: connection.execute(statement).one_or_none()
        )
        return None if row is None else Record(json.loads(row.body), row.version)

    async def _write(self, key: str, body: Mapping[str, Any], expected: int | None) -> int:
        text = json_text(body, f"{self._codec.kind} {key!r}")

        def write(connection: Connection) -> int:
            known = connection.execute(select(RECORDS.c.version).where(self._at(key))).scalar()
            actual = known or 0
            if expected is not None and expected != actual:
                raise self._conflict(key, expected, actual)
            values = {"version": actual + 1, "body": text}
            if known is None:
                place = {"tenant": self._tenant, "kind": self._codec.kind, "key": key}
                connection.execute(insert(RECORDS), {**place, **values})
            else:
                connection.execute(update(RECORDS).where(self._at(key)).values(values))
            return actual + 1

        return await self._database.write(write)

    async def _remove(self, key: str) -> bool:
        statement = delete(RECORDS).where(self._at(key))
        removed = await self._database.write(
            lambda connection: connection.execute(statement).rowcount
        )
        return removed > 0

    async def _scan(self, after: str, limit: int) -> Sequence[tuple[str, Record]]:
        statement = (
            select(RECORDS.c.key, RECORDS.c.body, RECORDS.c.version)
            .where(self._mine, RECORDS.c.key > after)
            .order_by(RECORDS.c.key)
            .limit(limit)
        )
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return [(row.key, Record(json.loads(row.body), row.version)) for row in rows]

    def _at(self, key: str) -> ColumnElement[bool]:
        return self._mine & (RECORDS.c.key == key)
