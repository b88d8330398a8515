"""A running application: what is built, started, spoken to and stopped as one."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Self

import anyio

from poise import prompts
from poise.app.background import Background
from poise.app.config import Config
from poise.app.container import Overrides, build, core_offers
from poise.app.linting import Checks
from poise.app.plugins import PluginManager
from poise.engine.catalogs import Catalogs
from poise.engine.door import RoutedModels
from poise.engine.parts import Parts
from poise.engine.questioning import ROUTE as VERDICT_ROUTE
from poise.engine.routing import ModelRoutes
from poise.errors import InvalidValueError, NotFoundError, ProviderError
from poise.hooks.caller import HookCaller
from poise.hooks.findings import Finding, Severity
from poise.ports.discovery import Discoverer, Progress
from poise.ports.matching import Resolver
from poise.ports.runtime import ConversationEngine, Dispatcher, TurnOutcome, UtteranceRequest
from poise.ports.stores import Stores
from poise.turn.context import Wake
from poise.turn.control import Bail
from poise.turn.models import Capability
from poise.turn.prompts import Prompt
from poise.values.agents import Agent, Effort
from poise.values.catalog import CatalogSnapshot
from poise.values.clock import Clock
from poise.values.events import Event, EventKind, NewEvent, Source
from poise.values.ids import AgentId, CustomerId, EventId, IdSource, SessionId
from poise.values.scope import Scope
from poise.values.sessions import Session, SessionHeader, SessionMode

logger = logging.getLogger(__name__)

LONGEST_RETRY = 300.0
"""Seconds between two tries to index a catalog, at the most."""


@asynccontextmanager
async def opened_stores(config: Config, plugins: PluginManager) -> AsyncIterator[Stores]:
    """Open the stores that settings choose, and make nothing else.

    Raises:
        ConfigError: They are missing, or can't be used.
    """
    core_offers(plugins.offers.of_plugin("poise"))
    wiring = build(config, plugins.offers, HookCaller(plugins.implementations))
    stores: Stores = wiring.supply(Stores)
    try:
        await stores.start()
        yield stores
    finally:
        await stores.stop()


class Runtime:
    """One application: an async context manager around everything that its settings chose.

    Attributes:
        config: The settings.
        plugins: The plugins.
        clock: Tells the time.
        ids: Makes ids.
        stores: The storage.
        routes: Which models serve what.
        models: The door to all models, outside of turns.
        engine: Runs turns.
        discoverer: Finds rules; answers `explain`.
        catalogs: The catalogs that serve turns.
        resolver: Settles relations; answers what would have been.
        checks: What finds doubtful things about catalogs.
    """

    def __init__(self, config: Config, plugins: PluginManager, overrides: Overrides) -> None:
        self.config = config
        self.plugins = plugins
        self.hooks = HookCaller(plugins.implementations, config.plugins.agents)
        core_offers(plugins.offers.of_plugin("poise"))
        wiring = build(config, plugins.offers, self.hooks, cards=plugins.cards, overrides=overrides)
        self.clock: Clock = wiring.supply(Clock)
        self.ids: IdSource = wiring.supply(IdSource)
        self.stores: Stores = wiring.supply(Stores)
        self.discoverer: Discoverer = wiring.supply(Discoverer)
        self.routes: ModelRoutes = wiring.supply(ModelRoutes)
        # A route to what nobody offers must not wait for the first customer.
        self.routes.check()
        self.models: RoutedModels = wiring.supply(RoutedModels)
        self.catalogs: Catalogs = wiring.supply(Catalogs)
        parts = wiring.supply(Parts)
        self.resolver: Resolver = parts.resolver
        composers = parts.composers
        self.checks = Checks(
            plugins.implementations, [mode for each in composers for mode in each.modes]
        )
        self.engine: ConversationEngine = wiring.supply(ConversationEngine)
        self.dispatcher: Dispatcher = wiring.supply(Dispatcher)
        self._background = Background()
        self._stack = AsyncExitStack()

    @classmethod
    def build(
        cls, config: Config, plugins: PluginManager, *, overrides: Overrides | None = None
    ) -> Runtime:
        """Return an application that is put together and not started.

        Raises:
            ConfigError: Something that settings ask for is missing or can't be made.
        """
        return cls(config, plugins, overrides or {})

    async def __aenter__(self) -> Self:
        try:
            self._stack.push_async_callback(self.stores.stop)
            await self.stores.start()
            self._stack.push_async_callback(self._close_providers)
            await self._stack.enter_async_context(self._background)
            if self.models.serves("embed", Capability.EMBED):
                # The embedder gets ready while the program still declares its agents.
                self._background.start("getting the embedder ready", self.models.warm)
            await self._stack.enter_async_context(self.dispatcher)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, exc, traceback)

    async def _close_providers(self) -> None:
        for provider in self.routes.providers:
            try:
                await provider.aclose()
            except Exception:
                logger.exception("a provider was not closed", extra={"provider": provider.name})

    async def publish(self, snapshot: CatalogSnapshot, progress: Progress | None = None) -> None:
        """Check, annotate and index a catalog, then let it serve new turns.

        Findings of the checks are logged, one line per check; they stop nothing.
        """
        checked = self.checks.quick(snapshot)
        for failure in checked.failures:
            logger.error(
                "a check failed", extra={"plugin": failure.checker}, exc_info=failure.error
            )
        by_check: dict[str, list[Finding]] = {}
        for each in checked.found:
            by_check.setdefault(each.finding.check, []).append(each.finding)
        for check, found in by_check.items():
            more = f" (and {len(found) - 1} more of this kind)" if len(found) > 1 else ""
            level = logging.INFO if found[0].severity is Severity.NOTE else logging.WARNING
            logger.log(level, "%s: %s%s", check, found[0].message, more)
        await self.catalogs.publish(snapshot, progress)
        if self._waits_for_index(snapshot):
            self._background.start("indexing again", partial(self._index_again, snapshot))

    async def _index_again(self, snapshot: CatalogSnapshot) -> None:
        """Try until the catalog is indexed, or another has taken its place."""
        delay = self.config.limits().index_retry
        while self._waits_for_index(snapshot):
            await anyio.sleep(delay)
            delay = min(2 * delay, LONGEST_RETRY)
            if self._waits_for_index(snapshot):
                await self.catalogs.publish(snapshot)

    def _waits_for_index(self, snapshot: CatalogSnapshot) -> bool:
        published = self.catalogs.published(snapshot.agent.id)
        return (
            published is not None
            and bool(published.failure)
            and published.snapshot.version == snapshot.version
        )

    async def open_session(
        self,
        scope: Scope,
        agent: AgentId,
        customer: CustomerId,
        *,
        session: SessionId | None = None,
        title: str | None = None,
    ) -> Session:
        """Return the session of that id, made if need be; without an id a new one.

        Raises:
            NotFoundError: There is no such agent.
        """
        snapshot = self.catalogs.current(agent)
        if snapshot is None:
            raise NotFoundError("agent", agent)
        opened = await self.stores.scope(scope).sessions.open(
            SessionHeader(
                session or SessionId(self.ids.new("session")),
                agent,
                customer,
                self.clock.now(),
                title,
            )
        )
        if snapshot.agent.effort >= Effort.HIGH:
            # Its turns send many requests with one beginning: the first should find it cached.
            self._background.start(
                "caching what prompts begin with",
                partial(self._warm, snapshot.agent, opened.header.id),
            )
        return opened

    async def _warm(self, agent: Agent, session: SessionId) -> None:
        models = self.models.on_behalf_of(agent, session)
        try:
            await models.warm(route=VERDICT_ROUTE, prompt=Prompt.of(prompts.identity(agent)))
        except ProviderError as exc:
            logger.info("nothing was cached", extra={"reason": type(exc).__name__})

    async def receive(
        self,
        scope: Scope,
        session: SessionId,
        text: str,
        *,
        source: Source = Source.CUSTOMER,
    ) -> Event:
        """Store a message and, if a customer wrote it, see to it that a turn answers.

        Returns at once when it is stored.

        Raises:
            InvalidValueError: The text is blank, or a plugin refused it.
            HookError: A plugin failed over it; it was not stored.
            NotFoundError: There is no such session.
        """
        if not text.strip():
            raise InvalidValueError("message", "text", "is empty: there is nothing to answer")
        event = NewEvent(
            EventId(self.ids.new("event")),
            EventKind.MESSAGE,
            source,
            scope.actor,
            None,
            self.clock.now(),
            {"text": text},
        )
        return await self.append(scope, session, event)

    async def append(self, scope: Scope, session: SessionId, event: NewEvent) -> Event:
        """Store an event from outside a turn, after the hooks that may mask or refuse it.

        Raises:
            InvalidValueError: A plugin refused it.
            HookError: A plugin failed over it; it was not stored.
            NotFoundError: There is no such session.
        """
        answer = await self.hooks.fold("on_event", "event", event)
        if isinstance(answer, Bail):
            raise InvalidValueError("event", event.kind.value, f"was refused: {answer.reason}")
        stored = (await self.stores.scope(scope).sessions.append(session, [answer]))[0]
        if stored.is_customer_message:
            await self.dispatcher.dispatch(scope, session, Wake.MESSAGE)
        elif stored.kind is EventKind.MODE:
            # A hand-back answers what was asked meanwhile; a take-over stops the live turn.
            await self.dispatcher.dispatch(scope, session, Wake.OPERATOR)
        return stored

    async def set_mode(
        self, scope: Scope, session: SessionId, mode: SessionMode, *, reason: str = ""
    ) -> Event:
        """Hand the session to a person (MANUAL) or back to the agent (AUTO)."""
        return await self.append(
            scope,
            session,
            NewEvent(
                EventId(self.ids.new("event")),
                EventKind.MODE,
                Source.SYSTEM,
                scope.actor,
                None,
                self.clock.now(),
                {"mode": mode.value, "reason": reason},
            ),
        )

    async def utter(
        self, scope: Scope, session: SessionId, instructions: tuple[str, ...]
    ) -> TurnOutcome:
        """Make the agent say something unprompted."""
        return await self.engine.utter(UtteranceRequest(scope, session, tuple(instructions)))

    async def reply(self, scope: Scope, session: SessionId, *, after: int) -> AsyncIterator[Event]:
        """Yield the events that follow offset `after`, up to the `ready` of the answering turn.

        A cancelled turn's `ready` does not end it: the turn that took over will answer.
        """
        store = self.stores.scope(scope).sessions
        cancelled: set[str | None] = set()
        events = store.follow(session, after + 1)
        try:
            async for event in events:
                yield event
                status = event.data.get("status") if event.kind is EventKind.STATUS else None
                if status == "cancelled":
                    cancelled.add(event.turn)
                elif status == "ready" and event.turn not in cancelled:
                    return
        finally:
            closing = getattr(events, "aclose", None)
            if closing is not None:
                await closing()
