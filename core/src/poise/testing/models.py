"""Models that answer from a script, for tests of whatever goes through `turn.models`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from anyio.lowlevel import checkpoint
from pydantic import BaseModel, ValidationError

from poise.errors import MalformedReplyError, RefusedError, TruncatedError
from poise.testing.scripted_generators import (
    GenerationRequest,
    JsonLine,
    Lines,
    Script,
    TextLine,
    chunks_of,
    moderations,
    smallest_reply,
    written,
)
from poise.turn.generation import (
    Finish,
    Generation,
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
)
from poise.turn.models import Answer, Capability, DecisionRequest, TurnModels
from poise.turn.prompts import Prompt
from poise.turn.schemas import schema_of
from poise.values.ids import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

L = TypeVar("L")
M = TypeVar("M", bound=BaseModel)

_MODEL = ("scripted", "model")


def scripted_vectors(texts: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """Return a unit row per text, made of its words: shared words make near vectors."""
    import numpy as np

    rows = np.zeros((len(texts), dimensions), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        words = "".join(each if each.isalnum() else " " for each in text.lower()).split()
        for word in words:
            row[int(digest(word)[:12], 36) % dimensions] += 1.0
        norm = float(np.linalg.norm(row))
        if norm == 0.0:
            row[0] = 1.0
        else:
            row /= norm
    return rows


class ScriptedModels(TurnModels):
    """Embeds by words, answers, writes and moderates from scripts, and keeps what it was asked.

    ```python
    models = ScriptedModels(
        {"lost_card": 0.9},
        asks={"tools.infer": [{"calls": []}]},
        writes=["Your card is on its way."],
    )
    ```

    Args:
        answers: Probabilities by question, or a function of question and request.
        dimensions: Length of a vector.
        served: What it has a model for; the rest is a `UnservedRouteError`.
        asks: What `ask` reads: a script, or scripts by route. Default: the smallest JSON of the
            schema. Text that the schema does not allow is a `MalformedReplyError`.
        writes: What `write` says: a script, or scripts by route. Default: `ok`.
        flagged: Words that `moderate` flags, or a function of the text.

    Attributes:
        requests: Every decision request, oldest first, with its route.
        asked: Every request for JSON, oldest first, with its route.
        written: Every request for text, oldest first, with its route.
        embedded: Every batch of texts, oldest first.
        moderated: Every batch of texts, oldest first.
    """

    def __init__(
        self,
        answers: Mapping[str, float | None]
        | Callable[[str, DecisionRequest], float | None] = lambda _id, _request: None,
        *,
        dimensions: int = 256,
        served: frozenset[Capability] = frozenset(Capability),
        asks: Script[JsonLine] | Mapping[str, Script[JsonLine]] = smallest_reply,
        writes: Script[TextLine] | Mapping[str, Script[TextLine]] = ("ok",),
        flagged: Collection[str] | Callable[[str], Moderation] = (),
    ) -> None:
        self._answers = answers
        self._dimensions = dimensions
        self._served = served
        self._asks = _Scripts(asks, smallest_reply)
        self._writes: _Scripts[TextLine] = _Scripts(writes, ("ok",))
        self._flagged = flagged
        self.requests: list[tuple[str, DecisionRequest]] = []
        self.asked: list[tuple[str, GenerationRequest]] = []
        self.written: list[tuple[str, GenerationRequest]] = []
        self.embedded: list[tuple[str, ...]] = []
        self.moderated: list[tuple[str, ...]] = []

    async def ask(
        self,
        route: str,
        prompt: Prompt,
        schema: type[M],
        *,
        options: GenerationOptions | None = None,
    ) -> Generation[M]:
        if Capability.STRUCTURED not in self._served:
            return await super().ask(route, prompt, schema, options=options)
        request = GenerationRequest(prompt, options or GenerationOptions(), schema_of(schema))
        self.asked.append((route, request))
        await checkpoint()
        line = self._asks.next(route, request)
        if isinstance(line, Exception):
            raise line
        text = _accepted(line, route) if isinstance(line, StructuredReply) else written(line)
        try:
            value = schema.model_validate_json(text)
        except ValidationError as exc:
            raise MalformedReplyError(*_MODEL, route, f"the script says {text!r}: {exc}") from exc
        return Generation(value, text, ":".join(_MODEL))

    def write(
        self, route: str, prompt: Prompt, *, options: GenerationOptions | None = None
    ) -> AsyncIterator[TextChunk]:
        if Capability.TEXT not in self._served:
            return super().write(route, prompt, options=options)
        request = GenerationRequest(prompt, options or GenerationOptions())
        self.written.append((route, request))
        return chunks_of(self._writes.next(route, request))

    async def moderate(
        self, texts: Sequence[str], *, route: str = "screen"
    ) -> Sequence[Moderation]:
        if Capability.MODERATE not in self._served:
            return await super().moderate(texts, route=route)
        self.moderated.append(tuple(texts))
        await checkpoint()
        return moderations(texts, self._flagged)

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        self.embedded.append(tuple(texts))
        return scripted_vectors(texts, self._dimensions)

    async def warm(self, *, route: str = "embed", prompt: Prompt | None = None) -> None:
        return None

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        self.requests.append((route, request))
        return [self._answer(question.id, request) for question in request.questions]

    def _answer(self, question: str, request: DecisionRequest) -> Answer:
        if callable(self._answers):
            value = self._answers(question, request)
        else:
            value = self._answers.get(question)
        yes = None if value is None or 0.35 < value < 0.65 else value >= 0.65
        return Answer(question, yes, value, judged_by=":".join(_MODEL))

    def serves(self, route: str, capability: Capability) -> bool:
        return capability in self._served

    def identity(self, route: str = "embed") -> str:
        return f"scripted-words-{self._dimensions}"


class _Scripts(Generic[L]):
    """One script for all routes, or one for each."""

    def __init__(self, given: Script[L] | Mapping[str, Script[L]], otherwise: Script[L]) -> None:
        scripts = given if isinstance(given, Mapping) else {}
        self._by_route = {route: Lines(script) for route, script in scripts.items()}
        self._others = Lines(otherwise if isinstance(given, Mapping) else given)

    def next(self, route: str, request: GenerationRequest) -> L:
        return self._by_route.get(route, self._others).next(request)


def _accepted(reply: StructuredReply, route: str) -> str:
    if reply.finish is Finish.REFUSED:
        raise RefusedError(*_MODEL, route, reply.reason)
    if reply.finish is Finish.TRUNCATED:
        raise TruncatedError(*_MODEL, route, "the script says so")
    return reply.text
