"""A real model behind every promise: suites, streams, schemas, decisions, and whole turns."""

from __future__ import annotations

import time
from typing import Literal

import pytest
from pydantic import BaseModel

import poise
from poise import (
    DecisionModel,
    DecisionRequest,
    Embedder,
    Finish,
    GenerationOptions,
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
from poise_example_bank.fake import FakeBank
from poise_example_bank.playing import play_all

pytestmark = pytest.mark.anyio

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
def compatible(app: poise.Application) -> ModelProvider:
    return app.runtime.routes.get("llamacpp")


@pytest.fixture
def messages(app: poise.Application) -> ModelProvider:
    return app.runtime.routes.get("anthropic")


class TestCompatibleProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> ModelProvider:
        return compatible


class TestCompatibleText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> TextGenerator:
        return compatible.text_generator("small")


class TestCompatibleStructured(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> StructuredGenerator:
        return compatible.structured_generator("small")


class TestCompatibleDecisions(DecisionModelConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> DecisionModel:
        return compatible.decision_model("small")


class TestCompatibleEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, compatible: ModelProvider) -> Embedder:
        return compatible.embedder("small-embed")


class TestMessagesText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, messages: ModelProvider) -> TextGenerator:
        return messages.text_generator("small")


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


async def test_a_probe_finds_what_the_server_enforces(compatible: ModelProvider) -> None:
    findings = await compatible.probe("small")

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
    assert all(each.judged_by == "llamacpp:small" for each in answers)
    probabilities = [each.probability for each in answers if each.probability is not None]
    assert probabilities
    assert all(0.0 <= each <= 1.0 for each in probabilities)
    again = await app.runtime.models.decide("matching.verdict", request)
    assert [each.question for each in again] == ["q0", "q1"]


async def test_tokens_are_counted_by_the_messages_endpoint(messages: ModelProvider) -> None:
    counted = await messages.count_tokens("small", PROMPT)

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
        assert all(line.model == "llamacpp:small" for line in judged)
    asked = [
        line
        for turn in turns
        for line in turn.record.ledger.requests
        if line.route == "matching.verdict"
    ]
    assert asked
    assert sum(line.fresh or 0 for line in asked) > 0
