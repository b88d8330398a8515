"""Yes/no questions to any model whose server tells how likely the first word of an answer is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import attrs

from poise import prompts
from poise.errors import UnsupportedError
from poise.ports.models import DecisionModel
from poise.turn.cards import ModelCard
from poise.turn.generation import GenerationOptions, Reasoning, Usage
from poise.turn.models import DecisionRequest, Probability, Question
from poise.turn.prompts import Cut, Prompt, Section, Stability
from poise_openai import questions
from poise_openai.client import Client, lean
from poise_openai.decode import chat_usage, read_completion
from poise_openai.encode import Asked, Encoder
from poise_openai.preset import Caching

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

MAX_QUESTIONS = 40
"""Each is a request of its own; a failure repeats those that share a batch."""

BAND = (0.25, 0.75)
"""Models are surer of a word than they are right about it, so the band is wide."""

LEAST_MASS = 0.25
"""Share of the first word that yes and no must have together; below, the answer is neither."""

AT_ONCE = 8
"""Questions under way at once where the provider's `concurrency` does not say."""

_YES = frozenset({"yes", "yeah", "yep", "true"})
_NO = frozenset({"no", "nope", "false"})
_TRIMMED = " \t\r\n\"'`*_.,:;!([{▁Ġ"
_ANSWER = "Answer yes or no.\nAnswer:"


class KnowsLogprobs(Protocol):
    """Knows what a server tells of the words that a model might have begun with."""

    async def alternatives(self, model: str) -> int:
        """Return how many alternatives can be asked for; 0: deciding in this way does not work."""
        ...


@attrs.frozen
class Shares:
    """How likely a model was to begin its answer with yes, and with no."""

    yes: float
    no: float

    @property
    def mass(self) -> float:
        """How likely it was to begin with either."""
        return self.yes + self.no

    @property
    def value(self) -> float | None:
        """P(yes), given that it is one of the two; `None`: it was too likely to be neither."""
        if not math.isfinite(self.mass) or self.mass < LEAST_MASS:
            return None
        return min(1.0, max(0.0, self.yes / self.mass))


class LogprobDecisionModel(DecisionModel):
    """Decides by the first word of a generating model's answer, one request per question.

    All requests of a batch begin with the same bytes. The first one goes ahead of the others, so
    that these find the beginning in the server's cache.
    """

    def __init__(
        self, client: Client, model: str, *, card: ModelCard, logprobs: KnowsLogprobs
    ) -> None:
        self.identity = f"{client.provider}-{model}-logprobs"
        self.band = card.band or BAND
        self.max_questions = card.questions or MAX_QUESTIONS
        self._client = client
        self._model = model
        self._asking = OneWord(client, model, card)
        self._logprobs = logprobs
        self._slots = anyio.CapacityLimiter(client.settings.concurrency or AT_ONCE)

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await self.decide_metered(request))[0]

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        """Return exactly one probability per question, and what they took together.

        Raises:
            UnsupportedError: The server does not tell what this needs.
            ProviderError: One of the requests failed; the others are given up.
        """
        if not questions.has_matter(request):
            return questions.abstentions(request), None
        alternatives = await self._logprobs.alternatives(self._model)
        if not alternatives:
            raise UnsupportedError(
                self._client.provider,
                self._model,
                "",
                "the server does not tell how likely the words yes and no were; route decisions "
                "to another model, or set `quirks.decisions` of its card",
            )
        prompt = questions.in_words(request)
        key = questions.shared_key(request)
        answers: list[Probability | None] = [None] * len(request.questions)
        usages: list[Usage] = []
        failures: list[Exception] = []

        async def ask(position: int, question: Question) -> None:
            try:
                async with self._slots:
                    shares, usage = await self._asking.ask(
                        prompt.followed_by(_section(question)), alternatives, cache_key=key
                    )
            except Exception as exc:
                failures.append(exc)
                group.cancel_scope.cancel()
                return
            answers[position] = _answer(question, shares)
            if usage is not None:
                usages.append(usage)

        async with anyio.create_task_group() as group:
            for position, question in enumerate(request.questions):
                if position == 0 and self._client.preset.caching is Caching.AUTOMATIC:
                    await ask(position, question)
                else:
                    group.start_soon(ask, position, question)
        if failures:
            raise failures[0]
        total = sum(usages, Usage()) if usages else None
        return [answer for answer in answers if answer is not None], total


class OneWord:
    """Has a model begin an answer, and reads how likely each beginning was."""

    def __init__(self, client: Client, model: str, card: ModelCard) -> None:
        self._client = client
        self._model = model
        self._encoder = Encoder(client.preset, model, card)
        # A model that thinks first says no word of its answer; where it can be told not to, it is.
        thinks = "none" in (card.quirks.get("efforts") or ())
        self._options = GenerationOptions(
            max_output=1, temperature=0.0, reasoning=Reasoning.NONE if thinks else None
        )

    async def ask(
        self, prompt: Prompt, alternatives: int, *, cache_key: str = ""
    ) -> tuple[Shares | None, Usage | None]:
        """Return the shares of yes and no in the first word; `None`: the server does not tell.

        Raises:
            ProviderError: The request failed.
        """
        options = attrs.evolve(self._options, cache_key=cache_key)
        params = {
            **self._encoder.chat(prompt, Asked(options)),
            "logprobs": True,
            "top_logprobs": alternatives,
        }
        sdk = await self._client.sdk(self._model)
        completion: ChatCompletion = await self._client.send(
            self._model, lean(sdk.chat.completions.create), params
        )
        with self._client.translating(self._model):
            read_completion(completion, self._client.place(self._model))
            likely = _first_word(completion)
            usage = chat_usage(getattr(completion, "usage", None))
        return (shares_of(likely) if likely else None), usage


def shares_of(likely: Mapping[str, float]) -> Shares:
    """Return the shares of yes and no among first words with their log-probabilities.

    Spelling does not matter: ` Yes`, `**yes` and `"YES"` are all yes.
    """
    words = [(_plain(word), math.exp(min(0.0, logprob))) for word, logprob in likely.items()]
    return Shares(
        yes=math.fsum(sorted(share for word, share in words if word in _YES)),
        no=math.fsum(sorted(share for word, share in words if word in _NO)),
    )


def ending(question: str) -> Section:
    """Return what comes last in a prompt: the question, and how it is to be answered."""
    return Section("question", f"Question: {question}\n{_ANSWER}", Stability.TURN, cut=Cut.NOTHING)


def _section(question: Question) -> Section:
    lines = [questions.instructions(question)]
    for word, texts in (("yes", question.examples), ("no", question.counterexamples)):
        if texts:
            lines.append(f"E.g. {word}: {'; '.join(map(prompts.quoted, texts))}")
    return ending("\n".join(lines))


def _answer(question: Question, shares: Shares | None) -> Probability:
    if shares is None:
        return Probability(question.id, None, "the server told no probabilities this time")
    if shares.value is None:
        share = f"{100 * shares.mass:.0f} %"
        return Probability(question.id, None, f"yes and no had {share} of the first word together")
    return Probability(question.id, shares.value)


def _first_word(completion: ChatCompletion) -> Mapping[str, float]:
    """Return the alternatives for the first token of an answer, with their log-probabilities."""
    told = getattr(completion.choices[0], "logprobs", None)
    tokens = getattr(told, "content", None)
    if not tokens:
        return {}
    return dict(_pairs((*(getattr(tokens[0], "top_logprobs", None) or ()), tokens[0])))


def _pairs(tokens: Iterable[Any]) -> Iterable[tuple[str, float]]:  # the SDK's two kinds of token
    for each in tokens:
        logprob = getattr(each, "logprob", None)
        if isinstance(logprob, int | float) and not math.isnan(logprob):
            yield str(each.token), float(logprob)


def _plain(word: str) -> str:
    return word.strip(_TRIMMED).casefold()
