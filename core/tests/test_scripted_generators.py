"""The scripted generators, moderator, provider and models keep to the suites and the scripts."""

from __future__ import annotations

import anyio
import pytest
from pydantic import BaseModel

from poise.errors import (
    MalformedReplyError,
    ProviderUnavailableError,
    RefusedError,
    TruncatedError,
    UnservedRouteError,
)
from poise.ports.models import ModelProvider, Moderator, StructuredGenerator, TextGenerator
from poise.testing.embedding import ModelProviderConformance
from poise.testing.generating import (
    ModeratorConformance,
    StructuredGeneratorConformance,
    TextGeneratorConformance,
)
from poise.testing.models import ScriptedModels
from poise.testing.providers import ScriptedProvider
from poise.testing.scripted_generators import (
    GenerationRequest,
    ScriptedModerator,
    ScriptedStructuredGenerator,
    ScriptedTextGenerator,
)
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
)
from poise.turn.models import Capability, TurnModels
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import schema_of

OPTIONS = GenerationOptions()
DOWN = ProviderUnavailableError("scripted", "script", "", "is down; start it")


class Verdict(BaseModel):
    reason: str
    applies: bool
    score: float | None


class Verdicts(BaseModel):
    verdicts: list[Verdict]
    worst: Verdict
    count: int


def prompt(words: str = "hello") -> Prompt:
    return Prompt.of(Section("turn", words, Stability.TURN))


async def said(subject: TextGenerator, words: str = "hello") -> list[str]:
    return [chunk.text async for chunk in subject.stream(prompt(words), options=OPTIONS)]


class TestScriptedTextGenerator(TextGeneratorConformance):
    @pytest.fixture
    def subject(self) -> TextGenerator:
        return ScriptedTextGenerator(["Your card is on its way."])


class TestScriptedStructuredGenerator(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self) -> StructuredGenerator:
        return ScriptedStructuredGenerator()


class TestScriptedModerator(ModeratorConformance):
    @pytest.fixture
    def subject(self) -> Moderator:
        return ScriptedModerator(["card"])


class TestScriptedProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return ScriptedProvider(
            text=ScriptedTextGenerator(),
            structured=ScriptedStructuredGenerator(),
            moderator=ScriptedModerator(),
        )


def test_provider_serves_only_the_generators_it_was_given() -> None:
    provider = ScriptedProvider(text=ScriptedTextGenerator())

    assert provider.capabilities("script") == {Capability.DECIDE, Capability.TEXT}


@pytest.mark.anyio
async def test_lines_come_in_order_and_the_last_is_repeated() -> None:
    generator = ScriptedTextGenerator(["one two", "three"])

    found = [await said(generator) for _ in range(3)]

    assert found == [["one ", "two", ""], ["three", ""], ["three", ""]]


@pytest.mark.anyio
async def test_a_script_can_be_made_of_the_request() -> None:
    generator = ScriptedTextGenerator(lambda request: request.prompt.text.upper())

    assert "".join(await said(generator, "hello")) == "HELLO"
    assert generator.requests == [GenerationRequest(prompt(), OPTIONS)]


@pytest.mark.anyio
async def test_a_line_can_break_off_in_the_middle() -> None:
    generator = ScriptedTextGenerator([["half ", DOWN]])
    words = generator.stream(prompt(), options=OPTIONS)

    assert (await anext(words)).text == "half "
    with pytest.raises(ProviderUnavailableError):
        await anext(words)


@pytest.mark.anyio
async def test_a_line_can_end_as_it_likes() -> None:
    refused = TextChunk(finish=Finish.REFUSED, reason="I'd rather not.")
    generator = ScriptedTextGenerator([["Well. ", refused, "never said"]])

    chunks = [chunk async for chunk in generator.stream(prompt(), options=OPTIONS)]

    assert chunks == [TextChunk("Well. "), refused]


@pytest.mark.anyio
async def test_failures_come_first_and_then_the_script() -> None:
    generator = ScriptedTextGenerator(["fine"], failures=[DOWN])

    with pytest.raises(ProviderUnavailableError):
        await said(generator)

    assert await said(generator) == ["fine", ""]


@pytest.mark.anyio
async def test_a_stream_waits_at_its_events_and_notes_that_it_was_closed() -> None:
    more = anyio.Event()
    generator = ScriptedTextGenerator([["first ", more, "second"]])
    words = generator.stream(prompt(), options=OPTIONS)
    await anext(words)

    with anyio.move_on_after(0) as patience:
        await anext(words)

    assert patience.cancelled_caught
    assert generator.closed == 1


@pytest.mark.anyio
async def test_a_gate_holds_every_call() -> None:
    gate = anyio.Event()
    generator = ScriptedStructuredGenerator(["{}"], gate=gate)
    replies: list[StructuredReply] = []

    async def generate() -> None:
        schema = schema_of(Verdict)
        replies.append(await generator.generate(prompt(), schema, options=OPTIONS))

    async with anyio.create_task_group() as group:
        group.start_soon(generate)
        await anyio.wait_all_tasks_blocked()
        assert len(generator.requests) == 1
        assert not replies
        gate.set()

    assert [reply.text for reply in replies] == ["{}"]


@pytest.mark.anyio
async def test_json_can_be_text_a_mapping_a_model_a_reply_or_an_error() -> None:
    whole = StructuredReply("", Finish.REFUSED, reason="no")
    model = Verdict(reason="é", applies=True, score=None)
    generator = ScriptedStructuredGenerator(["{'oops", {"b": "é", "a": 1}, model, whole, DOWN])
    schema = schema_of(Verdict)

    replies = [await generator.generate(prompt(), schema, options=OPTIONS) for _ in range(4)]

    assert [reply.text for reply in replies] == [
        "{'oops",
        '{"b": "é", "a": 1}',
        '{"reason":"é","applies":true,"score":null}',
        "",
    ]
    assert replies[3] is whole
    with pytest.raises(ProviderUnavailableError):
        await generator.generate(prompt(), schema, options=OPTIONS)


@pytest.mark.anyio
async def test_moderator_flags_its_words_whatever_their_case() -> None:
    moderator = ScriptedModerator(["Bomb"])

    found = await moderator.moderate(["a BOMB", "a card"])

    assert found == [Moderation(True, {"scripted": 1.0}), Moderation(False, {"scripted": 0.0})]
    assert moderator.moderated == [("a BOMB", "a card")]


@pytest.mark.anyio
async def test_models_answer_with_the_smallest_json_of_the_schema() -> None:
    models = ScriptedModels()

    found = await models.ask("tools.infer", prompt(), Verdicts)

    assert found.value == Verdicts(
        verdicts=[], worst=Verdict(reason="", applies=False, score=None), count=0
    )
    assert [(route, asked.prompt) for route, asked in models.asked] == [("tools.infer", prompt())]


@pytest.mark.anyio
async def test_models_are_scripted_by_route() -> None:
    one = {"reason": "said", "applies": True, "score": 0.5}
    models = ScriptedModels(
        asks={"review.reply": [one]}, writes={"compose.message": ["Hello there"]}
    )

    reviewed = await models.ask("review.reply", prompt(), Verdict)
    other = await models.ask("tools.infer", prompt(), Verdict)
    chunks = [chunk async for chunk in models.write("compose.message", prompt())]
    preamble = [chunk.text async for chunk in models.write("compose.preamble", prompt())]

    assert reviewed.value == Verdict(**one)
    assert not other.value.applies
    assert "".join(chunk.text for chunk in chunks) == "Hello there"
    assert chunks[-1].finish is Finish.COMPLETE
    assert preamble == ["ok", ""]
    assert [route for route, _ in models.written] == ["compose.message", "compose.preamble"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("no JSON", MalformedReplyError),
        (StructuredReply("", Finish.REFUSED, reason="no"), RefusedError),
        (StructuredReply("{", Finish.TRUNCATED), TruncatedError),
        (DOWN, ProviderUnavailableError),
    ],
)
async def test_what_is_no_answer_is_the_error_that_the_router_raises(
    line: str | StructuredReply | Exception, error: type[Exception]
) -> None:
    models = ScriptedModels(asks=[line])

    with pytest.raises(error):
        await models.ask("review.reply", prompt(), Verdict)


@pytest.mark.anyio
async def test_models_moderate() -> None:
    models = ScriptedModels(flagged=["bomb"])

    assert [each.flagged for each in await models.moderate(["a bomb", "ok"])] == [True, False]
    assert models.moderated == [("a bomb", "ok")]


@pytest.mark.anyio
async def test_what_is_not_served_is_an_error_that_names_the_route() -> None:
    models: TurnModels = ScriptedModels(served=frozenset())

    for name, request in {
        "review.reply": lambda: models.ask("review.reply", prompt(), Verdict),
        "screen": lambda: models.moderate(["hello"]),
    }.items():
        with pytest.raises(UnservedRouteError, match=name):
            await request()
    with pytest.raises(UnservedRouteError, match=r"compose\.message"):
        models.write("compose.message", prompt())
