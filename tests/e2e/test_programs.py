"""Programs as newcomers write them: run unchanged, then talked to by a host."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path

import pytest

import poise
from poise.sdk.hosting import Host, HostedApplication, hosted

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("installed")]

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[[str, Callable[[poise.Application], Awaitable[None]]], Awaitable[None]]


class Silence:
    """Progress that nobody watches."""

    def report(self, phase: str, done: int, total: int) -> None: ...


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a program's `main` and hands its application over."""

    async def run_program(path: str, serve: Callable[[poise.Application], Awaitable[None]]) -> None:
        folder, _, module = path.rpartition("/")
        monkeypatch.syspath_prepend(str(PROGRAMS / folder))
        served: list[bool] = []

        async def take_over(application: HostedApplication) -> None:
            assert isinstance(application, poise.Application)
            await serve(application)
            served.append(True)

        known = set(sys.modules)
        try:
            with hosted(Host(take_over, Silence())):
                await import_module(module).main()
        finally:
            for name in set(sys.modules) - known:
                if str(PROGRAMS) in (getattr(sys.modules[name], "__file__", None) or ""):
                    del sys.modules[name]
        assert served, "the program ended without handing its application over"

    return run_program


async def test_domain_of_loans_answers_from_its_tool(run: Run) -> None:
    async def talk(app: poise.Application) -> None:
        (agent,) = app.agents
        session = await app.open_session(agent)

        asked = await session.say("When is this loan due?")
        answered = await session.say("L-204")

        assert "loan number" in asked.text
        assert answered.text == "Moby-Dick is due on Friday."
        assert answered.ledger is not None
        assert [(call.tool, call.outcome) for call in answered.ledger.calls] == [
            ("get_loan_status", "finished")
        ]

    await run("lending/library", talk)


async def test_domain_of_loans_loads_its_variable(run: Run) -> None:
    async def talk(app: poise.Application) -> None:
        (agent,) = app.agents
        session = await app.open_session(agent)
        catalog = app.runtime.catalogs.current(agent.id)
        assert catalog is not None

        await session.say("hello")

        assert [term.name for term in catalog.terms.values()] == ["due date"]
        (variable,) = catalog.variables
        stores = app.runtime.stores.scope(app.scope)
        value = await stores.values.get(f"{variable}/{session.customer}")
        assert value.value.data == ["Moby-Dick"]

    await run("lending/library", talk)


NEW = "introduce the shop and ask what they want printed"
REGULAR = "welcome them back and ask how the last job turned out"


def fates(app: poise.Application, reply: poise.Reply) -> dict[str | None, str]:
    """Return what became of each rule, by what it says to do."""
    catalog = catalog_of(app)
    assert reply.ledger is not None
    said_to_do = {str(rule.id): rule.then for rule in catalog.rules.values()}
    return {said_to_do[line.subject]: line.fate for line in reply.ledger.lines}


def catalog_of(app: poise.Application) -> poise.CatalogSnapshot:
    catalog = app.runtime.catalogs.current(app.agents[0].id)
    assert catalog is not None
    return catalog


async def test_first_agent_settles_its_greetings(run: Run) -> None:
    async def talk(app: poise.Application) -> None:
        stranger = await app.open_session(app.agents[0])
        regular = await app.open_session(app.agents[0])

        first = fates(app, await stranger.say("hello there"))
        await regular.say("they have printed here before")
        known = fates(app, await regular.say("hello there"))

        assert (first[NEW], first[REGULAR]) == ("matched", "unmet_dependency_all")
        assert (known[NEW], known[REGULAR]) == ("matched", "outranked")

    await run("print_shop", talk)


async def test_first_agent_offers_its_tool_and_its_wording(run: Run) -> None:
    async def talk(app: poise.Application) -> None:
        session = await app.open_session(app.agents[0])

        asked = await session.say("What is the status of my print job?")
        answered = await session.say("1204")
        strayed = await session.say("About something other than printing")

        assert "job number" in asked.text
        assert answered.ledger is not None
        assert [(dict(call.arguments), call.outcome) for call in answered.ledger.calls] == [
            ({"job_number": "1204"}, "finished")
        ]
        assert strayed.text == "Sorry, we only print."

    await run("print_shop", talk)


async def test_first_agent_is_the_same_catalog_on_every_run(run: Run) -> None:
    versions: list[str] = []

    async def note(app: poise.Application) -> None:
        catalog = app.runtime.catalogs.current(app.agents[0].id)
        assert catalog is not None
        versions.append(catalog.version)

    await run("print_shop", note)
    await run("print_shop", note)

    assert versions[0] == versions[1]
