"""What was carried out once goes quiet until something new reopens it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise import EventKind, TurnContext, hookimpl
from poise.testing.applications import ScriptedParts
from poise.testing.events import new_event
from poise.testing.providers import ScriptedDecisionModel
from poise.turn.models import DecisionRequest, Question
from poise.turn.state import fold

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


def fates(reply: Any) -> dict[str, str]:
    return {line.name: line.fate for line in reply.ledger.lines}


async def test_an_unjudged_rule_that_was_done_is_set_aside_until_a_message_brings_it_up(
    open_application: Open,
) -> None:
    """At an effort that judges nobody, too."""
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Greet", "Say hello", signals=["hello"], weight="low")
        watched = await agent.create_observation("hello is said", signals=["hello"])
        greet = await agent.create_policy(
            "Newsletter", "Mention it", weight="low", signals=["news"]
        )
        await watched.entail(greet)
        session = await app.open_session(agent)

        first = await session.say("hello")  # the observation implies it, so it counts as done
        second = await session.say("qwerty")
        third = await session.say("any news?")

    assert fates(first)["Newsletter"] == "implied"
    assert fates(second)["Newsletter"] == "already_applied"
    assert fates(third)["Newsletter"] == "in_context"


async def test_tracking_can_be_turned_off(open_application: Open) -> None:
    """What still implies it has it done again, which a tracked rule would not be (B-012)."""
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        watched = await agent.create_observation("hello is said", signals=["hello"])
        rule = await agent.create_policy(
            "Newsletter", "Mention it", weight="low", signals=["news"], track=False
        )
        await watched.entail(rule)
        session = await app.open_session(agent)

        await session.say("hello")
        second = await session.say("qwerty")

    assert fates(second)["Newsletter"] == "implied"


class Judge:
    """Says what applies by the newest message, and what was done before calls for again."""

    def __init__(self) -> None:
        self.decisions = ScriptedDecisionModel(self._answer)

    def _answer(self, question: Question, request: DecisionRequest) -> float | None:
        said = " ".join(request.focus)
        if "was done before" in question.text:
            return 0.99 if "another order" in said else 0.01
        if "this is missing" in question.text:
            return 0.99
        return 0.99 if "price" in said else 0.01


async def talk(open_application: Open, judge: Judge, *texts: str, **options: Any) -> list[Any]:
    async with open_application(ScriptedParts(decisions=judge.decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_guideline(
            "the price comes up",
            "Mention the newsletter",
            signals=["price"],
            title="Newsletter",
            canned_responses=["We have a newsletter."],
            **options,
        )
        session = await app.open_session(agent)
        return [await session.say(text) for text in texts]


QUESTIONS = ("what is the price?", "and the price of two?", "the price is high!")


async def test_a_one_time_action_is_done_once_and_again_on_a_new_occasion(
    open_application: Open,
) -> None:
    """B-003."""
    replies = await talk(open_application, Judge(), *QUESTIONS, "the price of another order?")

    assert [fates(each)["Newsletter"] for each in replies] == [
        "matched",
        "already_applied",
        "already_applied",
        "matched",
    ]
    assert [each.text for each in replies[:2]] == ["We have a newsletter.", "Hm?"]


@pytest.mark.parametrize("options", [{"track": False}, {"continuous": True}])
async def test_what_is_not_tracked_or_continuous_is_done_each_time(
    open_application: Open, options: dict[str, Any]
) -> None:
    """B-003."""
    replies = await talk(open_application, Judge(), *QUESTIONS, **options)

    assert [fates(each)["Newsletter"] for each in replies] == ["matched"] * 3


async def test_of_what_was_done_in_part_the_rest_is_owed_until_it_is_done(
    open_application: Open,
) -> None:
    """B-002: who said that a part is missing does not matter; here a test does."""
    judge = Judge()
    seen: list[dict[Any, str]] = []

    class Watch:
        @hookimpl
        async def on_generating_messages(self, turn: TurnContext) -> None:
            seen.append(dict(turn.owed))

    async with open_application(ScriptedParts(decisions=judge.decisions), Watch()) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        rule = await agent.create_guideline(
            "the price comes up", "apologise and offer a voucher", signals=["price"], title="Sorry"
        )
        session = await app.open_session(agent)
        first = await session.say("what a price!")
        await app.runtime.dispatcher.idle(session.id)
        partly = {"fulfilled": [], "partly": [{"rule": rule.id, "owed": "offer the voucher"}]}
        settled = new_event(EventKind.SETTLED, partly, turn=first.turn)
        await app.runtime.stores.scope(app.scope).sessions.append(session.id, [settled])

        second = await session.say("such a price!")
        await app.runtime.dispatcher.idle(session.id)
        third = await session.say("a price indeed!")
        state = fold(await session.events())

    assert seen[:2] == [{}, {rule.id: "offer the voucher"}]
    assert fates(second)["Sorry"] == "matched"
    assert fates(third)["Sorry"] == "already_applied"
    assert seen[2] == {}
    assert not state.partly


async def test_an_action_that_waits_on_the_customer_stays_until_they_did_their_part(
    open_application: Open,
) -> None:
    def answer(question: Question, request: DecisionRequest) -> float | None:
        said = " ".join(request.focus)
        if "customer's part" in question.text:
            return 0.01 if "4417" in said else 0.99
        return 0.99 if "card" in said else 0.01

    decisions = ScriptedDecisionModel(answer)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_guideline(
            "the card is lost",
            "ask for its last digits",
            title="Digits",
            signals=["card"],
            customer_dependent=True,
        )
        session = await app.open_session(agent)
        replies = [await session.say(text) for text in ("my card", "well", "4417", "thanks")]

    assert [fates(each)["Digits"] for each in replies[:3]] == [
        "matched",
        "matched",
        "already_applied",
    ]


async def test_a_continuous_action_stays_until_its_end_has_come(open_application: Open) -> None:
    """B-005."""
    rated: list[str] = []

    def answer(question: Question, request: DecisionRequest) -> float | None:
        assert "one is given" in question.no_if
        rated.extend(text for text in request.focus if "stars" in text)
        return 0.01 if rated else 0.99

    decisions = ScriptedDecisionModel(answer)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_guideline(
            "the matter is settled",
            "ask for a rating until one is given",
            title="Rating",
            signals=["settled"],
            continuous=True,
        )
        session = await app.open_session(agent)
        texts = ("it is settled", "yes", "well", "4 stars", "bye")
        replies = [await session.say(text) for text in texts]

    assert [fates(each)["Rating"] for each in replies] == [
        "matched",
        "matched",
        "matched",
        "not_applicable",
        "not_applicable",
    ]
