"""Decision models that speak System One, as gateways and several servers give them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from poise.errors import InvalidRequestError, ProviderError, UnknownModelError, UnsupportedError
from poise.ports.models import DecisionModel
from poise.turn.cards import ModelCard
from poise.turn.generation import Usage
from poise.turn.models import DecisionRequest, Probability, Question
from poise_openai import questions
from poise_openai.client import Client
from poise_openai.decode import unreadable
from poise_openai.encode import clean

MAX_QUESTIONS = 200
"""What the models on offer take at once."""

BAND = (0.35, 0.65)
"""One band for models of many makers, whose thresholds do not carry over: cards know better."""

_PATH = "/systemone"
_ALPHA = "/alpha/decisions"


class _Counts(BaseModel):
    """Token counts, whichever way they are told."""

    model_config = ConfigDict(extra="ignore")

    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_details: dict[str, Any] = Field(default_factory=dict)  # JSON


class _Reply(BaseModel):
    """What a server answers; only what is read here."""

    model_config = ConfigDict(extra="ignore")

    answers: dict[str, dict[str, Any]]  # JSON; answers of a kind that nobody asked for differ
    usage: _Counts | None = None


class SystemOneDecisionModel(DecisionModel):
    """A model at `/systemone`, or at the older path that some gateways have it under."""

    def __init__(self, client: Client, model: str, card: ModelCard) -> None:
        self.identity = f"{client.provider}-{model}-system-one"
        self.band = card.band or BAND
        self.max_questions = min(card.questions or MAX_QUESTIONS, MAX_QUESTIONS)
        self._client = client
        self._model = model
        self._path: str | None = None
        self._refused = ""

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await self.decide_metered(request))[0]

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        """Return the probabilities that came, in the questions' order, and what they took.

        Raises:
            UnsupportedError: The server does not answer questions with this model.
            ProviderError: It failed.
        """
        if not questions.has_matter(request):
            return questions.abstentions(request), None
        asked = questions.keyed(request)
        reply = await self._reply(
            {
                "model": self._model,
                # Text: some models take no structured state.
                "state": clean(questions.in_words(request).text),
                "questions": {key: _question(question) for key, question in asked.items()},
            }
        )
        place = self._client.place(self._model)
        found = {key: _value(answer) for key, answer in reply.answers.items()}
        return questions.read_back(asked, found, place), _usage(reply.usage)

    async def _reply(self, body: Mapping[str, Any]) -> _Reply:
        """Return the answer from the first path that has one; then that path is kept to."""
        if self._path is not None:
            return await self._post(self._path, body)
        if self._refused:
            raise self._gives_none()
        refused: ProviderError | None = None
        for path in self._paths():
            try:
                reply = await self._post(path, body)
            except (UnknownModelError, InvalidRequestError) as exc:
                # The first path's reason tells more: the others may just not be there.
                refused = refused or exc
            else:
                self._path = path
                return reply
        # Generating models share the gateway with those that decide, and nothing tells them apart.
        self._refused = "no path was tried" if refused is None else refused.reason
        raise self._gives_none() from refused

    def _gives_none(self) -> UnsupportedError:
        return UnsupportedError(
            self._client.provider,
            self._model,
            "",
            f"gives no probabilities at {_PATH}; route decisions to a decision model, or set "
            f"`quirks.decisions` of its card: {self._refused}",
        )

    def _paths(self) -> Sequence[str]:
        base = self._client.base_url.rstrip("/")
        alpha = f"{base.removesuffix('/v1')}{_ALPHA}"
        return (_PATH, alpha) if base.endswith("/v1") else (_PATH,)

    async def _post(self, path: str, body: Mapping[str, Any]) -> _Reply:
        sdk = await self._client.sdk(self._model)
        with self._client.translating(self._model):
            answer: object = await sdk.post(path, cast_to=object, body=body)
            if not isinstance(answer, Mapping) or "answers" not in answer:
                error = answer.get("error") if isinstance(answer, Mapping) else None
                raise unreadable(SimpleNamespace(error=error), self._client.place(self._model))
            return _Reply.model_validate(answer)


def _question(question: Question) -> dict[str, Any]:
    criteria = {"true": question.yes_if.strip(), "false": question.no_if.strip()}
    # They go together or not at all: half of them is said in words.
    if all(criteria.values()):
        return {
            "type": "noul",
            "instructions": questions.instructions(question, criteria=False),
            "criteria": {key: clean(text) for key, text in criteria.items()},
        }
    return {"type": "noul", "instructions": questions.instructions(question)}


def _value(answer: Mapping[str, Any]) -> object:
    if answer.get("type") == "refusal":
        return None
    value: object = answer.get("noul")
    return "nothing" if value is None else value


def _usage(told: _Counts | None) -> Usage | None:
    if told is None:
        return None
    cached = told.input_tokens_details.get("cached_tokens")
    return Usage(
        input_tokens=told.input_tokens,
        cached_tokens=cached if isinstance(cached, int) else 0,
        output_tokens=told.output_tokens,
    )
