"""Hooks that raise, hang or answer nonsense: noted, or refused where they fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

import poise
from poise import (
    Application,
)
from poise.errors import (
    HookError,
)
from poise.testing.hook_probe import HookProbe
from poise.values.agents import DEFAULT_APOLOGY

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


def degraded(reply: poise.Reply) -> Mapping[str, str]:
    """Return what failed on a turn, with its reason."""
    assert reply.ledger is not None
    return {each.part: each.reason for each in reply.ledger.degradations}


# -- hooks --

NOTED = (
    "on_acknowledging",
    "on_acknowledged",
    "on_preparing",
    "on_preparation_iteration_start",
    "on_preparation_iteration_end",
    "on_rule_selected",
    "on_model_request",
    "on_model_response",
    "on_tool_result",
    "on_generating_messages",
)
FOLDED_INTO_THE_REPLY = ("on_draft_generated", "on_message_generated")


async def _raises(_arguments: Mapping[str, Any]) -> None:
    raise ZeroDivisionError("as told")


@pytest.mark.parametrize("hook", NOTED)
async def test_hook_that_raises_is_a_degradation_that_names_the_plugin(
    open_application: Open, shop: Any, hook: str
) -> None:
    probe = HookProbe("clumsy", {hook: _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert reply.text == "You have 12 euros left."
        assert degraded(reply)[f"{hook} of clumsy"] == "as told"
        await shop.still_serves(session)


@pytest.mark.parametrize("hook", ["on_messages_emitted", "on_rule_message"])
async def test_hook_that_raises_after_the_reply_takes_nothing_back(
    open_application: Open, shop: Any, hook: str
) -> None:
    async with open_application(None, HookProbe("clumsy", {hook: _raises})) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == "We are open from nine to five."
        await shop.still_serves(session)


@pytest.mark.parametrize("hook", FOLDED_INTO_THE_REPLY)
async def test_hook_that_raises_over_the_reply_holds_it_back(
    open_application: Open, shop: Any, hook: str
) -> None:
    probe = HookProbe("clumsy", {hook: _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == DEFAULT_APOLOGY
        assert f"hook {hook} of plugin 'clumsy'" in degraded(reply)["turn"]
        assert len(probe.at("on_error")) == 1
        probe.answers.clear()
        await shop.still_serves(session)


async def test_hook_that_raises_over_a_tool_call_refuses_it(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe("clumsy", {"on_tool_call": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("freeze my card")

        assert shop.calls == []
        assert reply.ledger is not None
        assert [(call.outcome, "clumsy" in call.detail) for call in reply.ledger.calls] == [
            ("refused", True)
        ]
        await shop.still_serves(session)


async def test_hook_that_never_answers_over_a_tool_call_refuses_it(
    open_application: Open, shop: Any
) -> None:
    async def forever(_arguments: Mapping[str, Any]) -> None:
        await anyio.sleep_forever()

    probe = HookProbe("slow", {"on_tool_call": forever})
    async with open_application(None, probe, settings={"engine": {"tool_timeout": 0.02}}) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("freeze my card")

        assert shop.calls == []
        assert reply.ledger is not None
        assert [call.outcome for call in reply.ledger.calls] == ["refused"]
        await shop.still_serves(session)


async def test_hook_that_raises_over_an_event_refuses_it(open_application: Open, shop: Any) -> None:
    probe = HookProbe("clumsy", {"on_event": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        with pytest.raises(HookError, match="clumsy"):
            await session.say("open?")

        assert await session.events() == ()
        probe.answers.clear()
        await shop.still_serves(session)


async def test_hook_that_raises_over_an_error_changes_nothing(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe("clumsy", {"on_draft_generated": _raises, "on_error": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        assert (await session.say("open?")).text == DEFAULT_APOLOGY

        probe.answers.clear()
        await shop.still_serves(session)


@pytest.mark.parametrize("hook", ["on_preparing", "on_draft_generated", "on_tool_call"])
async def test_hook_that_returns_what_it_may_not_is_named(
    open_application: Open, shop: Any, hook: str
) -> None:
    async def odd(_arguments: Mapping[str, Any]) -> str:
        return "odd"

    probe = HookProbe("clumsy", {hook: odd})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert reply.ledger is not None
        told = [*degraded(reply).values(), *(call.detail for call in reply.ledger.calls)]
        assert any("clumsy" in each and "returned 'odd'" in each for each in told)
        probe.answers.clear()
        await shop.still_serves(session)
