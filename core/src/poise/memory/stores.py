"""A storage backend that forgets everything when the process ends: for tests and trials."""

from __future__ import annotations

from poise.memory.artifacts import MemoryArtifactStore
from poise.memory.repositories import MemoryRepository
from poise.memory.session_store import MemorySessionStore
from poise.ports.codecs import CUSTOMERS, SPENDING, TAGS, VALUES
from poise.ports.stores import ArtifactStore, ScopedStores, Stores
from poise.values.clock import Clock
from poise.values.scope import Scope


class MemoryStores(Stores):
    """Stores by tenant, made when a tenant is first asked for.

    Args:
        clock: Tells when a lease has run out.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tenants: dict[str, ScopedStores] = {}
        self._artifacts = MemoryArtifactStore()

    def scope(self, scope: Scope) -> ScopedStores:
        stores = self._tenants.get(scope.tenant)
        if stores is None:
            stores = self._tenants[scope.tenant] = ScopedStores(
                sessions=MemorySessionStore(self._clock),
                customers=MemoryRepository(CUSTOMERS),
                tags=MemoryRepository(TAGS),
                values=MemoryRepository(VALUES),
                spending=MemoryRepository(SPENDING),
            )
        return stores

    @property
    def artifacts(self) -> ArtifactStore:
        return self._artifacts
