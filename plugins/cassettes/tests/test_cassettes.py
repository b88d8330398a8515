"""Recording and playing back: streams, retries, errors, vectors, what a model is, and modes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poise import TextGenerator
from poise.errors import (
    AuthenticationError,
    ConfigError,
    ContextTooLongError,
    ProviderUnavailableError,
    RateLimitedError,
    UnknownOfferError,
)
from poise.testing.embedding import request_of
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    ModelCall,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import Capability, Question
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import Schema
from poise_cassettes import CassetteDriftError, UnreadableCassetteError, UnrecordedModelError

pytestmark = pytest.mark.anyio

Opener = Any  # of conftest.py, which no test may import
Live = Any

OPTIONS = GenerationOptions(temperature=0.0)
SCHEMA = Schema(
    "Step",
    {
        "type": "object",
        "properties": {"step": {"type": "string"}},
        "required": ["step"],
        "additionalProperties": False,
    },
)


def prompt(words: str) -> Prompt:
    return Prompt.of(
        Section("identity", "You are a clerk.\nBe brief.", Stability.CATALOG),
        Section("message", words, Stability.TURN),
    )


async def chunks_of(model: TextGenerator, words: str = "hello") -> list[TextChunk]:
    return [chunk async for chunk in model.stream(prompt(words), options=OPTIONS)]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def the_file(folder: Path, capability: str) -> Path:
    (found,) = folder.glob(f"live/m/{capability}-*.json")
    return found


# -- streams --


async def test_stream_is_played_back_chunk_by_chunk(opened: Opener, live: Live) -> None:
    said = [
        TextChunk("Hel"),
        TextChunk(""),
        TextChunk("lo\nthere"),
        TextChunk(
            finish=Finish.CALLS,
            usage=Usage(10, 4, output_tokens=3),
            calls=(ModelCall("c1", "find", {"n": 0.5, "deep": {"er": [None]}}),),
            model="m-2026",
        ),
    ]
    live.told.lines = [said]
    recorded = await chunks_of(opened("record").text_generator("live:m"))

    replayed = await chunks_of(opened("replay").text_generator("live:m"))

    assert recorded == replayed == said


async def test_stream_is_kept_though_nobody_reads_past_its_end(opened: Opener, live: Live) -> None:
    async for chunk in (
        opened("record").text_generator("live:m").stream(prompt("hello"), options=OPTIONS)
    ):
        if chunk.finish is not None:
            break

    assert await chunks_of(opened("replay").text_generator("live:m"))


async def test_stream_that_is_left_early_is_closed_and_not_kept(
    opened: Opener, live: Live, folder: Path
) -> None:
    stream = opened("record").text_generator("live:m").stream(prompt("hello"), options=OPTIONS)
    await anext(stream)

    await stream.aclose()

    assert live.told.closed == 1
    assert [path.name for path in files(folder)] == ["model.json"]


async def test_stream_that_was_cut_is_cut_again_after_the_same_words(
    opened: Opener, live: Live
) -> None:
    live.told.lines = [[TextChunk("Hel"), ProviderUnavailableError("live", "m", "", "hung up")]]
    with pytest.raises(ProviderUnavailableError):
        await chunks_of(opened("record").text_generator("live:m"))

    replaying = opened("replay").text_generator("live:m")
    stream = replaying.stream(prompt("hello"), options=OPTIONS)
    heard = await anext(stream)
    with pytest.raises(ProviderUnavailableError, match="live:m: hung up"):
        await anext(stream)

    assert heard.text == "Hel"


# -- the other capabilities --


@pytest.mark.parametrize(
    "reply",
    [
        StructuredReply('{\n  "step": "one"\n}', usage=Usage(5, output_tokens=2), model="m-1"),
        StructuredReply("", Finish.REFUSED, reason="I won't."),
        StructuredReply('{"step": "o', Finish.TRUNCATED),
    ],
)
async def test_structured_reply_is_played_back(
    opened: Opener, live: Live, reply: StructuredReply
) -> None:
    live.told.lines = [[reply]]
    recording = opened("record").structured_generator("live:m")
    recorded = await recording.generate(prompt("go"), SCHEMA, options=OPTIONS)

    replaying = opened("replay").structured_generator("live:m")
    replayed = await replaying.generate(prompt("go"), SCHEMA, options=OPTIONS)

    assert recorded == replayed == reply


async def test_moderations_are_played_back(opened: Opener) -> None:
    await opened("record").moderator("live:m").moderate(["a gun", "a bun"])

    found = await opened("replay").moderator("live:m").moderate(["a gun", "a bun"])

    assert found == [
        Moderation(True, {"violence": 0.005}),
        Moderation(False, {"violence": 0.005}),
    ]


async def test_decisions_come_with_the_band_and_limit_of_the_recorded_model(
    opened: Opener, live: Live
) -> None:
    request = request_of("hi", Question("a", "Is it?", prior=0.25), Question("b", "Is it?"))
    await opened("record").decision_model("live:m").decide(request)

    model = opened("replay").decision_model("live:m")
    found = await model.decide(request)

    assert [(each.question, each.value) for each in found] == [("a", 0.25), ("b", None)]
    assert (model.identity, model.band, model.max_questions) == ("scripted-7", (0.3, 0.9), 12)


async def test_vectors_are_found_text_by_text(opened: Opener, live: Live) -> None:
    recording = opened("record").embedder("live:m")
    first = await recording.embed(["a card", "a fee\nof 3"])
    second = await recording.embed(["a transfer"])

    model = opened("replay").embedder("live:m")
    rows = await model.embed(["a transfer", "a card", "a transfer", "a fee\nof 3"])

    assert np.array_equal(rows, np.stack([second[0], first[0], second[0], first[1]]))
    assert (model.identity, model.dimensions) == (live.embeds.identity, 64)


async def test_auto_embeds_only_the_texts_that_are_missing(opened: Opener, live: Live) -> None:
    await opened("auto").embedder("live:m").embed(["a card", "a fee"])

    await opened("auto").embedder("live:m").embed(["a fee", "a loan", "a card", "a loan"])
    await opened("auto").embedder("live:m").embed(["a loan", "a fee"])

    assert live.embeds.embedded == [("a card", "a fee"), ("a loan",)]


async def test_auto_does_not_mix_the_vectors_of_two_embedders(opened: Opener, live: Live) -> None:
    await opened("auto").embedder("live:m").embed(["a card"])
    live.embeds.identity = "another-build"

    with pytest.raises(ConfigError, match=r"recorded of 'scripted-words-64'.*'another-build'"):
        await opened("auto").embedder("live:m").embed(["a fee"])


async def test_recording_another_embedder_leaves_the_old_vectors_behind(
    opened: Opener, live: Live
) -> None:
    await opened("record").embedder("live:m").embed(["a card"])
    live.embeds.identity = "another-build"
    await opened("record").embedder("live:m").embed(["a fee"])

    model = opened("replay").embedder("live:m")

    assert model.identity == "another-build"
    with pytest.raises(CassetteDriftError):
        await model.embed(["a card"])


async def test_warming_up_is_done_while_recording_and_nowhere_else(
    opened: Opener, live: Live
) -> None:
    took = [
        await opened(mode).text_generator("live:m").warm(prompt("hi"), options=OPTIONS)
        for mode in ("record", "auto")
    ]

    assert took == [Usage(7), None]
    assert live.told.warmed == 1


# -- errors, and the same request again --


async def test_errors_are_played_back_typed_with_their_numbers(opened: Opener, live: Live) -> None:
    live.told.lines = [[ContextTooLongError("live", "m", "", "too long", sent=9000, limit=8192)]]
    with pytest.raises(ContextTooLongError):
        await chunks_of(opened("record").text_generator("live:m"))

    with pytest.raises(ContextTooLongError) as caught:
        await chunks_of(opened("replay").text_generator("live:m"))

    assert (caught.value.sent, caught.value.limit, caught.value.route) == (9000, 8192, "")


@pytest.mark.parametrize("mode", ["record", "auto"])
async def test_retry_gets_the_answer_that_the_retry_got(
    opened: Opener, live: Live, mode: str
) -> None:
    limited = RateLimitedError("live", "m", "", "slower", retry_after=0.5)
    reply = StructuredReply('{"step": "two"}')
    live.told.lines = [[limited], [reply]]
    recording = opened(mode).structured_generator("live:m")
    with pytest.raises(RateLimitedError):
        await recording.generate(prompt("go"), SCHEMA, options=OPTIONS)
    await recording.generate(prompt("go"), SCHEMA, options=OPTIONS)

    replaying = opened("replay").structured_generator("live:m")
    with pytest.raises(RateLimitedError) as caught:
        await replaying.generate(prompt("go"), SCHEMA, options=OPTIONS)
    found = [await replaying.generate(prompt("go"), SCHEMA, options=OPTIONS) for _ in range(3)]

    assert caught.value.retry_after == 0.5
    assert found == [reply] * 3


async def test_auto_asks_again_after_a_failure_that_passes(opened: Opener, live: Live) -> None:
    live.told.lines = [[ProviderUnavailableError("live", "m", "", "down")]]
    with pytest.raises(ProviderUnavailableError):
        await chunks_of(opened("auto").text_generator("live:m"))
    model = opened("auto").text_generator("live:m")
    with pytest.raises(ProviderUnavailableError):
        await chunks_of(model)

    found = await chunks_of(model)

    assert found[0].text == "as ever"


async def test_auto_plays_back_a_failure_that_stays(opened: Opener, live: Live) -> None:
    live.told.lines = [[AuthenticationError("live", "m", "", "no key")]]
    model = opened("auto").text_generator("live:m")

    for _ in range(3):
        with pytest.raises(AuthenticationError):
            await chunks_of(model)

    assert live.told.asked == 1


async def test_answers_to_one_request_come_in_the_recorded_order(
    opened: Opener, live: Live
) -> None:
    live.told.lines = [[TextChunk(word, Finish.COMPLETE)] for word in ("one", "two", "three")]
    recording = opened("record").text_generator("live:m")
    for _ in range(3):
        await chunks_of(recording)

    replaying = opened("replay").text_generator("live:m")
    heard = [(await chunks_of(replaying))[0].text for _ in range(4)]

    assert heard == ["one", "two", "three", "three"]


async def test_recording_again_replaces_what_was_recorded(opened: Opener, live: Live) -> None:
    live.told.lines = [[TextChunk(word, Finish.COMPLETE)] for word in ("old", "older", "new")]
    before = opened("record").text_generator("live:m")
    await chunks_of(before)
    await chunks_of(before)

    await chunks_of(opened("record").text_generator("live:m"))

    replaying = opened("replay").text_generator("live:m")
    heard = [(await chunks_of(replaying))[0].text for _ in range(2)]
    assert heard == ["new", "new"]


async def test_auto_asks_once_and_plays_back_from_then_on(opened: Opener, live: Live) -> None:
    model = opened("auto").text_generator("live:m")

    first, second = await chunks_of(model), await chunks_of(model)
    await chunks_of(opened("auto").text_generator("live:m"))

    assert first == second
    assert live.told.asked == 1


# -- the files --


async def test_file_is_for_people_and_the_same_each_time(
    opened: Opener, live: Live, folder: Path
) -> None:
    await chunks_of(opened("record").text_generator("live:m"), "¿Dónde está mi tarjeta?")
    first = {path: path.read_bytes() for path in files(folder)}
    await chunks_of(opened("record").text_generator("live:m"), "¿Dónde está mi tarjeta?")

    text = the_file(folder, "text").read_text(encoding="utf-8")

    assert {path: path.read_bytes() for path in files(folder)} == first
    assert "¿Dónde está mi tarjeta?" in text
    assert '"You are a clerk.",\n' in text
    assert json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) == text[:-1]


async def test_vector_is_one_line_of_its_file(opened: Opener, folder: Path) -> None:
    await opened("record").embedder("live:m").embed(["a card", "a fee"])

    text = the_file(folder, "embedding").read_text()

    assert len(text.splitlines()) < 30


@pytest.mark.parametrize(
    "name", ["acme/bird-2.5:free", "../../up", "Bird", "bird", "x" * 300, ".", "a\\b", "con?"]
)
async def test_model_of_any_name_has_a_folder_of_its_own(
    opened: Opener, live: Live, folder: Path, name: str
) -> None:
    live.text_generator = lambda _name: live.told
    live.capabilities = lambda _name: frozenset({Capability.TEXT})
    await chunks_of(opened("record").text_generator(f"live:{name}"))

    assert await chunks_of(opened("replay").text_generator(f"live:{name}"))
    assert all(path.is_relative_to(folder / "live") for path in files(folder.parent))
    assert opened("replay").models(Capability.TEXT) == [f"live:{name}"]


async def test_models_that_differ_in_case_do_not_share_a_folder(
    opened: Opener, live: Live, folder: Path
) -> None:
    live.text_generator = lambda _name: live.told
    for name in ("Bird", "bird", "BIRD"):
        await chunks_of(opened("record").text_generator(f"live:{name}"))

    places = {path.parent.name.lower() for path in files(folder)}

    assert len(places) == 3


async def test_write_that_fails_leaves_the_old_file(
    opened: Opener, live: Live, folder: Path
) -> None:
    await chunks_of(opened("record").text_generator("live:m"))
    path = the_file(folder, "text")
    before = path.read_bytes()
    call = ModelCall("c", "f", {"x": object()})  # what no file can hold
    live.told.lines = [[TextChunk("new", Finish.CALLS, calls=(call,))]]

    with pytest.raises(TypeError):
        await chunks_of(opened("record").text_generator("live:m"))

    assert path.read_bytes() == before
    assert not [each for each in files(folder) if each.suffix == ".tmp"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "can't be read"),
        ("[]", "is no cassette of format 1"),
        ('{"format": 2, "model": "live:m"}', "is no cassette of format 1"),
        ('{"format": 1, "model": "live:m"}', "is no cassette"),
        (
            '{"format": 1, "model": "live:m", "capability": "text", "request": {}, "takes": [3]}',
            "is no cassette",
        ),
        (
            '{"format": 1, "model": "live:m", "capability": "text", "request": {},'
            ' "takes": [{"chunks": [{"finish": "bored", "text": ""}]}]}',
            "no answer.*bored",
        ),
    ],
)
async def test_damaged_file_is_named_with_the_mend(
    opened: Opener, folder: Path, content: str, told: str
) -> None:
    await chunks_of(opened("record").text_generator("live:m"))
    path = the_file(folder, "text")
    path.write_text(content)

    with pytest.raises(UnreadableCassetteError, match=f"{told}.*POISE_CASSETTES__MODE") as caught:
        await chunks_of(opened("replay").text_generator("live:m"))

    assert path.name in str(caught.value)


# -- drift --


async def test_request_that_changed_is_shown_beside_the_nearest_recorded_one(
    opened: Opener, folder: Path
) -> None:
    recording = opened("record").text_generator("live:m")
    for words in ("Say\nhello\nnow", "An other thing\nof two lines", "Bye"):
        await chunks_of(recording, words)

    with pytest.raises(CassetteDriftError) as caught:
        await chunks_of(opened("replay").text_generator("live:m"), "Say\nhello, warmly\nnow")

    error = caught.value
    assert not error.is_retryable
    assert "hello" in (folder / error.nearest).read_text()
    changed = [each for each in error.diff.splitlines() if each[:1] in "+-" and each[:3] != "---"]
    assert [each.split() for each in changed if each[:3] != "+++"] == [
        ["-", '"hello",'],
        ["+", '"hello,', 'warmly",'],
    ]
    assert f"--- recorded in {error.nearest}" in str(error)
    assert str(error).startswith("cassette:live:m: this text request")
    assert "POISE_CASSETTES__MODE=auto" in str(error)


async def test_nearest_request_is_of_the_same_capability_and_model(opened: Opener) -> None:
    await opened("record").moderator("live:m").moderate(["hello"])

    with pytest.raises(CassetteDriftError, match="nor any other of live:m") as caught:
        await chunks_of(opened("replay").text_generator("live:m"))

    assert (caught.value.nearest, caught.value.diff) == ("", "")


async def test_missing_texts_are_the_difference_of_an_embedding(opened: Opener) -> None:
    await opened("record").embedder("live:m").embed(["a card", "a fee"])

    with pytest.raises(CassetteDriftError) as caught:
        await opened("replay").embedder("live:m").embed(["a fee", "a loan"])

    assert '+    "a loan"' in caught.value.diff


async def test_long_difference_is_cut(opened: Opener) -> None:
    await chunks_of(opened("record").text_generator("live:m"), "short")
    long = "\n".join(f"line {number}" for number in range(1000))

    with pytest.raises(CassetteDriftError) as caught:
        await chunks_of(opened("replay").text_generator("live:m"), long)

    assert len(caught.value.diff.splitlines()) < 90
    assert caught.value.diff.endswith("more lines")


# -- providers --


async def test_model_that_was_never_recorded_is_asked_for_anything_and_told_of(
    opened: Opener,
) -> None:
    provider = opened("replay")

    assert provider.capabilities("live:m") == frozenset(Capability)
    for make in (provider.embedder, provider.decision_model, provider.text_generator):
        with pytest.raises(UnrecordedModelError, match=r"'live:m'.*POISE_CASSETTES__MODE"):
            make("live:m")


async def test_capabilities_are_those_of_the_wrapped_model_then_and_now(
    opened: Opener, live: Live
) -> None:
    some = frozenset({Capability.TEXT, Capability.MODERATE})
    live.capabilities = lambda _model: some
    await chunks_of(opened("record").text_generator("live:m"))

    assert opened("record").capabilities("live:m") == some
    assert opened("auto").capabilities("live:m") == some
    assert opened("replay").capabilities("live:m") == some
    assert opened("replay").models(Capability.TEXT) == ["live:m"]
    assert opened("replay").models(Capability.EMBED) == []


@pytest.mark.parametrize("name", ["m", "live:", ":m", "cassette:live:m"])
async def test_name_that_wraps_nothing_is_refused_rather_than_passed_over(
    opened: Opener, name: str
) -> None:
    provider = opened("record")

    assert provider.capabilities(name) == frozenset(Capability)
    with pytest.raises(UnknownOfferError, match="written `provider:model`"):
        provider.text_generator(name)


async def test_wrapped_provider_that_is_not_installed_is_named_when_it_is_needed(
    opened: Opener,
) -> None:
    model = opened("auto").text_generator("gone:m")

    with pytest.raises(UnknownOfferError, match="'gone'"):
        await chunks_of(model)


async def test_replay_limits_nothing_and_recording_does(opened: Opener) -> None:
    assert opened("replay").concurrency is None
    assert opened("record").concurrency == 4
