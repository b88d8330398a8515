"""The working set keeps to a number of rules, and to what the models that read it take in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise import Cards, ModelCard, ModelProvider, Offers, hookimpl
from poise.engine.fitting import estimate
from poise.testing.providers import ScriptedProvider
from poise.testing.scripted_generators import ScriptedStructuredGenerator, ScriptedTextGenerator
from poise.testing.written import says_yes
from poise.turn.state import fold

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]

TOPICS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey")


async def grown(app: Any) -> tuple[set[str], int]:
    """Return what is left of the working set after a talk about everything, and its tokens."""
    agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
    rules = {}
    for topic in TOPICS:
        said = "Speak of it at length, with its origin, its price and how to keep it. " * 4
        handle = await agent.create_policy(topic, said, signals=[topic], weight="low")
        rules[handle.id] = handle.rule
    session = await app.open_session(agent)
    for topic in TOPICS:
        await session.say(topic)
    await app.runtime.dispatcher.idle(session.id)
    members = fold(await session.events()).working_set
    return {rules[each].title for each in members}, sum(
        estimate(rules[each].text) for each in members
    )


async def test_rules_leave_where_their_texts_are_too_long_for_the_budget(
    open_application: Open,
) -> None:
    async with open_application(settings={"engine": {"working_set_tokens": 300}}) as app:
        left, tokens = await grown(app)

    assert TOPICS[-1] in left
    assert TOPICS[0] not in left
    assert 0 < tokens <= 300


async def test_with_room_for_all_of_them_all_stay(open_application: Open) -> None:
    async with open_application() as app:
        left, _ = await grown(app)

    assert left == set(TOPICS)


class Small:
    """A model that writes, and whose window is small."""

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(ModelProvider, "small", self._provider)

    @hookimpl
    def poise_models(self, cards: Cards) -> None:
        cards.add(ModelCard("small", "*", context=4_000))

    def _provider(self) -> ModelProvider:
        provider = ScriptedProvider(
            text=ScriptedTextGenerator(), structured=ScriptedStructuredGenerator(says_yes)
        )
        provider.name = "small"
        return provider


async def test_a_model_with_a_small_window_is_shown_fewer_rules(open_application: Open) -> None:
    models = {"compose.*": "small:script"}
    async with open_application(None, Small(), models=models) as app:
        left, tokens = await grown(app)

    assert TOPICS[-1] in left
    assert 0 < tokens <= 400, "a tenth of its window"
