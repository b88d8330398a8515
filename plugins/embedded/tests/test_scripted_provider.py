"""The scripted provider of the test kit, as whole-application tests use it."""

from __future__ import annotations

import anyio
import pytest

from poise import ModelProvider, Offers
from poise.errors import ProviderError
from poise.testing.embedding import request_of
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder, ScriptedProvider
from poise.turn.models import Capability, Question


class _Nothing:
    def supply(self, kind: type) -> object:
        raise LookupError(kind)


@pytest.mark.parametrize("factory", [ScriptedProvider, "poise.testing.providers:ScriptedProvider"])
def test_can_be_offered_as_the_default_provider(factory: type | str) -> None:
    offers = Offers("tests")
    offers.add(ModelProvider, "scripted", factory, default=True)

    made = offers.make(ModelProvider, None, _Nothing())

    assert made.models(Capability.EMBED) == ("words",)


@pytest.mark.anyio
async def test_answers_by_mapping_and_abstains_elsewhere() -> None:
    model = ScriptedDecisionModel({"yes": 0.9})

    found = await model.decide(request_of("hi", Question("yes", "?"), Question("other", "?")))

    assert [each.value for each in found] == [0.9, None]
    assert model.requests[0].focus == ("hi",)


@pytest.mark.anyio
async def test_fails_as_the_script_says_and_then_recovers() -> None:
    failure = ProviderError("scripted", "words", "embed", "is down")
    embedder = ScriptedEmbedder(failures=[failure, None])

    with pytest.raises(ProviderError):
        await embedder.embed(["one"])

    assert (await embedder.embed(["one"])).shape == (1, 256)


@pytest.mark.anyio
async def test_answers_only_once_its_gate_is_opened() -> None:
    gate = anyio.Event()
    model = ScriptedDecisionModel({"q": 1.0}, gate=gate)
    answered = anyio.Event()

    async def ask() -> None:
        await model.decide(request_of("hi", Question("q", "?")))
        answered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        before = answered.is_set()
        gate.set()

    assert not before
    assert answered.is_set()
