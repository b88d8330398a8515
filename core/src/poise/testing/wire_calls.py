"""Asks a provider for something of each capability, and says what wire suites ask for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from poise.errors import ProviderError
from poise.ports.models import ModelProvider
from poise.testing.embedding import request_of
from poise.testing.fake_server import AnyEvent, FakeModelServer, Scripted, ServerEvent
from poise.testing.generation_requests import SCHEMA, layered
from poise.testing.wire_payloads import Wire
from poise.turn.generation import (
    GenerationOptions,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import Capability, Question
from poise.turn.prompts import Prompt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE = 10.0
"""Seconds after which a test fails instead of hanging."""

WORDS = ("Your ", "card ", "is on\n", "its way: ", "£3.50 ✓")
"""What the model says: each piece is a chunk, spaces and all."""

USAGE = Usage(input_tokens=130, cached_tokens=100, output_tokens=7)
"""What the vendor says that it took."""

JSON = '{"zz_evidence": "£3.50 ✓", "mm_restated": null, "aa_verdicts": []}'
"""A valid answer to the suite's schema."""


def generating(wire: Wire) -> Sequence[Capability]:
    """Return which of TEXT and STRUCTURED a dialect serves."""
    both = (Capability.TEXT, Capability.STRUCTURED)
    return tuple(capability for capability in both if capability in wire.models)


def model_for(wire: Wire, capability: Capability) -> str:
    """Return the model to test a capability with; skip the test where there is none."""
    if capability not in wire.models:
        pytest.skip(f"this dialect does no {capability.value}")
    return wire.models[capability]


def script_success(wire: Wire, server: FakeModelServer, capability: Capability) -> None:
    """Have every request of a capability answered well."""
    if capability is Capability.TEXT:
        wire.script(server, capability, wire.stream(WORDS, USAGE))
    elif capability is Capability.STRUCTURED:
        wire.script(server, capability, wire.structured(JSON, USAGE))
    elif capability is Capability.DECIDE:
        wire.script(server, capability, lambda request: wire.decisions(request, (0.9,)))
    elif capability is Capability.MODERATE:
        wire.script(server, capability, lambda request: wire.moderations(request, bool))
    else:
        raise ValueError("vectors are scripted with the embedder's dimensions at hand")


async def call(provider: ModelProvider, wire: Wire, capability: Capability) -> object:
    """Make one request of a capability, read the answer to its end, and return it."""
    model = wire.models[capability]
    if capability is Capability.EMBED:
        return await embed(provider, model)
    if capability is Capability.DECIDE:
        request = request_of("I lost it", Question("lost", "Is a card lost?"))
        return await provider.decision_model(model).decide(request)
    if capability is Capability.MODERATE:
        return await provider.moderator(model).moderate(["hello"])
    return await generate(provider, wire, capability)


async def embed(provider: ModelProvider, model: str) -> NDArray[np.float32]:
    """Return the vector of one text."""
    return await provider.embedder(model).embed(["hello"])


async def generate(
    provider: ModelProvider,
    wire: Wire,
    capability: Capability,
    *,
    prompt: Prompt | None = None,
    options: GenerationOptions | None = None,
) -> TextChunk | StructuredReply:
    """Generate text or JSON; return the reply, or the last chunk."""
    prompt = layered("Where is my card?") if prompt is None else prompt
    options = GenerationOptions() if options is None else options
    model = wire.models[capability]
    if capability is Capability.STRUCTURED:
        generator = provider.structured_generator(model)
        return await generator.generate(prompt, SCHEMA, options=options)
    chunks = await read(provider, model, options=options, prompt=prompt)
    assert chunks, "the stream holds no chunk; the last one must say why it ended"
    return chunks[-1]


async def read(
    provider: ModelProvider,
    model: str,
    *,
    options: GenerationOptions | None = None,
    prompt: Prompt | None = None,
) -> list[TextChunk]:
    """Return a whole stream."""
    return [chunk async for chunk in open_stream(provider, model, options=options, prompt=prompt)]


def open_stream(
    provider: ModelProvider,
    model: str,
    *,
    options: GenerationOptions | None = None,
    prompt: Prompt | None = None,
) -> AsyncIterator[TextChunk]:
    """Return a stream, of which nothing has been read."""
    return provider.text_generator(model).stream(
        layered("Where is my card?") if prompt is None else prompt,
        options=GenerationOptions() if options is None else options,
    )


async def fails(provider: ModelProvider, wire: Wire, capability: Capability) -> ProviderError:
    """Make a request that must fail; return the error."""
    try:
        with anyio.fail_after(PATIENCE):
            found = await call(provider, wire, capability)
    except ProviderError as error:
        return error
    except Exception as error:
        raise AssertionError(
            f"{capability}: {type(error).__name__} came through; translate it: {error}"
        ) from error
    raise AssertionError(f"{capability}: no error, but {found!r:.300}")


async def read_to_failure(provider: ModelProvider, model: str) -> tuple[str, ProviderError]:
    """Read a stream that must fail; return the words that came, and the error."""
    words = ""
    try:
        async for chunk in open_stream(provider, model):
            words += chunk.text
            assert chunk.finish is None, "a finish came although the stream was not whole"
    except ProviderError as error:
        return words, error
    raise AssertionError(f"the stream was not whole, and ended without an error after {words!r}")


async def next_words(chunks: AsyncIterator[TextChunk]) -> str:
    """Return the next piece of a stream that has words."""
    with anyio.move_on_after(PATIENCE):
        async for chunk in chunks:
            if chunk.text:
                return chunk.text
        raise AssertionError("the stream ended before any words came")
    raise AssertionError(f"no words were passed on within {PATIENCE:.0f} s of their coming")


async def close(chunks: AsyncIterator[TextChunk]) -> None:
    """Close a stream as the router does."""
    closing = getattr(chunks, "aclose", None)
    assert closing is not None, "a stream must be closable: make it an async generator"
    await closing()


def said(chunks: Sequence[TextChunk]) -> str:
    """Return the words of a stream."""
    return "".join(chunk.text for chunk in chunks)


def place_of(scripted: Scripted, words: str) -> int:
    """Return how many events of a stream have gone out once `words` have; skip where none do."""
    if scripted.events is None:
        pytest.skip("this dialect answers all at once")
    for count, event in enumerate(scripted.events, start=1):
        if any(words in text for text in _strings(_data(event))):
            return count
    raise AssertionError(f"Wire.stream({words!r}, …) holds no event with these words")


def assert_usage(found: Usage | None, wire: Wire) -> None:
    """Check that what the vendor counted arrives, in Poise's terms."""
    assert found is not None, "`usage` is missing; the ledger and the limits on spending need it"
    for field in sorted(wire.reports):
        told, expected = getattr(found, field), getattr(USAGE, field)
        assert told == expected, (
            f"usage.{field} is {told}, not {expected}; `input_tokens` is the whole prompt, "
            "cached tokens included"
        )


def _data(event: AnyEvent) -> Any:
    data = event.data if isinstance(event, ServerEvent) else event
    if not isinstance(data, str):
        return data
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        return data


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
