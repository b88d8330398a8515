"""What prompts begin with is cached before it is needed, where turns send many requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import poise
from poise import Application, EventKind, ModelProvider, Offers
from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedProvider
from poise.testing.scripted_generators import (
    ScriptedStructuredGenerator,
    ScriptedTextGenerator,
)
from poise.testing.written import says_yes

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


class Writer:
    """A provider that writes, and caches what it is told to."""

    def __init__(self) -> None:
        self.text = ScriptedTextGenerator()
        self.structured = ScriptedStructuredGenerator(says_yes)

    @poise.hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(ModelProvider, "writer", self._provider)

    def _provider(self) -> ModelProvider:
        class Writing(ScriptedProvider):
            name = "writer"

            def models(self, capability: poise.Capability) -> tuple[str, ...]:
                writes = capability in (poise.Capability.TEXT, poise.Capability.STRUCTURED)
                return ("script",) if writes else ()

        return Writing(text=self.text, structured=self.structured)


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Writer:
    monkeypatch.setenv("POISE_MODELS", '{"matching.*": "writer:script"}')
    return Writer()


async def test_at_high_effort_each_reply_and_the_session_itself_warm_the_next_prompt(
    open_application: Open, shop: Any, writer: Writer
) -> None:
    async with open_application(ScriptedParts(), writer) as app:
        agent = await shop.open(app, effort="high")
        session = await app.open_session(agent)

        reply = await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)
        settled = await session.events(kinds=[EventKind.SETTLED])

    texts = [prompt.text for prompt in writer.text.warmed]
    assert any("conversation so far" not in text for text in texts), "when the session was opened"
    assert any(reply.text in text for text in texts), "after the reply, with the reply in it"
    (data,) = (event.data for event in settled)
    assert [line["way"] for line in data["requests"]] == ["warming"]
    assert reply.ledger is not None
    judged = [line for line in reply.ledger.requests if line.route == "matching.verdict"]
    assert {line.way for line in judged} == {"structured"}
    assert all(line.items == 1 for line in judged), "each candidate is a request of its own"


async def test_where_all_questions_go_out_together_nothing_is_warmed(
    open_application: Open, shop: Any, writer: Writer
) -> None:
    async with open_application(ScriptedParts(), writer) as app:
        session = await app.open_session(await shop.open(app, effort="medium"))

        await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)

    assert not writer.text.warmed
