"""The application: what a program opens, declares its agents in, and talks to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
import anyio.to_thread

from poise.app.runtime import Runtime
from poise.app.startup import start
from poise.errors import DuplicateKeyError, InvalidValueError
from poise.ports.stores import Page, ScopedStores, Stores
from poise.sdk import customers
from poise.sdk.agent import Agent
from poise.sdk.arguments import choice, one, optional_text, routes, text, whole
from poise.sdk.declaring import key_of
from poise.sdk.draft import Draft, author_place
from poise.sdk.handlers import inline_plugins
from poise.sdk.hosting import ProgramOver, current_host
from poise.sdk.session import Session
from poise.sdk.tags import tag_named
from poise.values import agents
from poise.values.agents import (
    DEFAULT_APOLOGY,
    DEFAULT_NO_MATCH,
    CompositionMode,
    Effort,
    OutputMode,
)
from poise.values.customers import Customer, Tag
from poise.values.ids import GUEST, AgentId, CustomerId, SessionId, stable_id
from poise.values.scope import Scope

if TYPE_CHECKING:
    from poise.ports.discovery import Progress


class Application:
    """Agents with all that runs them: an async context manager.

    What is declared is compiled once: when a session is opened, at `start`, or when a command
    such as `poise chat` takes over. Declarations that come later serve from the next message of a
    `Session` on; a program that others talk to wraps them in `changes`.

    Args:
        config: The settings file; default: `POISE_CONFIG`, else `poise.toml` if there is one.
        settings: Settings of the program, laid out like the file; they win over file and
            environment.
        models: Which models serve a route, one or several in order: the table `[models]` of the
            settings.
        stores: The storage: the name of an offer, or the storage itself.
        plugins: Modules or objects, beside the installed plugins.
        hooks: Async functions named as the turn hook they implement, or objects with hookimpls.
        scope: On whose behalf; default: one tenant on one machine.
        installed: Whether installed plugins are loaded too.
        progress: Shown how far indexing has come.
        overrides: Instances to use in place of what would be made, by type.
    """

    def __init__(
        self,
        config: str | Path | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        models: Mapping[str, str | Sequence[str]] | None = None,
        stores: Stores | str | None = None,
        plugins: Sequence[object] = (),
        hooks: Sequence[Callable[..., Any] | object] = (),
        scope: Scope | None = None,
        installed: bool = True,
        progress: Progress | None = None,
        overrides: Mapping[type, object] | None = None,
    ) -> None:
        self.scope = Scope.local() if scope is None else scope
        self._file = None if config is None else Path(config)
        self._settings = dict(settings or {})
        if models is not None:
            self._settings["models"] = {**self._settings.get("models", {}), **models}
        self._overrides = dict(overrides or {})
        if isinstance(stores, Stores):
            self._overrides[Stores] = stores
        elif stores is not None:
            self._settings["stores"] = stores
        self._plugins = (*plugins, *inline_plugins(hooks))
        self._installed = installed
        self._progress = progress
        self._runtime: Runtime | None = None
        self._drafts: dict[AgentId, tuple[Draft, Agent]] = {}
        self._published: dict[AgentId, int] = {}
        self._publishing = anyio.Lock()
        self._changing = anyio.Lock()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self._runtime is not None:
            raise InvalidValueError("application", "state", "is open already")
        config, plugins = start(
            self._plugins,
            installed=None if self._installed else (),
            file=self._file,
            overrides=self._settings,
        )
        runtime = Runtime.build(config, plugins, overrides=self._overrides)
        # What was declared before went with the runtime that it was declared for.
        self._drafts, self._published = {}, {}
        self._runtime = await self._stack.enter_async_context(runtime)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            host = current_host()
            if exc is None and host is not None:
                await self.start()
                await host(self)
        finally:
            self._runtime = None
            await self._stack.__aexit__(kind, exc, traceback)

    # -- what it consists of --

    @property
    def runtime(self) -> Runtime:
        """What runs it.

        Raises:
            InvalidValueError: The application is not open.
        """
        if self._runtime is None:
            raise InvalidValueError(
                "application",
                "state",
                "is not open; write `async with poise.Application() as app:`",
            )
        return self._runtime

    @property
    def agents(self) -> Sequence[Agent]:
        """The agents that were declared, in that order."""
        return tuple(agent for _, agent in self._drafts.values())

    def place_of(self, agent: AgentId, subject: str) -> str:
        """Return `file:line` where something of an agent was declared; empty if unknown."""
        known = self._drafts.get(agent)
        return known[0].place_of(subject) if known else ""

    async def create_agent(
        self,
        name: str,
        *,
        instructions: str | None = None,
        description: str | None = None,
        id: str | None = None,
        effort: Effort | str = Effort.MEDIUM,
        composition_mode: CompositionMode | str = CompositionMode.FLUID,
        output_mode: OutputMode | str = OutputMode.BLOCK,
        max_iterations: int | None = None,
        max_engine_iterations: int | None = None,
        no_match: str = DEFAULT_NO_MATCH,
        apology: str = DEFAULT_APOLOGY,
        models: Mapping[str, str | Sequence[str]] | None = None,
    ) -> Agent:
        """Declare an agent; the same one again changes nothing.

        Args:
            name: What it is called; also its key.
            instructions: Who it is and what it is for; in every prompt.
            description: The same as `instructions`.
            id: Its id; default: derived from the name.
            effort: How much its turns may spend.
            composition_mode: How freely it may word a reply.
            output_mode: Whether a reply leaves whole or in chunks.
            max_iterations: How often a turn may prepare before it replies; default 3.
            max_engine_iterations: The same as `max_iterations`.
            no_match: What it says when no approved response fits.
            apology: What it says when a turn fails or runs out of time.
            models: Which models serve a route of this agent, one or several in order.

        Raises:
            InvalidValueError: Something that was said can't be; names the field.
            DuplicateKeyError: An agent of that key was declared with different content.
        """
        scoped = self._stores
        thing = f"agent {text('agent', 'name', name)!r}"
        said = one(
            thing,
            instructions=optional_text(thing, "instructions", instructions),
            description=optional_text(thing, "description", description),
        )
        passes = one(
            thing, max_iterations=max_iterations, max_engine_iterations=max_engine_iterations
        )
        agent = agents.Agent(
            id=AgentId(key_of(thing, id, stable_id("agent", "", name))),
            name=name,
            instructions=said or "",
            effort=choice(thing, "effort", effort, Effort),
            composition_mode=choice(thing, "composition_mode", composition_mode, CompositionMode),
            output_mode=choice(thing, "output_mode", output_mode, OutputMode),
            max_iterations=3 if passes is None else whole(thing, "max_iterations", passes),
            no_match=text(thing, "no_match", no_match),
            apology=text(thing, "apology", apology),
            models=routes(thing, "models", models),
        )
        known = self._drafts.get(agent.id)
        if known is None:
            draft = Draft(agent)
            known = self._drafts[agent.id] = draft, Agent(draft, scoped, self.runtime.clock)
        elif known[0].agent != agent:
            raise DuplicateKeyError(
                "application",
                f"agent {name!r}",
                "was declared before with other content",
                first_at=known[0].place,
                second_at=author_place(),
            )
        return known[1]

    async def create_customer(
        self,
        name: str,
        *,
        id: str | None = None,
        groups: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
        replace: bool = False,
    ) -> Customer:
        """Store a customer and return them; with the same id and content, nothing changes.

        Args:
            name: For people.
            id: As the program knows them; default: a new one each time.
            groups: Names of groups; rules may be for some of them only.
            metadata: Read by code, never put into a prompt.
            replace: Overwrite whoever has that id.

        Raises:
            InvalidValueError: Something that was said can't be.
            ConflictError: The id is taken by a customer with other content.
        """
        return await customers.create_customer(
            self._stores.customers,
            self.runtime.ids,
            name,
            id=id,
            groups=groups,
            metadata=metadata,
            replace=replace,
        )

    async def find_customers(
        self,
        filter: Callable[[Customer], bool] | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Customer]:
        """Return stored customers that pass `filter`, by id, each once over all pages."""
        return await self._stores.customers.find(filter, cursor=cursor, limit=limit)

    async def create_tag(self, name: str) -> Tag:
        """Return the tag of that name, kept for all agents; rules may carry it.

        Raises:
            InvalidValueError: The name is empty.
        """
        tag = tag_named(name)
        await self._stores.tags.put(tag)
        return tag

    # -- how it runs --

    async def start(self) -> None:
        """Compile what was declared since the last time, and let it serve.

        Raises:
            InvalidValueError: Something was declared that can't be compiled; what served before
                goes on serving.
        """
        async with self._publishing:
            due = [
                (draft.revision, draft.compilation())
                for draft, _ in self._drafts.values()
                if self._published.get(draft.agent.id) != draft.revision
            ]
            # All of them before any is published: one that can't be compiled changes nothing.
            compiled = [(revision, await anyio.to_thread.run_sync(work)) for revision, work in due]
            host = current_host()
            progress = self._progress or (host.progress if host else None)
            for revision, snapshot in compiled:
                await self.runtime.publish(snapshot, progress)
                self._published[snapshot.agent.id] = revision

    @asynccontextmanager
    async def changes(self) -> AsyncIterator[None]:
        """Declare several things as one: all of them serve once the block ends, or none.

        One block at a time; turns meanwhile go on with what served before.

        Raises:
            InvalidValueError: What was declared can't be compiled; it is forgotten.
        """
        async with self._changing:
            before = {
                key: (draft.mark(), draft, agent) for key, (draft, agent) in self._drafts.items()
            }
            try:
                yield
                await self.start()
            except BaseException:
                for mark, draft, _ in before.values():
                    draft.restore(mark)
                self._drafts = {key: (draft, agent) for key, (_, draft, agent) in before.items()}
                raise

    async def open_session(
        self,
        agent: Agent | str,
        customer: Customer | str | None = None,
        *,
        id: str | None = None,
        title: str | None = None,
    ) -> Session:
        """Return a new conversation, or the one that has that id already.

        Args:
            agent: Who answers: the agent, or its id.
            customer: Who asks: a customer, their id, or `None` for a guest.
            id: The session's id; default: a new one.
            title: For people.

        Raises:
            NotFoundError: There is no such agent.
            InvalidValueError: What was declared can't be compiled.
        """
        host = current_host()
        if host is not None and not host.with_sessions:
            await self.start()
            await host(self)
            raise ProgramOver
        await self._refresh()
        opened = await self.runtime.open_session(
            self.scope,
            agent.id if isinstance(agent, Agent) else AgentId(agent),
            _customer_id(customer),
            session=None if id is None else SessionId(text("session", "id", id)),
            title=optional_text("session", "title", title),
        )
        return Session(self.runtime, self.scope, opened, refresh=self._refresh)

    async def _refresh(self) -> None:
        # Within a block of changes nothing half-declared may serve.
        if not self._changing.locked():
            await self.start()

    @property
    def _stores(self) -> ScopedStores:
        return self.runtime.stores.scope(self.scope)


def _customer_id(customer: Customer | str | None) -> CustomerId:
    if customer is None:
        return GUEST
    if isinstance(customer, Customer):
        return customer.id
    return CustomerId(text("customer", "id", customer))


Server = Application
"""The same under another name."""
