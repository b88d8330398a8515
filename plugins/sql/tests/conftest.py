"""A database file of its own for each test, and anyio's backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from poise.testing.clock import FrozenClock
from poise_sql import SQLiteStores, SqlSettings


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "poise.db"


@pytest.fixture
async def stores(clock: FrozenClock, path: Path) -> AsyncIterator[SQLiteStores]:
    stores = SQLiteStores(clock, SqlSettings(path=path))
    await stores.start()
    yield stores
    await stores.stop()
