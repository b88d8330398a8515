"""The vendor's decisions endpoint: many yes/no questions about one input, in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from poise.ports.models import DecisionModel
from poise.turn.cards import ModelCard
from poise.turn.generation import GenerationOptions, Usage
from poise.turn.models import DecisionRequest, Probability, Question
from poise_openai import questions
from poise_openai.client import Client, lean
from poise_openai.decode import response_usage, unreadable
from poise_openai.encode import Asked, Encoder
from poise_openai.errors import Place

if TYPE_CHECKING:
    from openai.types import Decision

MAX_QUESTIONS = 400
"""What the endpoint takes at once."""

BAND = (0.3, 0.7)
"""Its probabilities are calibrated: at either end of this band it errs three times in ten."""

_TAKEN = ("model", "input", "prompt_cache_key", "prompt_cache_options")


class OpenAIDecisionModel(DecisionModel):
    """A model at `/decisions`."""

    def __init__(self, client: Client, model: str, card: ModelCard) -> None:
        self.identity = f"{client.provider}-{model}-decisions"
        self.band = card.band or BAND
        self.max_questions = min(card.questions or MAX_QUESTIONS, MAX_QUESTIONS)
        self._client = client
        self._model = model
        self._encoder = Encoder(client.preset, model, card)

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await self.decide_metered(request))[0]

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        """Return the probabilities that came, in the questions' order, and what they took.

        A question that the model declines is an abstention. One that the server left out is left
        out here, too: the router asks for it again.
        """
        if not questions.has_matter(request):
            return questions.abstentions(request), None
        asked = questions.keyed(request)
        sdk = await self._client.sdk(self._model)
        # The SDK wants the questions as an argument of their own; `lean` sends them unwalked.
        create = lean(partial(sdk.decisions.create, questions=()))
        decision: Decision = await self._client.send(
            self._model, create, self._params(request, asked)
        )
        place = self._client.place(self._model)
        with self._client.translating(self._model):
            found = questions.read_back(asked, _read(decision, asked, place), place)
            return found, response_usage(getattr(decision, "usage", None))

    def _params(self, request: DecisionRequest, asked: Mapping[str, Question]) -> dict[str, Any]:
        options = GenerationOptions(cache_key=questions.shared_key(request))
        written = self._encoder.responses(questions.in_words(request), Asked(options))
        return {
            **{name: written[name] for name in _TAKEN if name in written},
            "questions": [
                {
                    "type": "predicate",
                    "name": key,
                    "instructions": questions.instructions(question),
                }
                for key, question in asked.items()
            ],
        }


def _read(decision: Decision, asked: Mapping[str, Question], place: Place) -> dict[str, object]:
    """Return the probabilities by key; `None`: declined. Nameless answers count by their place."""
    answers = getattr(decision, "answers", None)
    if not isinstance(answers, list):
        raise unreadable(decision, place)
    keys = list(asked)
    found: dict[str, object] = {}
    for position, answer in enumerate(answers):
        here = keys[position] if position < len(keys) else f"number {position + 1}"
        key = getattr(answer, "name", None) or here
        declined = getattr(answer, "type", None) == "refusal"
        found[key] = None if declined else _told(answer)
    return found


def _told(answer: object) -> object:
    value = getattr(answer, "probability", None)
    return "nothing" if value is None else value
