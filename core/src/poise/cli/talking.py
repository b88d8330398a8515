"""One conversation on the terminal: reads a line, has it answered, prints what was said."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio
import attrs
import click

from poise.app.explain import TurnRecord, turn_records, turn_to_json
from poise.cli.accounts import compact_text
from poise.cli.lines import lines
from poise.cli.opening import LAST, find_session
from poise.cli.output import write_json
from poise.cli.tables import faint, heading, one_line, printable, write
from poise.errors import ConfigError, NotFoundError, PoiseError
from poise.ports.stores import ScopedStores
from poise.sdk.hosting import HostedAgent, HostedApplication
from poise.values.customers import Customer
from poise.values.events import Event, EventKind
from poise.values.ids import GUEST, AgentId, CustomerId, IdSource, SessionId, TurnId
from poise.values.sessions import Session, SessionMode

_PATIENCE = 5.0  # seconds beyond a turn's own deadline


class Talk:
    """A session between whoever types and one agent.

    Args:
        application: Runs the turns.
        agent: Who answers.
        session: Where it is kept.
    """

    def __init__(
        self, application: HostedApplication, agent: HostedAgent, session: Session
    ) -> None:
        self._runtime = application.runtime
        self._scope = application.scope
        self._agent = agent
        self._id = session.header.id
        self._length = session.length
        self._sessions = self._runtime.stores.scope(self._scope).sessions
        self._turns = 0

    @classmethod
    async def open(
        cls,
        application: HostedApplication,
        *,
        session: str | None = None,
        agent: str | None = None,
        customer: str | None = None,
    ) -> Talk:
        """Return a talk with one of the application's agents, in a new session or an earlier one.

        Raises:
            ConfigError: There is no such agent, or the session belongs to another one.
        """
        runtime = application.runtime
        stores = runtime.stores.scope(application.scope)
        known = await _known_session(stores, session)
        if known is not None:
            chosen = _agent_of(application.agents, known.header.agent)
            return cls(application, chosen, known)
        chosen = _agent_named(application.agents, agent)
        opened = await runtime.open_session(
            application.scope,
            chosen.id,
            await _customer(stores, runtime.ids, customer),
            session=SessionId(session) if session and session != LAST else None,
        )
        return cls(application, chosen, opened)

    async def run(self, *, with_why: bool = False, as_json: bool = False) -> None:
        """Answer line after line until stdin ends."""
        typed_live = sys.stdin.isatty()
        self._turns = await self._count_turns()
        begun = f"continuing, {self._length} events" if self._length else "new"
        write(faint(f"{self._agent.name} · session {self._id} ({begun}) · Ctrl-D ends"), err=True)
        _prompt(typed_live)
        async for line in lines():
            if line.strip():
                if not typed_live and not as_json:
                    write(f"> {one_line(line)}")
                await self._answer(line, with_why=with_why, as_json=as_json)
            _prompt(typed_live)

    async def _answer(self, text: str, *, with_why: bool, as_json: bool) -> None:
        try:
            events = await self._exchange(text, shown=not as_json)
        except PoiseError as exc:
            write(f"poise: {exc}", err=True)  # of this message alone; the session goes on
            return
        record = self._record(events)
        if record is None:
            return
        if as_json:
            write_json({"session": self._id, **turn_to_json(record)})
        elif with_why:
            write(compact_text(record))

    async def _exchange(self, text: str, *, shown: bool) -> Sequence[Event]:
        """Have `text` answered, and return its events and those of the answer."""
        scope = self._scope
        event = await self._runtime.receive(scope, self._id, text)
        events = [event]
        if await self._is_manual():
            write("a person has taken this session over; the agent does not answer", err=True)
            return events
        patience = self._runtime.config.engine.turn_deadline + _PATIENCE
        with anyio.move_on_after(patience) as waited:
            seen: set[TurnId | None] = set()
            async for each in self._runtime.reply(scope, self._id, after=event.offset):
                events.append(each)
                if shown and each.is_agent_message:
                    write(f"{heading(self._agent.name + ':')} {printable(each.text)}")
                if each.kind is EventKind.STATUS:
                    seen.add(each.turn)
                elif each.kind is EventKind.MATCH and each.turn not in seen:
                    break  # a hook ended the turn unseen: no status will follow
        if waited.cancelled_caught:
            write(f"no answer within {patience:g} s", err=True)
        elif not any(each.is_agent_message for each in events):
            write(f"{self._agent.name} says nothing", err=True)
        return events

    def _record(self, events: Sequence[Event]) -> TurnRecord | None:
        """Return the account of the turn that answered, numbered as `poise why` counts."""
        records = turn_records(events)
        self._turns += len(records)
        return attrs.evolve(records[-1], number=self._turns) if records else None

    async def _count_turns(self) -> int:
        history = await self._sessions.read(self._id, kinds=frozenset({EventKind.MATCH}))
        return len(history.events)

    async def _is_manual(self) -> bool:
        history = await self._sessions.read(self._id, last=1, kinds=frozenset({EventKind.MODE}))
        return any(each.data.get("mode") == SessionMode.MANUAL.value for each in history.events)


def _prompt(typed_live: bool) -> None:
    if typed_live:
        click.echo("> ", err=True, nl=False)


async def _known_session(stores: ScopedStores, wanted: str | None) -> Session | None:
    if wanted is None:
        return None
    try:
        return await find_session(stores, wanted)
    except NotFoundError:
        return None


def _agent_of(agents: Sequence[HostedAgent], wanted: AgentId) -> HostedAgent:
    for agent in agents:
        if agent.id == wanted:
            return agent
    raise ConfigError(f"the session belongs to the agent {wanted!r}, which this program lacks")


def _agent_named(agents: Sequence[HostedAgent], name: str | None) -> HostedAgent:
    if not agents:
        raise ConfigError("the program declares no agent; call create_agent in it")
    if name is None:
        return agents[0]
    for agent in agents:
        if name in (agent.name, agent.id):
            return agent
    offered = ", ".join(repr(agent.name) for agent in agents)
    raise ConfigError(f"the program declares no agent {name!r}; there are: {offered}")


async def _customer(stores: ScopedStores, ids: IdSource, name: str | None) -> CustomerId:
    """Return the customer of that name, made if need be."""
    if name is None:
        return GUEST
    known = await stores.customers.find(lambda each: name in (each.name, each.id), limit=1)
    if known.items:
        return known.items[0].id
    customer = Customer(id=CustomerId(ids.new("customer")), name=name)
    await stores.customers.create(customer)
    return customer.id
