"""Who speaks when: people who take over, history that is no input, words that nobody asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from poise import Application, EventKind, NewEvent, Session, SessionMode, Source, ToolResult, tool
from poise.testing.applications import ScriptedParts
from poise.testing.hook_probe import HookProbe
from poise.testing.interruptions import (
    POINTS_BEFORE_WORDS,
    InterruptedStores,
    Once,
)
from poise.testing.session_laws import agent_messages, assert_session_laws
from poise.turn.state import fold
from poise.values.events import Event
from poise.values.ids import EventId

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


# -- what is not input, and who takes over --


def old(text: str, source: Source, number: int) -> NewEvent:
    at = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    return NewEvent(
        EventId(f"event_old_{number}"),
        EventKind.MESSAGE,
        source,
        "import",
        None,
        at,
        {"text": text},
    )


@pytest.mark.parametrize(
    "answerer",
    [
        Source.HUMAN_AGENT,
        Source.HUMAN_AGENT_ON_BEHALF_OF_AI_AGENT,
        Source.AI_AGENT,
    ],
)
async def test_imported_history_starts_no_turn_and_is_history_to_the_next_message(
    open_application: Open, shop: Any, answerer: Source
) -> None:
    """B-063."""
    scripted = ScriptedParts()
    async with open_application(scripted) as app:
        session = await app.open_session(await shop.open(app))
        store = app.runtime.stores.scope(app.scope).sessions
        asked = len(scripted.embedder.embedded)
        for number in range(60):
            await store.append(
                session.id,
                [
                    old("freeze my card", Source.CUSTOMER, 2 * number),
                    old("It is done.", answerer, 2 * number + 1),
                ],
            )
        await anyio.wait_all_tasks_blocked()
        assert not [event for event in await session.events() if event.turn is not None]
        assert len(scripted.embedder.embedded) == asked

        reply = await session.say("Where can I park?")

        assert reply.ledger is not None
        assert reply.ledger.base == 120
        messages = [each["text"] for each in reply.ledger.queries if each["kind"] == "message"]
        assert messages == ["Where can I park?"]


@pytest.mark.parametrize("point", BEFORE_THE_REPLY)
async def test_person_who_takes_over_during_a_turn_is_not_talked_over(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-064."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))

        async def take_over() -> None:
            await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        once.action = take_over
        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        assert agent_messages(events) == []
        assert fold(events).mode is SessionMode.MANUAL


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 6))
async def test_take_over_around_any_append_silences_the_agent_from_then_on(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-064."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))

        async def take_over() -> None:
            await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        stores.once.action = take_over
        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert_session_laws(events)
        switched = next(event.offset for event in events if event.kind is EventKind.MODE)
        assert agent_messages(events[switched:]) == []


async def test_handing_back_answers_what_was_asked_meanwhile(
    open_application: Open, shop: Any
) -> None:
    """B-067."""
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)
        await session.say("open?")

        await app.runtime.set_mode(app.scope, session.id, SessionMode.AUTO)
        events = await at_rest(app, session)

        assert agent_messages(events) == ["We are open from nine to five."]


async def test_tool_that_hands_over_leaves_the_mode_and_the_words_once(
    open_application: Open,
) -> None:
    """B-065."""

    @tool
    async def fetch_a_person() -> ToolResult:
        return ToolResult(data="on the way", mode="manual")

    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        await agent.create_policy(
            "Hand over",
            "Fetch a person",
            signals=["human"],
            tools=[fetch_a_person],
            canned_responses=["A colleague takes over."],
        )
        session = await app.open_session(agent)

        reply = await session.say("a human please")
        events = await at_rest(app, session)

        modes = [event.data["mode"] for event in events if event.kind is EventKind.MODE]
        assert modes == ["manual"]
        assert reply.messages == ("A colleague takes over.",)
        assert (await session.say("hello?")).messages == ()
        assert_session_laws(await session.events())


async def test_speaking_unprompted_and_a_message_at_once_lose_nothing(
    open_application: Open, shop: Any
) -> None:
    """B-068."""
    async with open_application() as app:
        agent = await shop.open(app)
        for _ in range(20):
            session = await app.open_session(agent)

            async with anyio.create_task_group() as group:
                group.start_soon(session.utter, "say when the shop is open")
                group.start_soon(session.say, "where can I park?")

            events = await at_rest(app, session)
            assert_session_laws(events)
            assert any("behind the shop" in text for text in agent_messages(events))
