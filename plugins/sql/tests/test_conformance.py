"""The SQLite stores keep every promise of their ports."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import anyio
import pytest
from hypothesis import settings

from poise.ports.stores import ArtifactStore, Repository, SessionStore, Stores
from poise.testing.clock import FrozenClock
from poise.testing.stores import (
    ArtifactStoreConformance,
    RepositoryConformance,
    SessionStoreConformance,
    SessionStoreMachine,
    StoresConformance,
)
from poise.values.customers import Customer
from poise.values.scope import Scope
from poise_sql import SQLiteStores, SqlSettings

SCOPE = Scope.local()


class TestSQLiteSessionStore(SessionStoreConformance):
    @pytest.fixture
    def subject(self, stores: SQLiteStores) -> SessionStore:
        return stores.scope(SCOPE).sessions


class TestSQLiteRepository(RepositoryConformance):
    @pytest.fixture
    def subject(self, stores: SQLiteStores) -> Repository[Customer]:
        return stores.scope(SCOPE).customers


class TestSQLiteArtifactStore(ArtifactStoreConformance):
    @pytest.fixture
    def subject(self, stores: SQLiteStores) -> ArtifactStore:
        return stores.artifacts


class TestSQLiteStores(StoresConformance):
    @pytest.fixture
    def subject(self, stores: SQLiteStores) -> Stores:
        return stores


@cache
def empty_database() -> bytes:
    """A migrated file, made once: a machine opens a new one for every example."""
    folder = Path(mkdtemp())
    path = folder / "empty.db"

    async def make() -> None:
        stores = SQLiteStores(FrozenClock(), SqlSettings(path=path))
        await stores.start()
        await stores.stop()

    anyio.run(make)
    data = path.read_bytes()
    shutil.rmtree(folder)
    return data


class SQLiteMachine(SessionStoreMachine):
    def open(self) -> SessionStore:
        self.folder = Path(mkdtemp())
        (self.folder / "poise.db").write_bytes(empty_database())
        return self._start()

    def reopen(self, store: SessionStore) -> SessionStore:
        self.wait(self.stores.stop)
        return self._start()

    def close(self) -> None:
        if hasattr(self, "stores"):
            self.wait(self.stores.stop)
            shutil.rmtree(self.folder)

    def _start(self) -> SessionStore:
        self.stores = SQLiteStores(self.clock, SqlSettings(path=self.folder / "poise.db"))
        self.wait(self.stores.start)
        return self.stores.scope(SCOPE).sessions


TestSQLiteMachine = SQLiteMachine.TestCase
TestSQLiteMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
