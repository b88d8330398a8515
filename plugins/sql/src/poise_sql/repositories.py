"""Repositories in SQLite: entities of one kind of one tenant, as versioned JSON by key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from sqlalchemy import Integer, and_, bindparam, delete, insert, select, update

from poise.ports.stores import Codec, E, Record, Repository
from poise_sql.database import SQLiteDatabase
from poise_sql.prepared import Prepared
from poise_sql.rows import json_text
from poise_sql.schema import RECORDS

_MINE = and_(RECORDS.c.tenant == bindparam("of_tenant"), RECORDS.c.kind == bindparam("of_kind"))
_AT = and_(_MINE, RECORDS.c.key == bindparam("at_key"))

_READ = Prepared(select(RECORDS.c.body, RECORDS.c.version).where(_AT))
_ADD = Prepared(insert(RECORDS))
_CHANGE = Prepared(
    update(RECORDS).where(_AT).values(version=bindparam("next"), body=bindparam("text"))
)
_REMOVE = Prepared(delete(RECORDS).where(_AT))
_SCAN = Prepared(
    select(RECORDS.c.key, RECORDS.c.body, RECORDS.c.version)
    .where(_MINE, RECORDS.c.key > bindparam("after"))
    .order_by(RECORDS.c.key)
    .limit(bindparam("most", type_=Integer))
)


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
        self._mine = {"of_tenant": tenant, "of_kind": codec.kind}

    async def _read(self, key: str) -> Record | None:
        row = await self._database.read(
            lambda connection: _READ.one(connection, **self._mine, at_key=key)
        )
        return None if row is None else Record(json.loads(row[0]), row[1])

    async def _write(self, key: str, body: Mapping[str, Any], expected: int | None) -> int:
        text = json_text(body, f"{self._codec.kind} {key!r}")

        def write(connection: Connection) -> int:
            known = _READ.one(connection, **self._mine, at_key=key)
            actual: int = 0 if known is None else known[1]
            if expected is not None and expected != actual:
                raise self._conflict(key, expected, actual)
            if known is None:
                _ADD.do(
                    connection,
                    tenant=self._mine["of_tenant"],
                    kind=self._codec.kind,
                    key=key,
                    version=1,
                    body=text,
                )
            else:
                _CHANGE.do(connection, **self._mine, at_key=key, next=actual + 1, text=text)
            return actual + 1

        return await self._database.write(write)

    async def _remove(self, key: str) -> bool:
        removed = await self._database.write(
            lambda connection: _REMOVE.do(connection, **self._mine, at_key=key)
        )
        return removed > 0

    async def _scan(self, after: str, limit: int) -> Sequence[tuple[str, Record]]:
        rows = await self._database.read(
            lambda connection: _SCAN.all(connection, **self._mine, after=after, most=limit)
        )
        return [(key, Record(json.loads(body), version)) for key, body, version in rows]
