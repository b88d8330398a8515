"""How a turn asks models: routes, decision requests, answers, and the one door to all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

import attrs

from poise.errors import InvalidValueError
from poise.turn.prompts import Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Capability(Enum):
    """What a model can be asked for."""

    EMBED = "embed"
    DECIDE = "decide"


@attrs.frozen
class Question:
    """A yes/no question about the turn.

    Decision endpoints read `text`, `yes_if` and `no_if`; a model without language reads the rest.

    Attributes:
        id: Unique within the request.
        text: The question, positive and about one thing.
        yes_if: What makes it true.
        no_if: What makes it false.
        examples: Messages for which the answer is yes.
        counterexamples: Near misses.
        prior: Discovery's calibrated probability, where it scored the rule.
    """

    id: str
    text: str
    yes_if: str = ""
    no_if: str = ""
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()
    prior: float | None = None


@attrs.frozen
class DecisionRequest:
    """A batch of yes/no questions about one state.

    Attributes:
        state: What is known: the turn's prompt.
        focus: The texts to be judged, verbatim: the customer's new messages.
        questions: Ids are unique.
    """

    state: Prompt
    focus: tuple[str, ...]
    questions: tuple[Question, ...]

    def __attrs_post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) != len(ids):
            raise InvalidValueError("decision request", "questions", "holds one id twice")


@attrs.frozen
class Probability:
    """A decision model's answer to one question: P(yes), or an abstention."""

    question: str
    value: float | None
    rationale: str = ""

    def __attrs_post_init__(self) -> None:
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise InvalidValueError(
                f"answer to {self.question!r}", "value", f"is {self.value}, not within 0 to 1"
            )


@attrs.frozen
class Answer:
    """An answer after the model's own band was applied.

    Attributes:
        question: The question's id.
        yes: True, False, or `None` for undecided.
        probability: The raw probability, where there is one.
        judged_by: `provider:model`.
        rationale: Why, where the model says so.
    """

    question: str
    yes: bool | None
    probability: float | None
    judged_by: str
    rationale: str = ""


class TurnModels(ABC):
    """The only way to a model: finds it by route, keeps deadlines, writes the ledger and the span.

    Inside a turn it is `turn.models`, bound to that turn. Outside (indexing) the container hands
    out the same object unbound.
    """

    @abstractmethod
    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        """Return one unit row per text; within a turn equal texts are embedded once.

        Raises:
            ProviderError: The model failed or ran out of time.
            UnservedRouteError: No model serves the route.
        """

    @abstractmethod
    async def warm(self, *, route: str = "embed") -> None:
        """Let the model of a route get ready.

        Raises:
            ProviderError: It can't.
            UnservedRouteError: No model serves the route.
        """

    @abstractmethod
    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        """Return exactly one answer per question, in the questions' order.

        Raises:
            ProviderError: The model failed, ran out of time, or broke its contract.
            UnservedRouteError: No model serves the route.
        """

    @abstractmethod
    def serves(self, route: str, capability: Capability) -> bool:
        """Say whether a model is configured for that route with that capability."""

    @abstractmethod
    def identity(self, route: str = "embed") -> str:
        """Return the identity of the model behind a route, for keys of caches.

        Raises:
            UnservedRouteError: No model serves the route.
        """
