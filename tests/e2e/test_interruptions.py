"""A new message at any point of a turn: superseded or waited for, never lost, hung or doubled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import pytest

from poise import Application, EventKind, Session
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.hook_probe import HookProbe
from poise.testing.interruptions import (
    POINTS_AFTER_WORDS,
    POINTS_BEFORE_WORDS,
    Action,
    InterruptedStores,
    Once,
)
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import agent_messages, assert_session_laws, ledgers
from poise.turn.state import fold
from poise.values.events import Event

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

BEFORE_THE_REPLY = (*POINTS_BEFORE_WORDS, "in the tool")


def placed(point: str, once: Once, shop: Any) -> HookProbe:
    """Return a probe that does something at that point of a turn."""
    if point == "in the tool":
        shop.at_tool = once
        return HookProbe()
    return HookProbe(answers={point: once})


async def at_rest(app: Application, session: Session) -> Sequence[Event]:
    await app.runtime.dispatcher.idle(session.id)
    return await session.events()


def send(app: Application, session: Session, text: str) -> Action:
    async def sends() -> None:
        await app.runtime.receive(app.scope, session.id, text)

    return sends


# -- a new message at any point --


@pytest.mark.parametrize("point", BEFORE_THE_REPLY)
async def test_message_before_the_first_words_restarts_the_turn_and_both_are_answered(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-058, B-062."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))
        once.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "frozen" in answer
        assert "behind the shop" in answer
        assert shop.calls == ["freeze_card"]


@pytest.mark.parametrize("point", POINTS_AFTER_WORDS)
async def test_message_after_the_first_words_waits_for_the_next_turn(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-058."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))
        once.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        first, second = agent_messages(events)
        assert "frozen" in first
        assert "behind the shop" in second
        assert shop.calls == ["freeze_card"]


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 6))
async def test_message_around_any_append_of_a_turn_is_answered(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-058, B-062: nothing is lost, hung or done twice, wherever the next message falls."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))
        stores.once.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert stores.once.done == 1
        assert_session_laws(events)
        said = " ".join(agent_messages(events))
        assert "frozen" in said
        assert "behind the shop" in said
        assert len(agent_messages(events)) <= 2
        assert shop.calls == ["freeze_card"]


async def test_message_while_the_model_thinks_is_answered_together_with_the_first(
    open_application: Open, shop: Any
) -> None:
    """B-058, B-059."""
    gate, asked = anyio.Event(), anyio.Event()

    async def tell(arguments: Mapping[str, Any]) -> None:
        if arguments["route"] == "matching.verdict":
            asked.set()

    scripted = ScriptedParts(decisions=ScriptedDecisionModel(discoverys_own, gate=gate))
    probe = HookProbe(answers={"on_model_request": tell})
    async with open_application(scripted, probe) as app:
        session = await app.open_session(await shop.open(app))
        await app.runtime.receive(app.scope, session.id, "open?")
        await asked.wait()

        await app.runtime.receive(app.scope, session.id, "and where can I park?")
        gate.set()
        events = await at_rest(app, session)

        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "nine to five" in answer
        assert "behind the shop" in answer
        assert [each.outcome for each in ledgers(events)] == ["cancelled", "sent"]
        cancelled = ledgers(events)[0]
        assert [line.error for line in cancelled.requests if line.model.endswith("script")] == [
            "cancelled"
        ]


async def test_burst_of_messages_gets_one_answer_that_uses_the_last(
    open_application: Open, shop: Any
) -> None:
    """B-059, B-062."""
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        for text in ("hello", "freeze my card", "and where can I park?"):
            await app.runtime.receive(app.scope, session.id, text)
        events = await at_rest(app, session)

        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "behind the shop" in answer
        assert shop.calls == ["freeze_card"]


async def test_consequential_tool_of_a_stale_turn_is_found_in_the_log_under_the_same_key(
    open_application: Open, shop: Any
) -> None:
    """B-062."""
    once = Once()
    async with open_application(None, placed("in the tool", once, shop)) as app:
        session = await app.open_session(await shop.open(app))

        async def twice() -> None:
            await send(app, session, "hello?")()
            await send(app, session, "anybody?")()

        once.action = twice
        await session.say("freeze my card")
        events = await at_rest(app, session)

        calls = [line for ledger in ledgers(events) for line in ledger.calls]
        assert shop.calls == ["freeze_card"]
        assert len({line.key for line in calls}) == 1
        assert [line.outcome for line in calls] == ["finished", "reused"]


async def test_result_of_a_stale_turns_tool_still_brings_rules_up(
    open_application: Open, shop: Any
) -> None:
    """What a tool said before the restart leads on as if it had been called in this turn."""
    once = Once()
    async with open_application(None, placed("in the tool", once, shop)) as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Frozen",
            "Say what comes next",
            signals=["frozen"],
            canned_responses=["A new card is on its way."],
        )
        session = await app.open_session(agent)
        once.action = send(app, session, "please hurry")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert shop.calls == ["freeze_card"]
        lines = {line.name: line for line in ledgers(events)[-1].lines}
        assert lines["Frozen"].fate == "matched"


async def test_consequential_call_is_not_started_for_somebody_who_changed_their_mind(
    open_application: Open, shop: Any
) -> None:
    """B-062: what came before the call began is heard first, and nothing is left in doubt."""
    stores = InterruptedStores(2, before=True)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))
        stores.once.action = send(app, session, "wait, where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        stages = [event.data["stage"] for event in events if event.kind is EventKind.TOOL]
        assert stages == ["started", "finished"]
        first_turn = next(event.turn for event in events if event.turn is not None)
        assert all(event.turn != first_turn for event in events if event.kind is EventKind.TOOL)


# -- what follows the reply --


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 4))
async def test_what_follows_the_reply_is_recorded_whole_or_not_at_all(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-060."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)
        stores.once.action = send(app, session, "where can I park?")

        await session.say("open?")
        events = await at_rest(app, session)

        assert_session_laws(events)
        rules = app.runtime.catalogs.all()[agent.id].snapshot.rules
        applied = {rules[rule].name for rule in fold(events).applied}
        assert applied == {"Opening hours", "Parking"}
        assert fold(events).unsettled is None


async def test_listener_that_never_returns_does_not_hold_the_session(
    open_application: Open, shop: Any
) -> None:
    """B-060."""

    async def forever(_arguments: Mapping[str, Any]) -> None:
        await anyio.sleep_forever()

    probe = HookProbe(answers={"on_messages_emitted": forever, "on_rule_message": forever})
    async with open_application(None, probe, settings={"engine": {"settle_wait": 0.02}}) as app:
        session = await app.open_session(await shop.open(app))

        await session.say("open?")
        reply = await session.say("where can I park?")

        assert "behind the shop" in reply.text
        assert_session_laws(await at_rest(app, session))
