"""Answers yes/no questions at the decisions endpoint of the Gemini API, with probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from poise import (
    DecisionModel,
    DecisionRequest,
    MalformedReplyError,
    Probability,
    RefusedError,
    Usage,
)
from poise_google.client import Connection
from poise_google.encode import decision_input, decision_question
from poise_google.errors import Call, translated

if TYPE_CHECKING:
    from google.genai.decisions import CreateDecisionResponse

MAX_QUESTIONS = 1000
"""What the endpoint takes at once."""

API_VERSION = "v1beta"
"""Where the endpoint is, whichever version serves the rest."""


class GoogleDecisionModel(DecisionModel):
    """A model at the decisions endpoint; its probabilities are calibrated, from 0.01 to 0.99.

    Args:
        connection: The way to Google.
        model: As the API knows it.
        max_questions: How many one request may hold.
    """

    def __init__(
        self, connection: Connection, model: str, max_questions: int = MAX_QUESTIONS
    ) -> None:
        self.identity = f"google-{model}"
        self.max_questions = max_questions
        self._connection = connection
        self._model = model

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await self.decide_metered(request))[0]

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        """Return one probability per question, and what they took.

        A question that the endpoint does not answer is left out: the router asks it again.
        """
        state = decision_input(request)
        if not request.questions or not state.strip():
            return [Probability(question.id, None) for question in request.questions], None
        # Ids of our own: those of rules are long, and nothing says what the endpoint takes.
        keys = {question.id: f"q{number}" for number, question in enumerate(request.questions, 1)}
        asked: Mapping[str, Any] = {  # the SDK's union of three kinds of questions
            keys[question.id]: decision_question(question) for question in request.questions
        }
        call = self._connection.call(self._model)
        client = await self._connection.client(call)
        with translated(call):
            response = await client.aio.decisions.create(
                model=self._model, input=state, questions=asked, api_version=API_VERSION
            )
            _refuse_blocked(response, call)
            answers = response.answers or {}
            values = {
                question.id: _value(answers.get(keys[question.id]), call)
                for question in request.questions
            }
            found = [Probability(key, value) for key, value in values.items() if value is not None]
            usage = _usage(response)
        if not found:
            raise MalformedReplyError(
                call.provider, call.model, "", f"none of {len(values)} questions was answered"
            )
        return found, usage


def _value(answer: object, call: Call) -> float | None:
    value = getattr(answer, "noul", None)
    if value is None:
        return None
    # The SDK does not validate what it received.
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise MalformedReplyError(
            call.provider, call.model, "", f"a probability is {value!r}, not within 0 to 1"
        )
    return float(value)


def _refuse_blocked(response: CreateDecisionResponse, call: Call) -> None:
    feedback = response.prompt_feedback
    if feedback is None or feedback.block_reason is None:
        return
    why = feedback.block_reason_message or f"Google blocked the input ({feedback.block_reason})"
    raise RefusedError(call.provider, call.model, "", call.hide(why))


def _usage(response: CreateDecisionResponse) -> Usage | None:
    told = response.usage
    if told is None:
        return None
    thoughts = told.total_thought_tokens or 0
    return Usage(
        input_tokens=told.total_input_tokens or 0,
        cached_tokens=told.total_cached_tokens or 0,
        output_tokens=(told.total_output_tokens or 0) + thoughts,
        reasoning_tokens=thoughts,
    )
