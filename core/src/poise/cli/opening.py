"""How a command gets at stored conversations, at one of them, and at models alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import attrs

from poise.app.config import Config
from poise.app.container import build, core_offers
from poise.app.plugins import PluginManager
from poise.app.runtime import opened_stores
from poise.app.startup import start
from poise.engine.routing import ModelRoutes
from poise.errors import NotFoundError, PoiseError
from poise.hooks.caller import HookCaller
from poise.ports.stores import ArtifactStore, ScopedStores, Stores
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


@attrs.frozen
class OpenedModels:
    """The models of an application that does nothing else.

    Attributes:
        config: The settings.
        plugins: Whose hooks hear of requests, as in the application.
        routes: Which models serve what.
        artifacts: Where findings are kept; `None` where the stores can't be opened.
    """

    config: Config
    plugins: PluginManager
    routes: ModelRoutes
    artifacts: ArtifactStore | None


@asynccontextmanager
async def opened_models(file: Path | None) -> AsyncIterator[OpenedModels]:
    """Put together the models that the settings choose; none is asked anything by that.

    Raises:
        ConfigError: Settings are wrong, or name a model that is not on offer.
    """
    config, plugins = start(file=file)
    core_offers(plugins.offers.of_plugin("poise"))
    hooks = HookCaller(plugins.implementations, config.plugins.agents)
    wiring = build(config, plugins.offers, hooks, cards=plugins.cards)
    routes: ModelRoutes = wiring.supply(ModelRoutes)
    stores: Stores | None = None
    try:
        with suppress(PoiseError, OSError):  # models can be looked at without a database
            made: Stores = wiring.supply(Stores)
            await made.start()
            stores = made
        yield OpenedModels(
            config,
            plugins,
            routes,
            stores.artifacts if stores else None,
        )
    finally:
        with anyio.CancelScope(shield=True):
            for provider in routes.providers:
                await provider.aclose()
            if stores is not None:
                await stores.stop()
