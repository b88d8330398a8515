"""How a turn asks models: routes, decision requests, answers, and the one door to all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from poise.errors import InvalidValueError, UnservedRouteError
from poise.turn.prompts import Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic import BaseModel

    from poise.turn.generation import Generation, GenerationOptions, Moderation, TextChunk

M = TypeVar("M", bound="BaseModel")


class Capability(Enum):
    """What a model can be asked for."""

    EMBED = "embedding"
    DECIDE = "decision"
    STRUCTURED = "structured"
    TEXT = "text"
    MODERATE = "moderation"


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
        form: Name of the form of the request that a model which writes fills in for it; empty for
            the short one.
    """

    id: str
    text: str
    yes_if: str = ""
    no_if: str = ""
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()
    prior: float | None = None
    form: str = ""


@attrs.frozen
class Form:
    """How one kind of question is put to a model that writes, and what it fills in for each.

    Attributes:
        name: Letters, digits and `_`; unique within the request.
        task: How the questions are to be read.
        schema: A pydantic model whose last field is `verdict` (`yes`, `no`, `unclear`), or `None`
            for the short form.
    """

    name: str
    task: str = ""
    schema: type[BaseModel] | None = None


@attrs.frozen
class DecisionRequest:
    """A batch of yes/no questions about one state.

    Attributes:
        state: What is known: the turn's prompt.
        focus: The texts to be judged, verbatim: the customer's new messages.
        questions: Ids are unique.
        task: How the questions are to be read, for models that read language.
        explain: Whether a reason is wanted with each answer.
        forms: How a model that writes is asked; one without questions is left out. Decision
            models read `task` and the questions alone.
    """

    state: Prompt
    focus: tuple[str, ...]
    questions: tuple[Question, ...]
    task: str = ""
    explain: bool = False
    forms: tuple[Form, ...] = ()

    def __attrs_post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) != len(ids):
            raise InvalidValueError("decision request", "questions", "holds one id twice")
        names = [form.name for form in self.forms]
        if len(set(names)) != len(names):
            raise InvalidValueError("decision request", "forms", "holds one name twice")
        for question in self.questions:
            if question.form and question.form not in names:
                raise InvalidValueError(
                    f"question {question.id!r}", "form", f"names {question.form!r}, not in `forms`"
                )


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
        details: What a model that writes filled in beside the verdict, by the form's fields.
    """

    question: str
    yes: bool | None
    probability: float | None
    judged_by: str
    rationale: str = ""
    details: Mapping[str, Any] = attrs.field(factory=dict, hash=False)


class TurnModels(ABC):
    """The only way to a model: finds it by route, keeps deadlines, writes the ledger and the span.

    It also retries what may be retried, falls back, repairs malformed answers, fits prompts to
    the model's window, and keeps to the limits on spending. Inside a turn it is `turn.models`,
    bound to that turn. Outside (indexing) the container hands out the same object unbound.
    """

    async def ask(
        self,
        route: str,
        prompt: Prompt,
        schema: type[M],
        *,
        options: GenerationOptions | None = None,
    ) -> Generation[M]:
        """Return a validated instance of `schema`, a pydantic model.

        Its JSON schema must lie within the subset of `turn.schemas`; fields are asked for in
        their order. Extra fields of an answer are ignored where the model allows it.

        Raises:
            InvalidValueError: The schema can't be asked for.
            RefusedError: The model declined.
            TruncatedError: The answer did not fit the output limit.
            MalformedReplyError: No model gave a valid answer, repairs included.
            ProviderError: All models of the route failed; the error is the last one's.
            UnservedRouteError: No model serves the route.
        """
        raise _unserved(route, Capability.STRUCTURED)

    def write(
        self, route: str, prompt: Prompt, *, options: GenerationOptions | None = None
    ) -> AsyncIterator[TextChunk]:
        """Yield the model's words as they come; the last chunk has a `finish`.

        Until the first words, a failure is retried and falls back like any other; afterwards it
        is raised. Close the iterator to stop the model.

        Raises:
            ProviderError: As `ask`, while iterating; a refusal and a truncation are outcomes on
                the last chunk.
            UnservedRouteError: No model serves the route.
        """
        raise _unserved(route, Capability.TEXT)

    async def moderate(
        self, texts: Sequence[str], *, route: str = "screen"
    ) -> Sequence[Moderation]:
        """Return what a moderation model says of each text, in their order.

        Raises:
            ProviderError: The model failed or ran out of time.
            UnservedRouteError: No model serves the route.
        """
        raise _unserved(route, Capability.MODERATE)

    @abstractmethod
    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        """Return one unit row per text; within a turn equal texts are embedded once.

        Raises:
            ProviderError: The model failed or ran out of time.
            UnservedRouteError: No model serves the route.
        """

    @abstractmethod
    async def warm(self, *, route: str = "embed", prompt: Prompt | None = None) -> None:
        """Let the model of a route get ready: load it, or cache what `prompt` begins with.

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
        """Say whether a model is configured for that route that can do this in some way."""

    def way(self, route: str, capability: Capability) -> Capability | None:
        """Return how the first model of a route would be asked for a capability.

        `capability` itself where the model has it; else the next way of having it, e.g.
        STRUCTURED for a decision that is asked for as JSON; `None` where nothing serves the route.
        """
        return capability if self.serves(route, capability) else None

    def served_by(self, route: str, capability: Capability) -> Sequence[str]:
        """Return the models of a route that can do this, as `provider:model`, in their order."""
        return ()

    def window(self, route: str, capability: Capability) -> int | None:
        """Return the tokens that the first model of a route reads at once, where that is known."""
        return None

    @abstractmethod
    def identity(self, route: str = "embed") -> str:
        """Return the identity of the model behind a route, for keys of caches.

        Raises:
            UnservedRouteError: No model serves the route.
        """


def _unserved(route: str, capability: Capability) -> UnservedRouteError:
    return UnservedRouteError("none", "none", route, f"nothing here does {capability.value}")
