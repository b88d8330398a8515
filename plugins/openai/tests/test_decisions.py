from __future__ import annotations

from typing import Any

import pytest

from poise.errors import MalformedReplyError, RefusedError
from poise.ports.models import DecisionModel
from poise.prompts import quoted
from poise.testing.fake_server import Scripted
from poise.testing.generation_requests import layered
from poise.turn.generation import Usage
from poise.turn.models import DecisionRequest, Question
from poise.turn.prompts import Prompt

pytestmark = pytest.mark.anyio

LOST = Question("rule:lost", "Is a card lost?", yes_if="it is missing", no_if="it is at hand")
ANGRY = Question("rule:angry", "Is the customer angry?")
SAD = Question("rule:sad", "Is the customer sad?")
REQUEST = DecisionRequest(
    layered("Where is it?"),
    ('I lost "it"\nyesterday', "Réponds ou pas"),
    (LOST, ANGRY, SAD),
    task="Read each as a claim about the last message.",
)


@pytest.fixture
def endpoint(served: Any, recorded: Any) -> Any:
    """Script the endpoint; return a function that makes the model under test."""

    def make(reply: Any = None, **said: Any) -> DecisionModel:
        answer = recorded("decision") if reply is None else reply
        scripted = answer if isinstance(answer, Scripted) else Scripted(body=answer)
        served.server.script("/v1/decisions", scripted)
        quirks = {"decisions": "endpoint", **said.pop("quirks", {})}
        return served.provider("openai", quirks=quirks, **said).decision_model("m")

    return make


async def test_probabilities_are_raw_a_refusal_is_an_abstention_and_usage_is_told(
    endpoint: Any,
) -> None:
    found, usage = await endpoint().decide_metered(REQUEST)

    assert [(each.question, each.value) for each in found] == [
        ("rule:lost", 0.91),
        ("rule:angry", 0.07),
        ("rule:sad", None),
    ]
    assert found[2].rationale == "the model declined to answer"
    assert usage == Usage(input_tokens=420, cached_tokens=256, written_tokens=64, output_tokens=3)


async def test_state_messages_and_questions_are_sent_as_the_endpoint_takes_them(
    endpoint: Any, served: Any
) -> None:
    await endpoint().decide(REQUEST)

    (body,) = served.sent
    assert set(body) == {"model", "input", "questions", "prompt_cache_key"}
    lasting, passing = body["input"]
    assert (lasting["role"], passing["role"]) == ("developer", "user")
    assert "You are Ada" in lasting["content"]
    for text in REQUEST.focus:
        assert f"- {quoted(text)}" in passing["content"]
        assert text not in lasting["content"]
    assert passing["content"].endswith(REQUEST.task)
    assert body["questions"][:2] == [
        {
            "type": "predicate",
            "name": "q1",
            "instructions": "Is a card lost?\nYes if: it is missing\nNo if: it is at hand",
        },
        {"type": "predicate", "name": "q2", "instructions": "Is the customer angry?"},
    ]


async def test_the_cache_is_cut_where_the_prompt_stops_lasting(endpoint: Any, served: Any) -> None:
    model = endpoint(quirks={"cache": "explicit"})

    await model.decide(REQUEST)
    await model.decide(DecisionRequest(layered("Other words"), ("Hello",), (ANGRY,)))

    first, second = served.sent
    parts = [part for message in first["input"] for part in message["content"]]
    assert {part["type"] for part in parts} == {"input_text"}
    marked = [part.get("prompt_cache_breakpoint") for part in parts]
    assert marked == [{"mode": "explicit"}, {"mode": "explicit"}, None]
    assert first["prompt_cache_options"] == {"mode": "explicit"}
    assert first["prompt_cache_key"] == second["prompt_cache_key"] != ""
    assert first["input"][0] == second["input"][0]


async def test_answers_without_names_count_by_their_place(endpoint: Any, recorded: Any) -> None:
    reply = recorded("decision")
    for answer in reply["answers"]:
        answer["name"] = None

    found = await endpoint(reply).decide(REQUEST)

    assert [each.value for each in found] == [0.91, 0.07, None]


async def test_names_count_more_than_places(endpoint: Any, recorded: Any) -> None:
    reply = recorded("decision")
    reply["answers"].reverse()

    found = await endpoint(reply).decide(REQUEST)

    assert [each.value for each in found] == [0.91, 0.07, None]


async def test_what_is_missing_is_left_to_be_asked_again_and_strangers_are_shown(
    endpoint: Any, recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """B-006."""
    reply = recorded("decision")
    reply["answers"][1]["name"] = "q77"

    found = await endpoint(reply).decide(REQUEST)

    assert [each.question for each in found] == ["rule:lost", "rule:sad", "unasked q77"]
    (warned,) = (each for each in caplog.records if each.name.startswith("poise"))
    assert warned.message == "a server left questions unanswered"
    assert (vars(warned)["asked"], vars(warned)["answered"]) == (3, 2)


@pytest.mark.parametrize("value", [1.2, -0.1, "high", None, float("nan")])
async def test_what_is_no_probability_is_malformed(
    endpoint: Any, recorded: Any, value: object
) -> None:
    reply = recorded("decision")
    reply["answers"][0]["probability"] = value

    with pytest.raises(MalformedReplyError, match="not a number within 0 to 1"):
        await endpoint(reply).decide(REQUEST)


async def test_a_hair_beyond_one_is_one(endpoint: Any, recorded: Any) -> None:
    reply = recorded("decision")
    reply["answers"][0]["probability"] = 1.0000001

    assert (await endpoint(reply).decide(REQUEST))[0].value == 1.0


@pytest.mark.parametrize("reply", [{}, {"answers": None}, {"answers": {"q1": 1}}, [], "no"])
async def test_an_answer_of_another_shape_is_malformed(endpoint: Any, reply: Any) -> None:
    with pytest.raises(MalformedReplyError):
        await endpoint(Scripted(body=reply if reply != "no" else '"no"')).decide(REQUEST)


async def test_a_refused_input_is_refused_as_a_whole(endpoint: Any) -> None:
    error = {"message": "It breaks the policy.", "code": "content_policy_violation"}

    with pytest.raises(RefusedError, match="breaks the policy"):
        await endpoint(Scripted(400, body={"error": error})).decide(REQUEST)


async def test_where_there_is_nothing_to_judge_no_request_is_made(
    endpoint: Any, served: Any
) -> None:
    empty = DecisionRequest(Prompt(()), (" ",), (LOST,))

    found, usage = await endpoint().decide_metered(empty)

    assert [each.value for each in found] == [None]
    assert usage is None
    assert served.sent == []


async def test_a_refused_parameter_is_left_out_from_then_on(
    endpoint: Any, served: Any, recorded: Any
) -> None:
    """B-089."""
    model = endpoint()
    message = "Unsupported parameter: 'prompt_cache_key' is not supported with this model."
    refusal = {"error": {"message": message, "param": "prompt_cache_key"}}
    served.server.script(
        "/v1/decisions", Scripted(400, body=refusal), Scripted(body=recorded("decision"))
    )

    await model.decide(REQUEST)
    await model.decide(REQUEST)

    assert ["prompt_cache_key" in body for body in served.sent] == [True, False, False]
