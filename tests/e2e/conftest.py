"""What whole applications need in tests: anyio's backend, and models and discovery by script."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

import poise_compose.plugin
import poise_matching.plugin
import poise_relations.plugin
import poise_tools.plugin
from poise import (
    Agent,
    Application,
    Session,
    ToolResult,
    tool,
)
from poise.testing import applications
from poise.testing.session_laws import assert_session_laws


class Shop:
    """A small shop whose clerk answers from four policies, two of them with a tool.

    Attributes:
        calls: The tools that ran, oldest first.
        at_tool: Awaited inside each tool, if set.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.at_tool: Callable[[], Awaitable[Any]] | None = None

    async def open(self, app: Application, **said: Any) -> Agent:
        """Declare the clerk and everything it knows."""
        agent = await app.create_agent(
            "Clerk", **{"composition_mode": "canned_strict", "no_match": "Hm?", **said}
        )

        async def look_up_balance() -> ToolResult:
            await self._run("look_up_balance")
            return ToolResult(data="a balance", fields={"amount": "12"})

        async def freeze_card() -> str:
            await self._run("freeze_card")
            return "frozen"

        await agent.create_policy(
            "Opening hours",
            "Say when the shop is open",
            signals=["open"],
            canned_responses=["We are open from nine to five."],
        )
        await agent.create_policy(
            "Parking",
            "Say where to park",
            signals=["park"],
            canned_responses=["You can park behind the shop."],
        )
        await agent.create_policy(
            "Balance",
            "Say what is left",
            signals=["balance"],
            tools=[tool(look_up_balance)],
            canned_responses=["You have {amount} euros left."],
        )
        await agent.create_policy(
            "Lost card",
            "Freeze the card",
            signals=["freeze"],
            tools=[tool(consequential=True)(freeze_card)],
            canned_responses=["Your card is frozen."],
        )
        return agent

    async def still_serves(self, session: Session) -> None:
        """Assert that the next turn of a session answers as ever, and its log is sound."""
        reply = await session.say("where can I park?")
        assert "behind the shop" in reply.text
        assert_session_laws(await session.events())

    async def _run(self, name: str) -> None:
        self.calls.append(name)
        if self.at_tool is not None:
            await self.at_tool()


@pytest.fixture(autouse=True)
def engine_never_raises(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever happens within a turn ends in the session's log, not in an error of the engine."""
    yield
    raised = [each for each in caplog.get_records("call") if each.name == "poise.memory.dispatcher"]
    assert not raised, f"the engine raised: {[each.exc_info for each in raised]}"


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def parts() -> list[object]:
    """Plugins that make a whole application, none of them with a real model."""
    return [
        applications.ScriptedParts(),
        poise_compose.plugin,
        poise_matching.plugin,
        poise_relations.plugin,
        poise_tools.plugin,
    ]


@pytest.fixture
def installed(parts: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `parts` the plugins that are installed, and the storage one that forgets."""
    holder = SimpleNamespace(**{f"part_{index}": each for index, each in enumerate(parts)})
    monkeypatch.setitem(sys.modules, "poise_installed_parts", holder)
    points = [EntryPoint(name, f"poise_installed_parts:{name}", "poise") for name in vars(holder)]
    monkeypatch.setattr("poise.app.plugins.entry_points", lambda group: points)
    monkeypatch.setenv("POISE_STORES", "memory")
    monkeypatch.setenv("POISE_CONFIG", "")


@pytest.fixture
def open_application() -> Callable[..., Application]:
    """Return a function that makes an application of scripted parts, plugins and settings."""
    ours = [
        poise_compose.plugin,
        poise_matching.plugin,
        poise_relations.plugin,
        poise_tools.plugin,
    ]

    def make(
        scripted: applications.ScriptedParts | None = None, *plugins: object, **said: Any
    ) -> Application:
        given = {"stores": "memory", "installed": False, **said}
        return Application(
            plugins=[scripted or applications.ScriptedParts(), *ours, *plugins], **given
        )

    return make
