"""The port's suite over the three ways of deciding, and what they have in common."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import DecisionModel
from poise.errors import (
    AuthenticationError,
    ConfigError,
    OverQuotaError,
    ProviderError,
    ProviderUnavailableError,
    RateLimitedError,
    UnsupportedError,
)
from poise.testing.embedding import DecisionModelConformance, request_of
from poise.testing.fake_server import Gate, Received, Scripted
from poise.turn.cards import ModelCard
from poise.turn.models import Question
from poise_openai import load_presets
from poise_openai.client import Client
from poise_openai.decide import decision_kind, decision_model_for
from poise_openai.errors import Place
from poise_openai.preset import Decisions
from poise_openai.probe import Probe
from poise_openai.questions import read_back


class TestEndpoint(DecisionModelConformance):
    @pytest.fixture
    def subject(self, served: Any, recorded: Any) -> DecisionModel:
        def answer(request: Received) -> Scripted:
            body = request.json
            assert body["input"]
            assert all(each["instructions"] for each in body["questions"])
            answers = [
                {"type": "predicate", "name": each["name"], "probability": 0.5}
                for each in body["questions"]
            ]
            return Scripted(body={**recorded("decision"), "answers": answers})

        served.server.script("/v1/decisions", answer)
        quirks = {"decisions": "endpoint", "cache": "explicit"}
        return served.provider(quirks=quirks).decision_model("m")


class TestSystemOne(DecisionModelConformance):
    @pytest.fixture
    def subject(self, served: Any, recorded: Any) -> DecisionModel:
        def answer(request: Received) -> Scripted:
            body = request.json
            assert body["state"].strip()
            assert all(each["instructions"] for each in body["questions"].values())
            answers = {key: {"type": "noul", "noul": 0.5} for key in body["questions"]}
            return Scripted(body={**recorded("system_one"), "answers": answers})

        served.server.script("/v1/systemone", answer)
        return served.provider(quirks={"decisions": "system_one"}).decision_model("m")


class TestLogprobs(DecisionModelConformance):
    @pytest.fixture
    def subject(self, served: Any, recorded: Any) -> DecisionModel:
        served.server.script("/v1/chat/completions", Scripted(body=recorded("chat_logprobs")))
        return served.provider(quirks={"decisions": "logprobs"}).decision_model("m")


PATHS = {
    "endpoint": "/v1/decisions",
    "system_one": "/v1/systemone",
    "logprobs": "/v1/chat/completions",
}
REQUEST = request_of("I lost it", Question("lost", "Is a card lost?"))


@pytest.mark.anyio
@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, AuthenticationError),
        (402, OverQuotaError),
        (429, RateLimitedError),
        (503, ProviderUnavailableError),
        (529, ProviderUnavailableError),
    ],
)
async def test_failures_are_typed_whichever_way_is_asked(
    served: Any, kind: str, status: int, error: type[ProviderError]
) -> None:
    body = {"error": {"message": "no", "type": None, "code": None}}
    served.server.script(PATHS[kind], Scripted(status, {"Retry-After": "2"}, body))
    model = served.provider(quirks={"decisions": kind}).decision_model("m")

    with pytest.raises(error) as failed:
        await model.decide(REQUEST)

    assert (failed.value.provider, failed.value.model) == ("together", "m")
    assert failed.value.retry_after == 2.0
    assert "sk-test" not in str(failed.value)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", PATHS)
async def test_the_key_goes_with_every_request(served: Any, recorded: Any, kind: str) -> None:
    payload = {"endpoint": "decision", "system_one": "system_one", "logprobs": "chat_logprobs"}
    served.server.script(PATHS[kind], Scripted(body=recorded(payload[kind])))

    await served.provider(quirks={"decisions": kind}).decision_model("m").decide(REQUEST)

    headers = [request.headers["authorization"] for request in served.server.received]
    assert set(headers) == {"Bearer sk-test-1234567890"}


@pytest.mark.anyio
@pytest.mark.parametrize("kind", PATHS)
async def test_giving_up_hangs_up(served: Any, kind: str) -> None:
    gate = Gate()
    served.server.script(PATHS[kind], Scripted(body={}).held(gate))
    model = served.provider(quirks={"decisions": kind}).decision_model("m")

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(model.decide, REQUEST)
            await gate.reached()
            scope.cancel()

    await served.server.received[0].hung_up()


@pytest.mark.parametrize(
    ("kind", "band", "limit"),
    [
        ("endpoint", (0.3, 0.7), 400),
        ("system_one", (0.35, 0.65), 200),
        ("logprobs", (0.25, 0.75), 40),
    ],
)
def test_bands_and_limits_are_the_ways_own_unless_the_card_says_otherwise(
    served: Any, kind: str, band: tuple[float, float], limit: int
) -> None:
    client = Client(load_presets()["together"])
    quirks = {"decisions": kind}

    plain = decision_model_for(
        client, "m", ModelCard("together", "m", quirks=quirks), Probe(client)
    )
    known = ModelCard("together", "m", band=(0.1, 0.9), questions=7, quirks=quirks)
    told = decision_model_for(client, "m", known, Probe(client))

    assert (plain.band, plain.max_questions) == (band, limit)
    assert (told.band, told.max_questions) == ((0.1, 0.9), 7)
    assert kind.split("_")[0] in plain.identity.replace("decisions", "endpoint")


@pytest.mark.parametrize("kind", ["endpoint", "system_one"])
def test_a_card_can_not_raise_the_limit_of_a_wire(served: Any, kind: str) -> None:
    client = Client(load_presets()["together"])
    card = ModelCard("together", "m", questions=10_000, quirks={"decisions": kind})

    assert decision_model_for(client, "m", card, Probe(client)).max_questions <= 400


# -- which way --


def test_the_card_says_how_a_model_decides_and_else_the_preset() -> None:
    presets = load_presets()

    def kind(preset: str, **quirks: str) -> Decisions:
        return decision_kind(presets[preset], "m", ModelCard(preset, "m", quirks=quirks))

    assert kind("openrouter") is Decisions.SYSTEM_ONE
    assert kind("mistral") is Decisions.STRUCTURED
    assert kind("vllm") is Decisions.LOGPROBS
    assert kind("openai", decisions="endpoint") is Decisions.ENDPOINT
    assert kind("litellm", decisions="system_one") is Decisions.SYSTEM_ONE


def test_a_card_with_an_unknown_way_is_the_operators_mistake() -> None:
    card = ModelCard("vllm", "m", quirks={"decisions": "dice"})

    with pytest.raises(ConfigError, match=r"vllm:m has quirks.decisions = 'dice'; there are endp"):
        decision_kind(load_presets()["vllm"], "m", card)


@pytest.mark.anyio
async def test_a_model_that_only_writes_says_so() -> None:
    client = Client(load_presets()["mistral"])
    model = decision_model_for(client, "m", ModelCard("mistral", "m"), Probe(client))

    with pytest.raises(UnsupportedError, match="asked for JSON"):
        await model.decide(REQUEST)


# -- laws --


@given(st.permutations(range(8)), st.sets(st.integers(0, 7)), st.lists(st.text("xyz", min_size=1)))
def test_answers_come_once_each_in_the_questions_order_and_none_is_made_up(
    order: list[int], missing: set[int], strangers: list[str]
) -> None:
    asked = {f"q{n}": Question(f"id{n}", "?") for n in range(8)}
    found: dict[str, object] = {f"q{n}": n / 8 for n in order if n not in missing}
    found |= dict.fromkeys(strangers, 0.5)

    answers = read_back(asked, found, Place("p", "m", "key", "address"))

    own = [each for each in answers if not each.question.startswith("unasked")]
    assert [(each.question, each.value) for each in own] == [
        (f"id{n}", n / 8) for n in range(8) if n not in missing
    ]
    assert len(answers) == len(own) + len(set(strangers))
