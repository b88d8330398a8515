"""The storage backend: everything in one SQLite file."""

from __future__ import annotations

from poise.ports.codecs import CUSTOMERS, SPENDING, TAGS, VALUES
from poise.ports.stores import ArtifactStore, ScopedStores, Stores
from poise.values.clock import Clock
from poise.values.scope import Scope
from poise_sql.artifacts import SQLiteArtifactStore
from poise_sql.database import SQLiteDatabase
from poise_sql.repositories import SQLiteRepository
from poise_sql.session_store import Appended, SQLiteSessionStore
from poise_sql.settings import SqlSettings


class SQLiteStores(Stores):
    """Stores in the file of `settings.path`, shared with whichever processes open it too.

    Args:
        clock: Tells when a lease has run out.
        settings: The section `sql`.
    """

    def __init__(self, clock: Clock, settings: SqlSettings) -> None:
        self._clock = clock
        self._database = SQLiteDatabase(settings)
        self._appended = Appended()
        self._artifacts = SQLiteArtifactStore(self._database)
        self._tenants: dict[str, ScopedStores] = {}

    async def start(self) -> None:
        await self._database.open()

    async def stop(self) -> None:
        await self._database.close()

    def scope(self, scope: Scope) -> ScopedStores:
        stores = self._tenants.get(scope.tenant)
        if stores is None:
            stores = self._tenants[scope.tenant] = self._of(scope.tenant)
        return stores

    @property
    def artifacts(self) -> ArtifactStore:
        return self._artifacts

    def _of(self, tenant: str) -> ScopedStores:
        database = self._database
        return ScopedStores(
            sessions=SQLiteSessionStore(database, tenant, self._clock, appended=self._appended),
            customers=SQLiteRepository(CUSTOMERS, database, tenant),
            tags=SQLiteRepository(TAGS, database, tenant),
            values=SQLiteRepository(VALUES, database, tenant),
            spending=SQLiteRepository(SPENDING, database, tenant),
        )
