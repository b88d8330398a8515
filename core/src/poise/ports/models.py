"""Models: what a provider serves. A plugin never calls one: it goes through `turn.models`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from poise.turn.models import Capability, DecisionRequest, Probability

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


class DecisionModel(ABC):
    """Answers a batch of yes/no questions with probabilities.

    Attributes:
        identity: Name and build, for ledgers and caches.
        band: A probability at or below the first number is a no, at or above the second a yes;
            in between the answer is undecided.
    """

    identity: str
    band: tuple[float, float] = (0.35, 0.65)

    @abstractmethod
    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        """Return exactly one probability per question, in the questions' order.

        A model that can't tell returns an abstention (`value=None`), never a guess.

        Raises:
            ProviderError: The model can't answer.
        """


class ModelProvider(ABC):
    """One vendor: gives out models by name. Constructing one does no I/O.

    Attributes:
        name: As routes write it, before the colon: `embedded` in `embedded:use`.
    """

    name: str

    @abstractmethod
    def models(self, capability: Capability) -> Sequence[str]:
        """Return the names of known models with that capability, the preferred one first."""

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

    def _unknown(self, what: str, model: str, capability: Capability) -> Exception:
        from poise.errors import UnknownOfferError

        return UnknownOfferError(
            f"{what} of provider {self.name!r}", model, tuple(self.models(capability))
        )
