"""Models: what a provider serves. A plugin never calls one: it goes through `turn.models`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from poise.turn.cards import Price
from poise.turn.generation import GenerationOptions, Moderation, StructuredReply, TextChunk, Usage
from poise.turn.models import Capability, DecisionRequest, Probability
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(ABC):
    """Turns texts into vectors.

    Attributes:
        identity: Changes whenever the same text could get another vector; part of cache keys.
        dimensions: Length of a vector.
    """

    identity: str
    dimensions: int

    async def warm(self) -> None:  # noqa: B027 - optional: not every model has something to load
        """Do now what the first `embed` would have to do beside its work, e.g. read a model.

        The application calls it once at its start, beside everything else; a failure is logged,
        and the first `embed` will say what is wrong.
        """

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape `(len(texts), dimensions)` with rows of length 1.

        The same text gives the same row whatever it is embedded with, to float noise. A text that
        has nothing to embed (empty, blanks) is the first unit vector. Work is done off the event
        loop. No text is refused for its content or its length.

        Raises:
            ProviderError: The model can't answer.
        """

    async def embed_metered(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Usage | None]:
        """Return what `embed` does, with what it took, for models that cost something."""
        return await self.embed(texts), None


class DecisionModel(ABC):
    """Answers a batch of yes/no questions with probabilities.

    Attributes:
        identity: Name and build, for ledgers and caches.
        band: A probability at or below the first number is a no, at or above the second a yes;
            in between the answer is undecided.
        max_questions: How many one request may hold; the router splits larger ones.
    """

    identity: str
    band: tuple[float, float] = (0.35, 0.65)
    max_questions: int = 1000

    @abstractmethod
    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        """Return exactly one probability per question, in the questions' order.

        A model that can't tell returns an abstention (`value=None`), never a guess. What the
        server left out altogether may be left out: the router asks again for that alone.

        Raises:
            UnsupportedError: It turns out to give no probabilities: it is asked for JSON instead.
            ProviderError: The model can't answer.
        """

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        """Return what `decide` does, with what it took, for models that cost something."""
        return await self.decide(request), None


class TextGenerator(ABC):
    """Writes text.

    It sends one request and translates: deadlines, retries, fallbacks, and limits on concurrency
    are the router's, for every provider alike. So an SDK's own retries are turned off.
    """

    @abstractmethod
    def stream(self, prompt: Prompt, *, options: GenerationOptions) -> AsyncIterator[TextChunk]:
        """Yield words as they come, then exactly one chunk with a `finish`, the last.

        `prompt.blocks` says where the provider's cache may be cut. Options that the model does
        not take are left out. A model that answers all at once yields it as one chunk. Closing
        the iterator, or cancelling, ends the request.

        Raises:
            ProviderError: While iterating; the subclass says whether a retry may help. A stream
                that ends without saying why is a `ProviderUnavailableError`.
        """

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        """Have the provider cache the beginning of `prompt`, for as little output as it allows.

        The default does nothing and says so by `None`: the provider caches by itself, or not.

        Raises:
            ProviderError: It can't.
        """
        return None


class StructuredGenerator(ABC):
    """Writes JSON of a schema, by whatever its vendor has for that.

    A model that only writes text needs none of this: the router asks it for JSON in words, reads
    it out of the answer, validates, and has it repaired. It does so for these, too.
    """

    @abstractmethod
    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        """Return what the model wrote, whole; fields are asked for in the schema's order.

        A refusal and a truncation are outcomes of the reply, not errors.

        Raises:
            UnsupportedError: It turns out to have nothing for that: it is asked in words instead.
            ProviderError: The subclass says whether a retry may help.
        """


class Moderator(ABC):
    """Says whether texts break a provider's policy on content."""

    @abstractmethod
    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        """Return exactly one moderation per text, in the texts' order.

        Raises:
            ProviderError: The model can't answer.
        """


class ModelProvider(ABC):
    """One vendor: gives out models by name. Constructing one does no I/O and imports no SDK.

    A model is asked for once per application and capability, and kept.

    Attributes:
        name: As routes write it, before the colon: `embedded` in `embedded:use`.
        concurrency: How many requests may be under way at once; `None`: any number.
    """

    name: str
    concurrency: int | None = None

    @abstractmethod
    def models(self, capability: Capability) -> Sequence[str]:
        """Return the names of known models with that capability, the preferred one first."""

    def capabilities(self, model: str) -> frozenset[Capability]:
        """Return what `model` can be asked for.

        The default knows what `models` lists. A provider that takes names which it does not list
        says here what it expects of them.
        """
        return frozenset(each for each in Capability if model in self.models(each))

    def embedder(self, model: str) -> Embedder:
        """Return the embedder called `model`; called once per application, before it is used.

        Raises:
            UnknownOfferError: There is none of that name.
        """
        raise self._unknown("embedder", model, Capability.EMBED)

    def decision_model(self, model: str) -> DecisionModel:
        """Return the decision model called `model`.

        Raises:
            UnknownOfferError: There is none of that name.
        """
        raise self._unknown("decision model", model, Capability.DECIDE)

    def card_of(self, model: str) -> tuple[str, str]:
        """Return under which provider and model the card and the price of `model` are found.

        The default: this one's own. A provider that wraps another says the other's.
        """
        return self.name, model

    def text_generator(self, model: str) -> TextGenerator:
        """Return what writes text with `model`.

        Raises:
            UnknownOfferError: There is none of that name.
        """
        raise self._unknown("text generator", model, Capability.TEXT)

    def structured_generator(self, model: str) -> StructuredGenerator:
        """Return what writes JSON with `model`.

        Raises:
            UnknownOfferError: There is none of that name.
        """
        raise self._unknown("structured generator", model, Capability.STRUCTURED)

    def moderator(self, model: str) -> Moderator:
        """Return the moderator called `model`.

        Raises:
            UnknownOfferError: There is none of that name.
        """
        raise self._unknown("moderator", model, Capability.MODERATE)

    async def count_tokens(self, model: str, prompt: Prompt) -> int | None:
        """Return how many tokens `model` reads in `prompt`; `None`: the router estimates.

        Raises:
            ProviderError: It can't be found out now.
        """
        return None

    async def probe(self, model: str) -> Mapping[str, str]:
        """Return what was found out about `model` by asking it, in words, by topic.

        Found out once and kept. The default: nothing, since nothing is assumed.

        Raises:
            ProviderError: The model can't be asked.
        """
        return {}

    async def aclose(self) -> None:  # noqa: B027 - optional: not every provider opens something
        """Close what was opened; called once, when the application stops."""

    def _unknown(self, what: str, model: str, capability: Capability) -> Exception:
        from poise.errors import UnknownOfferError

        return UnknownOfferError(
            f"{what} of provider {self.name!r}", model, tuple(self.models(capability))
        )


class Providers(ABC):
    """The providers of one application, for a provider that wraps another."""

    @abstractmethod
    def get(self, name: str) -> ModelProvider:
        """Return the provider called `name`, the same one each time.

        Raises:
            UnknownOfferError: No plugin offers it.
        """


class PriceTable(ABC):
    """Knows what models cost, where their cards do not say."""

    @abstractmethod
    def price(self, provider: str, model: str) -> Price | None:
        """Return the price of a model today, or `None`. Fast and without I/O."""
