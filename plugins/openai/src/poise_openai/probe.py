"""What a server really does, as against what it takes: found out by asking it once, and kept."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import attrs

from poise.errors import (
    InvalidRequestError,
    MalformedReplyError,
    PoiseError,
    ProviderError,
    ProviderUnavailableError,
)
from poise.ports.stores import ArtifactStore
from poise.turn.cards import ModelCard
from poise.turn.generation import Finish, GenerationOptions, StructuredReply
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import Schema
from poise.values.ids import digest
from poise_openai.client import Client
from poise_openai.preset import Api, Level

if TYPE_CHECKING:
    from poise_openai.chat import ChatGenerator
    from poise_openai.responses import ResponsesGenerator

logger = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = "1"
"""Of what is asked here: findings of another version are not believed."""

ODD = Schema(
    "odd",
    {
        "type": "object",
        "properties": {
            "quorp": {"type": "string", "enum": ["veltin", "drabbo"]},
            "plim": {"type": "boolean"},
        },
        "required": ["quorp", "plim"],
        "additionalProperties": False,
    },
)
"""A shape that no model gives to an answer by itself."""

_PLAIN = "Which is the largest ocean on Earth? Answer in one short sentence."
_SURE = "Is ice made of frozen water?"
_ROOM = GenerationOptions(max_output=1024, temperature=0.0)
_ALTERNATIVES = (20, 5)
"""How many alternatives to a word are worth asking for: what most take, and what the rest do."""


@attrs.frozen
class Findings:
    """What is known of one model on one server.

    Attributes:
        level: The best way to JSON that works; `None`: nobody has asked yet.
        alternatives: Alternatives to yes and no that it tells; 0: too few to decide by.
        counts_streams: Whether it tells token counts at the end of a stream.
    """

    level: Level | None = None
    alternatives: int | None = None
    counts_streams: bool | None = None

    def encode(self) -> bytes:
        """Return the findings as they are kept."""
        told = {**attrs.asdict(self), "level": self.level.value if self.level else None}
        return json.dumps(told).encode()


class Probe:
    """Finds out what the models of one server can do; each thing when it is first needed.

    Findings are kept in memory and among the artifacts, by address, model and version.
    """

    def __init__(self, client: Client, artifacts: ArtifactStore | None = None) -> None:
        self._client = client
        self._artifacts = artifacts
        self._known: dict[str, Findings] = {}
        self._asking: dict[str, anyio.Lock] = {}

    async def level(self, model: str) -> Level:
        """Return the best way to JSON that works with `model`.

        The vendor is believed. So is a server of which only one way is known.

        Raises:
            ProviderError: The server can't be asked now.
        """
        levels = self._client.preset.levels
        if self._client.is_vendor or len(levels) == 1:
            return levels[0]
        return await self._found(model, "level", self._find_level)

    async def alternatives(self, model: str) -> int:
        """Return how many alternatives the server tells for the word with which `model` begins.

        0: none, or the model begins with neither yes nor no when it is asked for one of them, as
        models do that think aloud first.

        Raises:
            ProviderError: The server can't be asked now.
        """
        return await self._found(model, "alternatives", self._find_alternatives)

    async def counts_streams(self, model: str) -> bool:
        """Return whether the server tells what a stream took.

        Raises:
            ProviderError: The server can't be asked now.
        """
        return await self._found(model, "counts_streams", self._find_counts)

    async def findings(self, model: str) -> Mapping[str, str]:
        """Return all that can be found out about `model`, in words, by topic.

        Raises:
            ProviderError: The server can't be asked now.
        """
        if self._client.is_vendor:
            return {"json": f"{self._client.preset.levels[0].value}, as its maker says"}
        level = await self.level(model)
        alternatives = await self.alternatives(model)
        counts = await self.counts_streams(model)
        return {
            "json": level.value,
            "logprobs": f"{alternatives} alternatives" if alternatives else "none to decide by",
            "usage of streams": "told" if counts else "not told",
        }

    # -- what is kept --

    async def _found(self, model: str, topic: str, find: Callable[[str], Awaitable[T]]) -> T:
        """Return what is known of a topic; one asks, whoever comes meanwhile waits for it."""
        known: T | None = getattr(self._known.get(model), topic, None)
        if known is not None:
            return known
        async with self._asking.setdefault(model, anyio.Lock()):
            if model not in self._known:
                self._known[model] = await self._load(model)
            known = getattr(self._known[model], topic)
            if known is None:
                known = await find(model)
                found: dict[str, Any] = {topic: known}  # of the field's own type
                self._known[model] = attrs.evolve(self._known[model], **found)
                await self._save(model)
            return known

    async def _load(self, model: str) -> Findings:
        if self._artifacts is None:
            return Findings()
        try:
            return _decoded(await self._artifacts.load(self._key(model)))
        except (OSError, PoiseError) as exc:
            # A store that fails costs a few requests to find it all out again, not the turn.
            logger.warning("findings can't be read", extra={"model": model, "why": str(exc)})
            return Findings()

    async def _save(self, model: str) -> None:
        if self._artifacts is None:
            return
        try:
            await self._artifacts.save(self._key(model), self._known[model].encode())
        except (OSError, PoiseError) as exc:
            logger.warning("findings can't be kept", extra={"model": model, "why": str(exc)})

    def _key(self, model: str) -> str:
        client = self._client
        levels = ",".join(level.value for level in client.preset.levels)
        return digest("probe", VERSION, client.base_url, client.api.value, levels, model)

    # -- what is asked --

    async def _find_level(self, model: str) -> Level:
        """Try the ways that the server is said to know, best first; words alone always work."""
        disproved: dict[str, str] = {}
        found = Level.PROMPT
        for level in self._client.preset.levels:
            if level is Level.PROMPT:
                break
            fault = await self._fault(model, level)
            if fault is None:
                found = level
                break
            disproved[level.value] = fault
        if disproved:
            logger.warning(
                "a server does not write JSON in the best way it is said to: a weaker one is used",
                extra={
                    "provider": self._client.provider,
                    "model": model,
                    "disproved": disproved,
                    "used": found.value,
                },
            )
        return found

    async def _fault(self, model: str, level: Level) -> str | None:
        """Say what is wrong with one way to JSON; `None`: it works."""
        prompt = Prompt.of(Section("question", _PLAIN, Stability.TURN))
        try:
            reply = await self._generator(model, level).generate(prompt, ODD, options=_ROOM)
        except ProviderError as exc:
            if not _is_refusal(exc):
                raise
            return exc.reason
        return _fault_of(reply, level)

    async def _find_alternatives(self, model: str) -> int:
        from poise_openai.logprobs import LEAST_MASS, OneWord, ending

        prompt = Prompt.of(ending(_SURE))
        asking = OneWord(self._client, model, ModelCard(self._client.provider, model))
        for alternatives in _ALTERNATIVES:
            try:
                shares, _ = await asking.ask(prompt, alternatives)
            except ProviderError as exc:
                if not _is_refusal(exc):
                    raise
                continue
            if shares is not None and shares.mass >= LEAST_MASS:
                return alternatives
            break
        logger.warning(
            "a server does not tell how likely yes and no were: decisions are asked for in words",
            extra={"provider": self._client.provider, "model": model},
        )
        return 0

    async def _find_counts(self, model: str) -> bool:
        from poise_openai.chat import ChatGenerator, KnownLevel

        card = ModelCard(self._client.provider, model)
        writer = ChatGenerator(self._client, model, card=card, levels=KnownLevel(Level.PROMPT))
        prompt = Prompt.of(Section("question", _PLAIN, Stability.TURN))
        told = False
        try:
            async for chunk in writer.stream(prompt, options=attrs.evolve(_ROOM, max_output=16)):
                told = told or chunk.usage is not None
        except ProviderError as exc:
            if not _is_refusal(exc):
                raise
        return told

    def _generator(self, model: str, level: Level) -> ChatGenerator | ResponsesGenerator:
        from poise_openai.chat import ChatGenerator, KnownLevel
        from poise_openai.responses import ResponsesGenerator

        card = ModelCard(self._client.provider, model)
        make = ResponsesGenerator if self._client.api is Api.RESPONSES else ChatGenerator
        return make(self._client, model, card=card, levels=KnownLevel(level))


def _is_refusal(exc: ProviderError) -> bool:
    """Say whether a server failed because of what was asked, not because of its own trouble."""
    if isinstance(exc, InvalidRequestError | MalformedReplyError):
        return True
    # Some fail inside (500) over a parameter that they do not know; 502, 503 and 529 are trouble.
    status = getattr(exc.__cause__, "status_code", None)
    return isinstance(exc, ProviderUnavailableError) and status in (500, 501)


def _fault_of(reply: StructuredReply, level: Level) -> str | None:
    """Say what an answer shows against a way to JSON; `None`: nothing."""
    if reply.finish is Finish.TRUNCATED and not reply.text.strip():
        # The model thought until there was no room: that says nothing about the server.
        return None
    if reply.finish is not Finish.COMPLETE:
        return f"the answer was {reply.finish.value}"
    try:
        value = json.loads(reply.text)
    except ValueError:
        return "it is taken and not enforced: the answer was no JSON"
    if not isinstance(value, dict):
        return "it is taken and not enforced: the answer was no JSON object"
    # A server that promises just an object of some kind is not to be held to its fields.
    if level is Level.JSON_OBJECT:
        return None
    fits = (
        value.keys() == {"quorp", "plim"}
        and value["quorp"] in ("veltin", "drabbo")
        and isinstance(value["plim"], bool)
    )
    return None if fits else "it is taken and not enforced: the answer did not fit the schema"


def _decoded(data: bytes | None) -> Findings:
    """Return what was kept; what can't be read is not known."""
    try:
        told = json.loads(data or b"{}")
        level = told.get("level")
        alternatives, counts = told.get("alternatives"), told.get("counts_streams")
        return Findings(
            level=None if level is None else Level(level),
            alternatives=alternatives if type(alternatives) is int else None,
            counts_streams=counts if isinstance(counts, bool) else None,
        )
    except (ValueError, AttributeError):
        return Findings()
