from __future__ import annotations

from typing import Any

import pytest

from poise.errors import (
    InvalidRequestError,
    MalformedReplyError,
    ProviderUnavailableError,
    UnsupportedError,
)
from poise.ports.models import DecisionModel
from poise.prompts import quoted
from poise.testing.fake_server import Scripted
from poise.testing.generation_requests import layered
from poise.turn.generation import Usage
from poise.turn.models import DecisionRequest, Question

pytestmark = pytest.mark.anyio

REQUEST = DecisionRequest(
    layered("Where is it?"),
    ("I lost it",),
    (
        Question("rule:lost", "Is a card lost?", yes_if="it is missing", no_if="it is at hand"),
        Question("rule:angry", "Is the customer angry?", yes_if="they curse"),
    ),
)
NOT_FOUND = Scripted(404, body={"error": {"message": "Not Found", "code": 404}})


@pytest.fixture
def decider(served: Any) -> DecisionModel:
    return served.provider(quirks={"decisions": "system_one"}).decision_model("m")


async def test_answers_come_in_the_questions_order_with_what_they_took(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script("/v1/systemone", Scripted(body=recorded("system_one")))

    found, usage = await decider.decide_metered(REQUEST)

    assert [(each.question, each.value) for each in found] == [
        ("rule:lost", 0.91),
        ("rule:angry", 0.07),
    ]
    assert usage == Usage(input_tokens=476, output_tokens=70)


async def test_criteria_go_together_and_half_of_them_is_said_in_words(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script("/v1/systemone", Scripted(body=recorded("system_one")))

    await decider.decide(REQUEST)

    (body,) = served.sent
    assert set(body) == {"model", "state", "questions"}
    assert body["model"] == "m"
    assert "You are Ada" in body["state"]
    assert f"- {quoted('I lost it')}" in body["state"]
    assert body["questions"] == {
        "q1": {
            "type": "noul",
            "instructions": "Is a card lost?",
            "criteria": {"true": "it is missing", "false": "it is at hand"},
        },
        "q2": {"type": "noul", "instructions": "Is the customer angry?\nYes if: they curse"},
    }


async def test_the_older_path_is_found_and_kept_to(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script("/v1/systemone", NOT_FOUND)
    served.server.script("/alpha/decisions", Scripted(body=recorded("system_one")))

    await decider.decide(REQUEST)
    found = await decider.decide(REQUEST)

    assert [each.value for each in found] == [0.91, 0.07]
    assert [request.path for request in served.server.received] == [
        "/v1/systemone",
        "/alpha/decisions",
        "/alpha/decisions",
    ]
    assert served.server.received[1].headers["authorization"] == "Bearer sk-test-1234567890"


@pytest.mark.parametrize("status", [400, 404])
async def test_a_model_that_does_not_decide_says_so_and_is_not_asked_again(
    served: Any, decider: DecisionModel, status: int
) -> None:
    reason = {"error": {"message": "this one does not support decisions"}}
    served.server.script("/v1/systemone", Scripted(status, body=reason))
    served.server.script("/alpha/decisions", NOT_FOUND)

    for _ in range(2):
        with pytest.raises(UnsupportedError, match="does not support decisions"):
            await decider.decide(REQUEST)

    assert len(served.sent) == 2


async def test_trouble_is_not_taken_for_a_model_that_does_not_decide(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script("/v1/systemone", Scripted(503), Scripted(body=recorded("system_one")))

    with pytest.raises(ProviderUnavailableError):
        await decider.decide(REQUEST)

    assert len(await decider.decide(REQUEST)) == 2


async def test_a_model_that_has_decided_before_keeps_its_errors(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(
        "/v1/systemone", Scripted(body=recorded("system_one")), Scripted(400, body={"error": {}})
    )
    await decider.decide(REQUEST)

    with pytest.raises(InvalidRequestError):
        await decider.decide(REQUEST)


async def test_a_refusal_is_an_abstention_and_what_is_missing_is_left_out(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    reply = {**recorded("system_one"), "answers": {"q2": {"type": "refusal"}}, "usage": None}
    served.server.script("/v1/systemone", Scripted(body=reply))

    found, usage = await decider.decide_metered(REQUEST)

    assert [(each.question, each.value) for each in found] == [("rule:angry", None)]
    assert usage is None


@pytest.mark.parametrize(
    "reply",
    [
        {},
        [],
        "null",
        {"answers": []},
        {"answers": {"q1": 0.5}},
        {"answers": {"q1": {"type": "noul", "noul": 1.5}}},
        {"answers": {"q1": {"type": "noul", "noul": "high"}}},
        {"answers": {"q1": {"type": "noul"}}},
        {"answers": {"q1": {"type": "choice", "choice": "yes"}}},
    ],
)
async def test_an_answer_of_another_shape_is_malformed(
    served: Any, decider: DecisionModel, reply: Any
) -> None:
    served.server.script("/v1/systemone", Scripted(body=reply))

    with pytest.raises(MalformedReplyError):
        await decider.decide(REQUEST)


async def test_a_failure_with_the_status_of_a_success_is_that_failure(
    served: Any, decider: DecisionModel
) -> None:
    error = {"error": {"code": "server_error", "message": "upstream is down"}}
    served.server.script("/v1/systemone", Scripted(body=error))

    with pytest.raises(ProviderUnavailableError, match="upstream is down"):
        await decider.decide(REQUEST)
