"""Artifacts in SQLite: derived data by content hash."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from poise.ports.stores import ArtifactStore
from poise_sql.database import SQLiteDatabase
from poise_sql.schema import ARTIFACTS


class SQLiteArtifactStore(ArtifactStore):
    """Bytes by key, beside what they were derived from."""

    def __init__(self, database: SQLiteDatabase) -> None:
        self._database = database

    async def load(self, key: str) -> bytes | None:
        statement = select(ARTIFACTS.c.bytes).where(ARTIFACTS.c.key == key)
        return await self._database.read(lambda connection: connection.execute(statement).scalar())

    async def save(self, key: str, data: bytes) -> None:
        def write(connection: Connection) -> None:
            connection.execute(delete(ARTIFACTS).where(ARTIFACTS.c.key == key))
            connection.execute(insert(ARTIFACTS), {"key": key, "bytes": data})

        await self._database.write(write)
