"""What a provider must make of a vendor's answers: words, JSON, vectors, and other outcomes.

Mixed into `ProviderWireConformance`, which has the fixtures.
"""

from __future__ import annotations

import json
import re

import anyio
import pytest

from poise.ports.models import ModelProvider
from poise.testing.embedding import request_of
from poise.testing.fake_server import FakeModelServer, Gate, Received
from poise.testing.generation_requests import TOOLS
from poise.testing.wire_calls import (
    USAGE,
    WORDS,
    assert_usage,
    close,
    generate,
    generating,
    model_for,
    next_words,
    open_stream,
    place_of,
    read,
    said,
)
from poise.testing.wire_payloads import Wire
from poise.turn.generation import Finish, GenerationOptions, ModelCall, StructuredReply, Usage
from poise.turn.models import Capability, Question
from poise.turn.prompts import Prompt, Section, Stability

_HUGE = 5_000_000


class WireAnswers:
    """The part of the suite in which the vendor answers."""

    @pytest.mark.anyio
    async def test_words_come_in_order_and_the_last_chunk_says_why_it_ended(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        wire.script(fake_model_server, Capability.TEXT, wire.stream(WORDS, USAGE))

        chunks = await read(served, model)

        assert said(chunks) == "".join(WORDS), "words are lost, doubled, trimmed or out of order"
        assert [chunk.finish for chunk in chunks if chunk.finish] == [Finish.COMPLETE], (
            "exactly one chunk has a finish; COMPLETE when the model is done"
        )
        assert chunks[-1].finish, "the chunk with the finish is the last"
        assert_usage(chunks[-1].usage, wire)
        assert len(fake_model_server.received) == 1, "one call is one request"

    @pytest.mark.anyio
    async def test_words_are_passed_on_when_they_come(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream = wire.stream(WORDS, USAGE)
        gate = Gate()
        held = stream.held(gate, at=place_of(stream, WORDS[0]))
        wire.script(fake_model_server, Capability.TEXT, held)

        chunks = open_stream(served, model)
        first = await next_words(chunks)
        gate.open()
        rest = [chunk async for chunk in chunks]

        assert first == WORDS[0], "the first words are not passed on before the next ones come"
        assert said(rest) == "".join(WORDS[1:])

    @pytest.mark.anyio
    async def test_closing_the_stream_hangs_up(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream = wire.stream(WORDS, USAGE)
        gate = Gate()
        held = stream.held(gate, at=place_of(stream, WORDS[0]))
        wire.script(fake_model_server, Capability.TEXT, held)

        chunks = open_stream(served, model)
        await next_words(chunks)
        await close(chunks)

        await fake_model_server.received[0].hung_up()
        gate.open()

    @pytest.mark.anyio
    async def test_json_comes_as_it_was_written(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model_for(wire, Capability.STRUCTURED)
        text = '{"zz_evidence": "£3.50 ✓",\n "mm_restated": null, "aa_verdicts": []}'
        wire.script(fake_model_server, Capability.STRUCTURED, wire.structured(text, USAGE))

        reply = await generate(served, wire, Capability.STRUCTURED)

        assert isinstance(reply, StructuredReply)
        assert _is_same(reply.text, text), f"the JSON came back as {reply.text!r}"
        assert reply.finish is Finish.COMPLETE
        assert_usage(reply.usage, wire)
        assert len(fake_model_server.received) == 1, "one call is one request"

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ['{"zz_evidence": "cut', "Sure! Here it is: {}", "{'a': 1}"])
    async def test_malformed_json_is_handed_over_as_it_is(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer, text: str
    ) -> None:
        model_for(wire, Capability.STRUCTURED)
        if not wire.carries_malformed_json:
            pytest.skip("JSON that is malformed can't arrive in this dialect")
        wire.script(fake_model_server, Capability.STRUCTURED, wire.structured(text, USAGE))

        reply = await generate(served, wire, Capability.STRUCTURED)

        assert isinstance(reply, StructuredReply)
        assert reply.text == text, "the router repairs; hand over what the model wrote"

    @pytest.mark.anyio
    async def test_a_refusal_is_an_outcome(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        reason = "I can't help with picking locks."
        found: dict[Capability, tuple[Finish | None, str]] = {}
        for capability in generating(wire):
            wire.script(fake_model_server, capability, wire.refusal(reason, capability))
            last = await generate(served, wire, capability)
            found[capability] = (last.finish, last.reason)

        for capability, (finish, told) in found.items():
            assert finish is Finish.REFUSED, f"{capability}: finish is {finish}, not REFUSED"
            if wire.tells_reason:
                assert reason in told, f"{capability}: `reason` does not hold the model's words"

    @pytest.mark.anyio
    async def test_a_truncation_is_an_outcome(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        for capability in generating(wire):
            wire.script(fake_model_server, capability, wire.truncated('{"zz', capability))

            last = await generate(served, wire, capability)

            assert last.finish is Finish.TRUNCATED, f"{capability}: finish is {last.finish}"
            if isinstance(last, StructuredReply) and wire.carries_malformed_json:
                assert last.text == '{"zz', "what was written before the limit is lost"

    @pytest.mark.anyio
    async def test_wishes_for_calls_come_with_the_last_chunk(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        wished = (
            ModelCall("call_1", "block_card", {"card": "4711", "why": "lost £"}),
            ModelCall("call_2", "say_hello", {}),
        )
        scripted = wire.calls(wished, USAGE)
        if scripted is None:
            pytest.skip("this dialect has no calls")
        wire.script(fake_model_server, Capability.TEXT, scripted)

        chunks = await read(served, model, options=GenerationOptions(tools=TOOLS))

        assert chunks[-1].finish is Finish.CALLS
        assert [(call.name, dict(call.arguments)) for call in chunks[-1].calls] == [
            (call.name, dict(call.arguments)) for call in wished
        ]
        assert len({call.id for call in chunks[-1].calls}) == 2, "each call has an id of its own"

    @pytest.mark.anyio
    async def test_a_huge_answer_arrives_whole(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        huge = json.dumps({"zz_evidence": "x" * _HUGE, "mm_restated": None, "aa_verdicts": []})
        pieces = ["y" * 10_000] * (_HUGE // 10_000)
        for capability in generating(wire):
            if capability is Capability.TEXT:
                wire.script(fake_model_server, capability, wire.stream(pieces, USAGE))
                assert len(said(await read(served, wire.models[capability]))) == _HUGE
            else:
                wire.script(fake_model_server, capability, wire.structured(huge, USAGE))
                reply = await generate(served, wire, capability)
                assert isinstance(reply, StructuredReply)
                assert _is_same(reply.text, huge), "a long answer is cut or changed"

    @pytest.mark.anyio
    async def test_requests_at_once_do_not_mix(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        wire.script(
            fake_model_server,
            Capability.TEXT,
            lambda request: wire.stream([f"hello {_customer(request)}", "!"], USAGE),
        )
        found: dict[int, str] = {}

        async def write(number: int) -> None:
            prompt = Prompt.of(Section("turn", f"customer-{number:02}", Stability.TURN))
            found[number] = said(await read(served, model, prompt=prompt))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(write, number)

        assert found == {number: f"hello customer-{number:02}!" for number in range(20)}

    @pytest.mark.anyio
    async def test_vectors_are_unit_rows_in_the_texts_order(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        embedder = served.embedder(model_for(wire, Capability.EMBED))
        places = {"first": 1, "second": 2, "third": 3}

        def vector(text: str) -> list[float]:
            row = [0.0] * embedder.dimensions
            row[places[text]] = 2.0
            return row

        wire.script(
            fake_model_server,
            Capability.EMBED,
            lambda request: wire.embeddings(request, vector, usage=Usage(input_tokens=9)),
        )

        rows = await embedder.embed(["third", "", "first", "second", "first"])

        assert [int(row.argmax()) for row in rows] == [3, 0, 1, 2, 1], (
            "rows are in another order than the texts, or a blank is not the first unit vector"
        )
        assert [float(row.max()) for row in rows] == pytest.approx([1.0] * 5), "rows of length 1"

    @pytest.mark.anyio
    async def test_decisions_come_in_the_questions_order(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = served.decision_model(model_for(wire, Capability.DECIDE))
        values = (0.9, 0.1, 0.6)
        wire.script(
            fake_model_server, Capability.DECIDE, lambda request: wire.decisions(request, values)
        )

        found = await model.decide(
            request_of("I lost it", *(Question(f"q{n}", f"Is it {n}?") for n in (3, 1, 2)))
        )

        assert [each.question for each in found] == ["q3", "q1", "q2"]
        assert [each.value for each in found] == pytest.approx(values, abs=0.02)

    @pytest.mark.anyio
    async def test_moderations_come_in_the_texts_order(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        moderator = served.moderator(model_for(wire, Capability.MODERATE))
        wire.script(
            fake_model_server,
            Capability.MODERATE,
            lambda request: wire.moderations(request, lambda text: "bad" in text),
        )

        found = await moderator.moderate(["good", "bad", "fine"])

        assert [each.flagged for each in found] == [False, True, False]


def _customer(request: Received) -> str:
    found = re.search(rb"customer-\d\d", request.body)
    assert found, "the prompt's words are not in the request"
    return found.group().decode()


def _is_same(text: str, expected: str) -> bool:
    """Say whether JSON arrived: verbatim, or parsed by the vendor and written out again."""
    return text == expected or json.loads(text) == json.loads(expected)
