"""What every text generator, structured generator and moderator must keep to, as suites."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import anyio
import pytest

from poise.ports.models import Moderator, StructuredGenerator, TextGenerator
from poise.testing.embedding import AWKWARD, MESSAGES
from poise.testing.generation_requests import FIELDS, OPTIONS, SCHEMA, layered
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.prompts import Prompt, Section, Stability

_PLAIN = GenerationOptions(max_output=200)
_EMPTY = Prompt(
    (
        Section("nothing", "", Stability.CATALOG),
        Section("turn", "Where is my card?", Stability.TURN),
        Section("nothing more", "", Stability.TURN),
    )
)


class TextGeneratorConformance:
    """Inherit, and return a generator from `subject`; real and scripted ones alike.

    It must answer any number of requests; what it says is judged for its form alone.
    """

    @pytest.fixture
    def subject(self) -> TextGenerator:
        raise NotImplementedError("return the generator under test from a fixture named `subject`")

    @pytest.mark.anyio
    async def test_exactly_the_last_chunk_has_a_finish(self, subject: TextGenerator) -> None:
        chunks = await _read(subject, layered("Where is my card?"))

        _assert_whole(chunks)

    @pytest.mark.anyio
    async def test_says_something(self, subject: TextGenerator) -> None:
        chunks = await _read(subject, layered("Say hello."))

        if chunks[-1].finish is Finish.COMPLETE:
            assert any(chunk.text for chunk in chunks), "it is done, and said nothing"

    @pytest.mark.anyio
    async def test_asking_waits_for_nothing(self, subject: TextGenerator) -> None:
        chunks = subject.stream(layered("Where is my card?"), options=_PLAIN)

        assert hasattr(chunks, "__anext__"), (
            "`stream` must return an iterator: write `async def stream` with `yield` in it, or "
            "`def stream` that returns one"
        )
        await _close(chunks)

    @pytest.mark.anyio
    @pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
    async def test_options_are_taken_or_left_out(
        self, subject: TextGenerator, options: GenerationOptions
    ) -> None:
        chunks = await _read(subject, layered("Block my card 4711."), options)

        _assert_whole(chunks)
        offered = {tool.name for tool in options.tools}
        for call in chunks[-1].calls:
            assert call.name in offered, f"wants {call.name!r} called, of {sorted(offered)}"
        if options.tool_choice == "none":
            assert not chunks[-1].calls, "wants a call where the choice is `none`"

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
    async def test_no_text_is_refused_for_its_content(
        self, subject: TextGenerator, text: str
    ) -> None:
        _assert_whole(await _read(subject, layered(text)))

    @pytest.mark.anyio
    async def test_empty_sections_do_not_break_it(self, subject: TextGenerator) -> None:
        _assert_whole(await _read(subject, _EMPTY))

    @pytest.mark.anyio
    async def test_many_are_served_at_once(self, subject: TextGenerator) -> None:
        found: dict[int, list[TextChunk]] = {}

        async def write(number: int) -> None:
            found[number] = await _read(subject, layered(MESSAGES[number]))

        async with anyio.create_task_group() as group:
            for number in range(len(MESSAGES)):
                group.start_soon(write, number)

        for chunks in found.values():
            _assert_whole(chunks)

    @pytest.mark.anyio
    async def test_closing_stops_it_and_it_can_be_asked_again(self, subject: TextGenerator) -> None:
        chunks = subject.stream(layered("Tell me a long story."), options=_PLAIN)
        await anext(chunks)

        await _close(chunks)

        with pytest.raises(StopAsyncIteration):
            await anext(chunks)
        _assert_whole(await _read(subject, layered("Where is my card?")))

    @pytest.mark.anyio
    async def test_it_can_be_cancelled_and_asked_again(self, subject: TextGenerator) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await _read(subject, layered("Tell me a long story."))

        assert scope.cancelled_caught, "cancellation was swallowed; let it pass"
        _assert_whole(await _read(subject, layered("Where is my card?")))

    @pytest.mark.anyio
    async def test_warming_says_what_it_took_or_nothing(self, subject: TextGenerator) -> None:
        usage = await subject.warm(layered("Where is my card?"), options=_PLAIN)

        _assert_counted(usage)
        _assert_whole(await _read(subject, layered("Where is my card?")))


class StructuredGeneratorConformance:
    """Inherit, and return a generator from `subject`; real and scripted ones alike."""

    @pytest.fixture
    def subject(self) -> StructuredGenerator:
        raise NotImplementedError("return the generator under test from a fixture named `subject`")

    @pytest.mark.anyio
    async def test_returns_text_and_says_why_it_ended(self, subject: StructuredGenerator) -> None:
        reply = await subject.generate(layered("I lost my card."), SCHEMA, options=_PLAIN)

        _assert_reply(reply)

    @pytest.mark.anyio
    async def test_fields_come_in_the_schemas_order(self, subject: StructuredGenerator) -> None:
        reply = await subject.generate(layered("I lost my card."), SCHEMA, options=_PLAIN)

        found = _parsed(reply.text)
        if reply.finish is Finish.COMPLETE and isinstance(found, Mapping):
            told = [name for name in found if name in FIELDS]
            assert told == sorted(told, key=FIELDS.index), (
                f"fields came as {told}; evidence must be written before what it decides: send "
                "the schema's properties in their order"
            )

    @pytest.mark.anyio
    async def test_the_schema_is_left_as_it_was(self, subject: StructuredGenerator) -> None:
        before = copy.deepcopy(dict(SCHEMA.body))

        await subject.generate(layered("I lost my card."), SCHEMA, options=_PLAIN)

        assert SCHEMA.body == before, "the schema was changed; translate `schema.plain()`"

    @pytest.mark.anyio
    @pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
    async def test_options_are_taken_or_left_out(
        self, subject: StructuredGenerator, options: GenerationOptions
    ) -> None:
        _assert_reply(await subject.generate(layered("I lost it."), SCHEMA, options=options))

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
    async def test_no_text_is_refused_for_its_content(
        self, subject: StructuredGenerator, text: str
    ) -> None:
        _assert_reply(await subject.generate(layered(text), SCHEMA, options=_PLAIN))

    @pytest.mark.anyio
    async def test_empty_sections_do_not_break_it(self, subject: StructuredGenerator) -> None:
        _assert_reply(await subject.generate(_EMPTY, SCHEMA, options=_PLAIN))

    @pytest.mark.anyio
    async def test_many_are_served_at_once(self, subject: StructuredGenerator) -> None:
        found: dict[int, StructuredReply] = {}

        async def generate(number: int) -> None:
            prompt = layered(MESSAGES[number])
            found[number] = await subject.generate(prompt, SCHEMA, options=_PLAIN)

        async with anyio.create_task_group() as group:
            for number in range(len(MESSAGES)):
                group.start_soon(generate, number)

        for reply in found.values():
            _assert_reply(reply)

    @pytest.mark.anyio
    async def test_it_can_be_cancelled_and_asked_again(self, subject: StructuredGenerator) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await subject.generate(layered("I lost my card."), SCHEMA, options=_PLAIN)

        assert scope.cancelled_caught, "cancellation was swallowed; let it pass"
        _assert_reply(await subject.generate(layered("I lost it."), SCHEMA, options=_PLAIN))


class ModeratorConformance:
    """Inherit, and return a moderator from `subject`."""

    @pytest.fixture
    def subject(self) -> Moderator:
        raise NotImplementedError("return the moderator under test from a fixture named `subject`")

    @pytest.mark.anyio
    async def test_judges_each_text_once_in_order(self, subject: Moderator) -> None:
        alone = [(await subject.moderate([text]))[0].flagged for text in MESSAGES]

        together = await subject.moderate(MESSAGES)
        reversed_ = await subject.moderate(MESSAGES[::-1])

        _assert_moderated(together, MESSAGES)
        assert [each.flagged for each in together] == alone, (
            "a text is judged otherwise beside other texts; check the order of the answers"
        )
        assert [each.flagged for each in reversed_] == alone[::-1], "the order is not the texts'"

    @pytest.mark.anyio
    async def test_no_texts_have_no_moderations(self, subject: Moderator) -> None:
        assert list(await subject.moderate([])) == []

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ["", " \n", *AWKWARD], ids=range(len(AWKWARD) + 2))
    async def test_no_text_breaks_it(self, subject: Moderator, text: str) -> None:
        found = await subject.moderate([MESSAGES[0], text, MESSAGES[1]])

        _assert_moderated(found, [MESSAGES[0], text, MESSAGES[1]])

    @pytest.mark.anyio
    async def test_requests_at_once_do_not_mix(self, subject: Moderator) -> None:
        found: dict[int, Sequence[Moderation]] = {}

        async def moderate(number: int) -> None:
            found[number] = await subject.moderate(MESSAGES[: number + 1])

        async with anyio.create_task_group() as group:
            for number in range(len(MESSAGES)):
                group.start_soon(moderate, number)

        for number, moderations in found.items():
            _assert_moderated(moderations, MESSAGES[: number + 1])

    @pytest.mark.anyio
    async def test_it_can_be_cancelled_and_asked_again(self, subject: Moderator) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await subject.moderate(MESSAGES)

        assert scope.cancelled_caught, "cancellation was swallowed; let it pass"
        _assert_moderated(await subject.moderate(MESSAGES), MESSAGES)


async def _read(
    subject: TextGenerator, prompt: Prompt, options: GenerationOptions = _PLAIN
) -> list[TextChunk]:
    return [chunk async for chunk in subject.stream(prompt, options=options)]


async def _close(chunks: AsyncIterator[TextChunk]) -> None:
    closing = getattr(chunks, "aclose", None)
    assert closing is not None, "a stream must be closable: make it an async generator"
    await closing()


def _assert_whole(chunks: Sequence[TextChunk]) -> None:
    assert chunks, "the stream holds no chunk; the last one must say why it ended"
    *before, last = chunks
    assert last.finish is not None, (
        "the stream ended without a finish; raise ProviderUnavailableError where the model did not "
        "say why it ended"
    )
    for chunk in before:
        assert chunk.finish is None, "a chunk follows the one with the finish"
        assert chunk.usage is None, "`usage` belongs on the last chunk"
        assert not chunk.calls, "`calls` belong on the last chunk"
    assert (last.finish is Finish.CALLS) <= bool(last.calls), "finish is CALLS, and there are none"
    ids = [call.id for call in last.calls]
    assert len(set(ids)) == len(ids), f"two calls share an id: {ids}"
    assert all(ids), "a call has no id; make one up where the provider gives none"
    _assert_counted(last.usage)


def _assert_reply(reply: StructuredReply) -> None:
    assert isinstance(reply.text, str), f"`text` is {reply.text!r}; hand over what was written"
    assert isinstance(reply.finish, Finish), f"`finish` is {reply.finish!r}"
    assert reply.finish is not Finish.CALLS, "JSON was asked for, no call; translate the finish"
    if reply.finish is Finish.COMPLETE:
        assert reply.text, "it is done, and wrote nothing"
    _assert_counted(reply.usage)


def _assert_counted(usage: Usage | None) -> None:
    if usage is None:
        return
    cached = usage.cached_tokens + usage.written_tokens
    assert 0 <= cached <= usage.input_tokens, (
        f"{usage}: `input_tokens` is the whole prompt, cached and written tokens included"
    )
    assert 0 <= usage.reasoning_tokens <= usage.output_tokens, (
        f"{usage}: `output_tokens` is everything generated, reasoning included"
    )


def _assert_moderated(found: Sequence[Moderation], texts: Sequence[str]) -> None:
    assert len(found) == len(texts), f"{len(texts)} texts got {len(found)} moderations"
    for each in found:
        assert isinstance(each.flagged, bool), f"`flagged` is {each.flagged!r}"
        for category, score in each.scores.items():
            assert 0.0 <= score <= 1.0, f"{category!r} scores {score}, not within 0 and 1"


def _parsed(text: str) -> Any:  # any JSON value
    try:
        return json.loads(text)
    except ValueError:
        return None
