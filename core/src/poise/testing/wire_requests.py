"""What a provider must send: the prompt in stable blocks, the schema in order, options if taken.

Mixed into `ProviderWireConformance`, which has the fixtures.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from poise.ports.models import ModelProvider
from poise.testing.embedding import AWKWARD
from poise.testing.fake_server import FakeModelServer
from poise.testing.generation_requests import FIELDS, OPTIONS, SCHEMA, TOOLS, layered
from poise.testing.wire_calls import (
    generate,
    generating,
    model_for,
    script_success,
)
from poise.testing.wire_payloads import Wire
from poise.turn.generation import Finish, GenerationOptions
from poise.turn.models import Capability
from poise.turn.prompts import Prompt, Section, Stability


class WireRequests:
    """The part of the suite about what is sent."""

    @pytest.mark.anyio
    async def test_options_are_sent_or_left_out_but_never_break(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        for options in OPTIONS:
            for capability in generating(wire):
                script_success(wire, fake_model_server, capability)

                last = await generate(served, wire, capability, options=options)

                assert last.finish is Finish.COMPLETE, f"{capability} with {options}"

    @pytest.mark.anyio
    async def test_awkward_texts_are_sent(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        for capability in generating(wire):
            script_success(wire, fake_model_server, capability)
            for text in AWKWARD:
                prompt = Prompt.of(Section("turn", text, Stability.TURN))

                last = await generate(served, wire, capability, prompt=prompt)

                assert last.finish is Finish.COMPLETE, f"{capability} with {text[:40]!r}"

    @pytest.mark.anyio
    async def test_empty_sections_make_no_empty_blocks(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        prompt = Prompt(
            (
                Section("empty", "", Stability.CATALOG),
                Section("turn", "Where is my card?", Stability.TURN),
            )
        )
        for capability in generating(wire):
            script_success(wire, fake_model_server, capability)
            await generate(served, wire, capability, prompt=prompt)

            sent = fake_model_server.received[-1].json
            assert not list(_empty_texts(sent)), (
                f"{capability}: an empty block is sent, which vendors refuse; leave it out"
            )

    @pytest.mark.anyio
    async def test_only_the_turns_words_differ_from_turn_to_turn(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        turns = ("MARKER-1 Where is my card?", "MARKER-2 And my money, where is that?")
        options = GenerationOptions(max_output=500, cache_key="agent-1", tools=TOOLS)
        for capability in generating(wire):
            script_success(wire, fake_model_server, capability)
            for words in turns:
                await generate(served, wire, capability, prompt=layered(words), options=options)

            sent = fake_model_server.received[-2:]
            bare = [
                request.body.replace(json.dumps(words)[1:-1].encode(), b"-")
                for request, words in zip(sent, turns, strict=True)
            ]
            assert b"MARKER" not in bare[0], f"{capability}: the turn's words are not sent verbatim"
            assert bare[0] == bare[1], (
                f"{capability}: more than the turn's words differ, so no cache can help; "
                f"the first difference: {_difference(*bare)}"
            )
            read_ = [wire.read_prompt(request.json) for request in sent]
            if read_[0] is not None and read_[1] is not None:
                shared = read_[0][: _shared(read_[0], read_[1])]
                for section in layered("").sections:
                    assert section.text in shared, (
                        f"{capability}: {section.name!r} does not stand before the turn's words"
                    )

    @pytest.mark.anyio
    async def test_fields_are_asked_for_in_the_schemas_order(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model_for(wire, Capability.STRUCTURED)
        before = copy.deepcopy(dict(SCHEMA.body))
        script_success(wire, fake_model_server, Capability.STRUCTURED)

        await generate(served, wire, Capability.STRUCTURED)

        sent = fake_model_server.received[0].body.decode()
        places = [sent.find(name) for name in FIELDS]
        assert -1 not in places, f"fields are missing from the request: {places} of {FIELDS}"
        assert places == sorted(places), "fields are sent in another order than the schema's"
        assert SCHEMA.body == before, "the schema was changed; translate `schema.plain()`"


def _empty_texts(value: Any) -> Iterator[str]:  # value: parsed JSON
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("text", "content") and inner in ("", [], [""]):
                yield name
            yield from _empty_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            if inner == "":
                yield "an entry"
            yield from _empty_texts(inner)


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how long the beginning is that both have."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _difference(one: bytes, other: bytes) -> str:
    place = _shared(one, other)
    return f"…{one[max(0, place - 60) : place + 60]!r} and …{other[place : place + 60]!r}"
