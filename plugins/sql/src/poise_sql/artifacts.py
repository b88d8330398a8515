"""Artifacts in SQLite: derived data by content hash."""

from __future__ import annotations

from sqlite3 import Connection

from sqlalchemy import bindparam, delete, insert, select

from poise.ports.stores import ArtifactStore
from poise_sql.database import SQLiteDatabase
from poise_sql.prepared import Prepared
from poise_sql.schema import ARTIFACTS

_LOAD = Prepared(select(ARTIFACTS.c.bytes).where(ARTIFACTS.c.key == bindparam("at_key")))
_REMOVE = Prepared(delete(ARTIFACTS).where(ARTIFACTS.c.key == bindparam("at_key")))
_ADD = Prepared(insert(ARTIFACTS))


class SQLiteArtifactStore(ArtifactStore):
    """Bytes by key, beside what they were derived from."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self._database = database

    async def load(self, key: str) -> bytes | None:
        row = await self._database.read(lambda connection: _LOAD.one(connection, at_key=key))
        return None if row is None else bytes(row[0])

    async def save(self, key: str, data: bytes) -> None:
        def write(connection: Connection) -> None:
            _REMOVE.do(connection, at_key=key)
            _ADD.do(connection, key=key, bytes=data)

        await self._database.write(write)
