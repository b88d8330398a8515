"""How a command gets at stored conversations, and at one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from poise.app.runtime import opened_stores
from poise.app.startup import start
from poise.errors import NotFoundError
from poise.ports.stores import ScopedStores
from poise.values.ids import SessionId
from poise.values.scope import Scope
from poise.values.sessions import Session

LAST = "last"
"""What to write in place of an id for the newest session."""


@asynccontextmanager
async def local_stores(file: Path | None) -> AsyncIterator[ScopedStores]:
    """Open the stores that the settings choose, and nothing else; the scope is the local one."""
    config, plugins = start(file=file)
    async with opened_stores(config, plugins) as stores:
        yield stores.scope(Scope.local())


async def find_session(stores: ScopedStores, wanted: str) -> Session:
    """Return the session of that id, or the newest one for `last`.

    Raises:
        NotFoundError: There is none.
    """
    if wanted != LAST:
        return await stores.sessions.get(SessionId(wanted))
    newest = await stores.sessions.find(limit=1)
    if not newest.items:
        raise NotFoundError("session", LAST)
    return newest.items[0]
