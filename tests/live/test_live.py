"""A real model behind every promise: suites, streams, schemas, decisions, and whole turns."""

from __future__ import annotations

import time
from typing import Literal

import pytest
from pydantic import BaseModel, SecretStr

import poise
from poise import (
    Cards,
    DecisionModel,
    DecisionRequest,
    Embedder,
    Finish,
    GenerationOptions,
    ModelCard,
    ModelProvider,
    Prompt,
    Question,
    Section,
    Stability,
    StructuredGenerator,
    TextGenerator,
)
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
)
from poise.testing.generating import StructuredGeneratorConformance, TextGeneratorConformance
from poise_anthropic.provider import AnthropicProvider
from poise_anthropic.settings import AnthropicSettings
from poise_example_bank.fake import FakeBank
from poise_example_bank.playing import play_all
from poise_openai.preset import load_presets
from poise_openai.provider import CompatibleProvider
from poise_openai.settings import ServerSettings

pytestmark = pytest.mark.anyio

CLOSING = {"Connection": SecretStr("close")}
"""Each test has an event loop of its own, and no connection may outlive it."""

PROMPT = Prompt.of(
    Section("identity", "You are the voice of a bank. You are brief.", Stability.CATALOG),
    Section("history", 'customer: "I lost my card"', Stability.SESSION),
    Section("task", "Answer the customer in one sentence.", Stability.TURN),
)


class Found(BaseModel):
    """What a structured request asks for."""

    evidence: str
    topic: Literal["card", "transfer", "fee"]
    is_urgent: bool


@pytest.fixture
def compatible(model_server: str) -> ModelProvider:
    """The provider of servers that speak as OpenAI does; what a probe would find is said."""
    return compatible_with(model_server)


def compatible_with(url: str) -> ModelProvider:
    cards = Cards()
    cards.add(ModelCard("llamacpp", "smol", quirks={"json": "json_schema"}))
    cards.add(ModelCard("llamacpp", "smol-embed", dimensions=576))
    return CompatibleProvider(
        load_presets()["llamacpp"],
        ServerSettings(base_url=f"{url}/v1", headers=CLOSING),
        cards,
    )


@pytest.fixture
def messages(model_server: str) -> ModelProvider:
    """The provider of servers that speak as Anthropic does."""
    cards = Cards()
    cards.add(ModelCard("anthropic", "smol", max_output=200))
    return AnthropicProvider(
        AnthropicSettings(api_key=SecretStr("none"), base_url=model_server, headers=CLOSING),
        cards,
    )


class TestCompatibleProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> ModelProvider:
        return compatible


class TestCompatibleText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> TextGenerator:
        return compatible.text_generator("smol")


class TestCompatibleStructured(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> StructuredGenerator:
        return compatible.structured_generator("smol")


class TestCompatibleDecisions(DecisionModelConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> DecisionModel:
        return compatible.decision_model("smol")


class TestCompatibleEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, embedding_server: str) -> Embedder:
        return compatible_with(embedding_server).embedder("smol-embed")


class TestMessagesText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, messages: ModelProvider) -> TextGenerator:
        return messages.text_generator("smol")


@pytest.mark.parametrize("route", ["compose.message", "test.anthropic"])
async def test_words_stream_as_they_are_made(app: poise.Application, route: str) -> None:
    came: list[float] = []
    said = ""
    options = GenerationOptions(max_output=60, temperature=0.0)

    async for chunk in app.runtime.models.write(route, PROMPT, options=options):
        came.append(time.perf_counter())
        said += chunk.text

    assert said.strip()
    assert len(came) > 3
    assert chunk.finish in (Finish.COMPLETE, Finish.TRUNCATED)
    assert chunk.usage is not None
    assert chunk.usage.input_tokens > 10
    assert chunk.usage.output_tokens > 3


async def test_a_schema_is_kept_to(app: poise.Application) -> None:
    found = await app.runtime.models.ask(
        "tools.extract", PROMPT, Found, options=GenerationOptions(max_output=200)
    )

    assert found.value.topic in ("card", "transfer", "fee")
    assert list(Found.model_validate_json(found.text).model_dump()) == list(Found.model_fields)
    assert found.usage.input_tokens > 10


async def test_a_probe_finds_what_the_server_enforces(app: poise.Application) -> None:
    findings = await app.runtime.routes.get("llamacpp").probe("smol")

    assert findings
    assert "json_schema" in " ".join(findings.values())


async def test_decisions_are_probabilities_of_one_token(app: poise.Application) -> None:
    questions = tuple(
        Question(f"q{number}", text)
        for number, text in enumerate(
            ("Does the customer speak of a card?", "Does the customer speak of the weather?")
        )
    )
    request = DecisionRequest(PROMPT, ("I lost my card",), questions)

    answers = await app.runtime.models.decide("matching.verdict", request)

    assert [each.question for each in answers] == ["q0", "q1"]
    assert all(each.judged_by == "llamacpp:smol" for each in answers)
    probabilities = [each.probability for each in answers if each.probability is not None]
    assert probabilities
    assert all(0.0 <= each <= 1.0 for each in probabilities)
    again = await app.runtime.models.decide("matching.verdict", request)
    assert [each.question for each in again] == ["q0", "q1"]


async def test_tokens_are_counted_by_the_messages_endpoint(messages: ModelProvider) -> None:
    counted = await messages.count_tokens("smol", PROMPT)

    assert counted is not None
    assert 10 < counted < 200


async def test_whole_turns_run_on_it(app: poise.Application) -> None:
    turns = await play_all(app, FakeBank())

    assert len(turns) > 15
    for turn in turns:
        ledger = turn.record.ledger
        assert ledger.outcome == "sent"
        assert turn.record.replies
        judged = [line for line in ledger.requests if line.route == "matching.verdict"]
        assert all(line.model == "llamacpp:smol" for line in judged)
    asked = [
        line
        for turn in turns
        for line in turn.record.ledger.requests
        if line.route == "matching.verdict"
    ]
    assert asked
    assert sum(line.fresh or 0 for line in asked) > 0
