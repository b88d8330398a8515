"""The one door to models: repairs, decisions in any way, retries, fallbacks, windows, streams."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from poise import (
    Answer,
    AuthenticationError,
    Capability,
    Cards,
    ContextTooLongError,
    Cut,
    DecisionModel,
    DecisionRequest,
    Finish,
    GenerationOptions,
    MalformedReplyError,
    ModelCard,
    ModelProvider,
    Moderator,
    Offers,
    Price,
    PriceTable,
    Probability,
    Prompt,
    ProviderTimeoutError,
    ProviderUnavailableError,
    Question,
    RateLimitedError,
    RefusedError,
    Section,
    Stability,
    StructuredGenerator,
    StructuredReply,
    TextChunk,
    TextGenerator,
    TruncatedError,
    UnservedRouteError,
    UnsupportedError,
    Usage,
)
from poise.engine.account import Account
from poise.engine.asking import read
from poise.engine.door import RoutedModels
from poise.engine.routing import ModelRoutes
from poise.engine.settings import EngineLimits, SpendingLimits
from poise.engine.spending import Spending
from poise.errors import SpendingLimitError
from poise.hooks.caller import HookCaller
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.scripted_generators import (
    GenerationRequest,
    ScriptedModerator,
    ScriptedStructuredGenerator,
    ScriptedTextGenerator,
)

pytestmark = pytest.mark.anyio

PROMPT = Prompt.of(Section("task", "Say what it is.", Stability.TURN, cut=Cut.NOTHING))
ROUTE = "test.route"
QUICK = EngineLimits(retry_wait=0.0)


class Word(BaseModel):
    """What these tests ask for."""

    why: str
    word: str


class Vendor(ModelProvider):
    """Gives out what it was given, each under the name `m`."""

    def __init__(self, name: str, *models: object, concurrency: int | None = None) -> None:
        self.name = name
        self.concurrency = concurrency
        self._models = models

    def _of(self, port: type) -> Any:
        return next((each for each in self._models if isinstance(each, port)), None)

    def models(self, capability: Capability) -> Sequence[str]:
        port = {
            Capability.TEXT: TextGenerator,
            Capability.STRUCTURED: StructuredGenerator,
            Capability.DECIDE: DecisionModel,
            Capability.MODERATE: Moderator,
        }.get(capability)
        return ("m",) if port is not None and self._of(port) is not None else ()

    def text_generator(self, model: str) -> TextGenerator:
        return self._of(TextGenerator)

    def structured_generator(self, model: str) -> StructuredGenerator:
        return self._of(StructuredGenerator)

    def decision_model(self, model: str) -> DecisionModel:
        return self._of(DecisionModel)

    def moderator(self, model: str) -> Moderator:
        return self._of(Moderator)


class Nothing:
    def supply(self, kind: type) -> object:
        raise LookupError(kind.__name__)


def door(
    *vendors: Vendor,
    account: Account | None = None,
    limits: EngineLimits = QUICK,
    cards: Sequence[ModelCard] = (),
    prices: PriceTable | None = None,
) -> RoutedModels:
    """Return a door whose route asks the vendors in order."""
    offers = Offers("test")
    for vendor in vendors:
        offers.add(ModelProvider, vendor.name, lambda vendor=vendor: vendor)
    known = Cards()
    for card in cards:
        known.add(card)
    table = {"*": [f"{vendor.name}:m" for vendor in vendors]} if vendors else {}
    routes = ModelRoutes(table, offers, Nothing(), cards=known, prices=prices)
    unbound = RoutedModels(routes, HookCaller(lambda _hook: ()), limits)
    return unbound if account is None else unbound.bind(account, lambda: None)


def lines(account: Account) -> list[tuple[str, str, int, str]]:
    return [(line.model, line.way, line.attempt, line.note) for line in account.requests]


GOOD = '{"why": "so", "word": "yes"}'

# -- structured answers --


async def test_an_answer_is_validated_and_keeps_its_text() -> None:
    account = Account()
    models = door(Vendor("a", ScriptedStructuredGenerator([GOOD])), account=account)

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.value == Word(why="so", word="yes")
    assert (found.text, found.model, found.attempts) == (GOOD, "a:m", 1)
    assert lines(account) == [("a:m", "structured", 1, "")]
    assert account.requests[0].output == found.usage.output_tokens > 0


async def test_fields_are_asked_for_in_their_order() -> None:
    generator = ScriptedStructuredGenerator([GOOD])

    await door(Vendor("a", generator)).ask(ROUTE, PROMPT, Word)

    schema = generator.requests[0].schema
    assert schema is not None
    assert list(schema.body["properties"]) == ["why", "word"]


@pytest.mark.parametrize(
    "wrapped",
    [
        f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f"{{not this}} but {GOOD}",
        f"  {GOOD}  trailing }}",
    ],
)
async def test_json_is_found_within_words(wrapped: str) -> None:
    models = door(Vendor("a", ScriptedStructuredGenerator([wrapped])))

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.value.word == "yes"


async def test_a_malformed_answer_is_sent_back_once_with_what_is_wrong() -> None:
    account = Account()
    generator = ScriptedStructuredGenerator(['{"why": "so"}', GOOD])

    found = await door(Vendor("a", generator), account=account).ask(ROUTE, PROMPT, Word)

    assert found.attempts == 2
    repair = generator.requests[1].prompt.text
    assert "word: Field required" in repair
    assert json.dumps('{"why": "so"}') in repair
    assert lines(account) == [
        ("a:m", "structured", 1, ""),
        ("a:m", "structured", 2, "repairs a malformed answer"),
    ]
    assert "word: Field required" in (account.requests[0].error or "")


async def test_repairs_quote_only_the_last_answer_so_prompts_do_not_grow() -> None:
    """B-084."""
    account = Account()
    generator = ScriptedStructuredGenerator([f'{{"bad": "{n} {"x" * 500}"}}' for n in range(4)])
    prompt = Prompt.of(Section("task", "Say what it is. " * 400, Stability.TURN))
    limits = attrs.evolve(QUICK, repairs=3)

    with pytest.raises(MalformedReplyError, match="why: Field required"):
        await door(Vendor("a", generator), account=account, limits=limits).ask(ROUTE, prompt, Word)

    sizes = [len(request.prompt.text) for request in generator.requests]
    assert len(sizes) == 4
    assert sizes[3] <= 1.2 * sizes[0]
    assert [bool(line.error) for line in account.requests] == [True] * 4


async def test_what_no_repair_mends_goes_to_the_next_model() -> None:
    account = Account()
    models = door(
        Vendor("weak", ScriptedStructuredGenerator(["no json"])),
        Vendor("strong", ScriptedStructuredGenerator([GOOD])),
        account=account,
    )

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.model == "strong:m"
    assert lines(account)[-1] == (
        "strong:m",
        "structured",
        3,
        "after weak:m failed (MalformedReplyError)",
    )


async def test_a_refusal_and_a_truncation_are_outcomes_and_nobody_else_is_asked() -> None:
    other = ScriptedStructuredGenerator([GOOD])
    refusing = ScriptedStructuredGenerator(
        [StructuredReply("", Finish.REFUSED, reason="I would rather not")]
    )
    cut = ScriptedStructuredGenerator([StructuredReply('{"why": "s', Finish.TRUNCATED)])

    with pytest.raises(RefusedError, match="I would rather not"):
        await door(Vendor("a", refusing), Vendor("b", other)).ask(ROUTE, PROMPT, Word)
    with pytest.raises(TruncatedError, match="raise max_output"):
        await door(Vendor("a", cut), Vendor("b", other)).ask(ROUTE, PROMPT, Word)

    assert not other.requests


async def test_a_model_that_only_writes_text_is_asked_in_words() -> None:
    """B-087: the last of the levels."""
    account = Account()
    generator = ScriptedTextGenerator([f"Well: {GOOD}"])

    found = await door(Vendor("a", generator), account=account).ask(ROUTE, PROMPT, Word)

    assert found.value.word == "yes"
    assert '"required": ["why", "word"]' in generator.requests[0].prompt.text
    assert lines(account) == [("a:m", "prompted", 1, "does no structured: asked in words")]


async def test_a_route_that_nothing_serves_says_what_to_set() -> None:
    with pytest.raises(UnservedRouteError, match=r"set models\.'test\.route' = 'provider:model'"):
        await door().ask(ROUTE, PROMPT, Word)


@given(
    before=st.text(st.characters(exclude_characters="{")),
    word=st.text(),
    after=st.text(),
    indent=st.sampled_from([None, 2]),
)
def test_whatever_stands_around_an_object_it_is_read(
    before: str, word: str, after: str, indent: int | None
) -> None:
    written = json.dumps({"why": "", "word": word}, indent=indent)

    assert read(before + written + after, Word).word == word


@given(st.text())
def test_reading_never_fails_otherwise_than_by_saying_what_is_wrong(text: str) -> None:
    try:
        found: object = read(text, Word)
    except ValueError as exc:
        found = str(exc)

    assert found


# -- decisions --


def request_of(*ids: str, explain: bool = False, state: Prompt = PROMPT) -> DecisionRequest:
    questions = tuple(Question(each, f"Is it {each}?") for each in ids)
    return DecisionRequest(state, ("it is red",), questions, explain=explain)


def verdicts(**by_id: str) -> dict[str, Any]:
    return {
        "answers": [
            {"id": each, "question": "Is it?", "verdict": verdict}
            for each, verdict in by_id.items()
        ]
    }


def told(answers: Sequence[Answer]) -> dict[str, bool | None]:
    return {each.question: each.yes for each in answers}


async def test_a_model_that_writes_decides_in_one_request() -> None:
    account = Account()
    generator = ScriptedStructuredGenerator([verdicts(red="yes", blue="no", old="unclear")])

    answers = await door(Vendor("a", generator), account=account).decide(
        ROUTE, request_of("red", "blue", "old")
    )

    assert told(answers) == {"red": True, "blue": False, "old": None}
    assert {each.judged_by for each in answers} == {"a:m"}
    assert lines(account) == [("a:m", "structured", 1, "does no decision: asked for JSON")]
    assert account.requests[0].items == 3
    text = generator.requests[0].prompt.text
    assert '- "it is red"' in text
    assert "- id red: Is it red?" in text


async def test_reasons_are_asked_for_first_where_they_are_wanted() -> None:
    generator = ScriptedStructuredGenerator(
        [
            {
                "answers": [
                    {"id": "red", "evidence": "said so", "question": "Is it?", "verdict": "yes"}
                ]
            }
        ]
    )

    (answer,) = await door(Vendor("a", generator)).decide(ROUTE, request_of("red", explain=True))

    schema = generator.requests[0].schema
    assert schema is not None
    fields = list(schema.body["properties"]["answers"]["items"]["properties"])
    assert fields == ["id", "evidence", "question", "verdict"]
    assert answer.rationale == "said so"


async def test_only_missing_answers_are_asked_for_again_and_strangers_are_noted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """B-006."""
    account = Account()
    generator = ScriptedStructuredGenerator(
        [
            verdicts(a="yes", b="no", c="yes", invented="yes"),
            verdicts(d="yes", e="no"),
        ]
    )

    answers = await door(Vendor("v", generator), account=account).decide(
        ROUTE, request_of("a", "b", "c", "d", "e")
    )

    assert told(answers) == {"a": True, "b": False, "c": True, "d": True, "e": False}
    second = generator.requests[1].prompt.text
    assert "- id d:" in second
    assert "- id a:" not in second
    assert [line.items for line in account.requests] == [5, 2]
    assert "1 answers to questions that nobody asked" in account.requests[0].note
    assert [record.message for record in caplog.records] == [
        "a model answered questions that nobody asked"
    ]


async def test_what_stays_missing_is_undecided_and_never_a_no() -> None:
    generator = ScriptedStructuredGenerator([verdicts(a="yes")])

    answers = await door(Vendor("v", generator)).decide(ROUTE, request_of("a", "b"))

    assert told(answers) == {"a": True, "b": None}
    assert answers[1].rationale == "the model gave no answer, asked again included"


async def test_a_model_that_answers_nothing_falls_to_the_next() -> None:
    models = door(
        Vendor("odd", ScriptedStructuredGenerator([verdicts(other="yes")])),
        Vendor("sane", ScriptedDecisionModel({"a": 0.9})),
    )

    answers = await models.decide(ROUTE, request_of("a"))

    assert told(answers) == {"a": True}


async def test_a_model_that_turns_out_to_give_no_probabilities_is_asked_for_json_ever_after() -> (
    None
):
    account = Account()
    unable = UnsupportedError("v", "m", "", "gives no log-probabilities")
    decisions = ScriptedDecisionModel(failures=[unable])
    generator = ScriptedStructuredGenerator([verdicts(a="yes")])
    models = door(Vendor("v", decisions, generator), account=account)

    first = await models.decide(ROUTE, request_of("a"))
    second = await models.decide(ROUTE, request_of("a"))

    assert told(first) == told(second) == {"a": True}
    assert [line.way for line in account.requests] == ["decision", "structured", "structured"]
    assert len(decisions.requests) == 1


async def test_raw_probabilities_and_the_cards_band_decide() -> None:
    decisions = ScriptedDecisionModel({"a": 0.7, "b": 0.7, "c": 0.2})
    card = ModelCard("v", "m", band=(0.25, 0.8))

    answers = await door(Vendor("v", decisions), cards=[card]).decide(
        ROUTE, request_of("a", "b", "c")
    )

    assert [(each.yes, each.probability) for each in answers] == [
        (None, 0.7),
        (None, 0.7),
        (False, 0.2),
    ]


@given(count=st.integers(1, 30), limit=st.integers(1, 12))
async def test_batches_keep_to_the_vendors_limit_and_change_no_verdict(
    count: int, limit: int
) -> None:
    names = [f"q{number}" for number in range(count)]
    script = {name: number / count for number, name in enumerate(names)}
    decisions = ScriptedDecisionModel(script)
    card = ModelCard("v", "m", questions=limit)

    answers = await door(Vendor("v", decisions), cards=[card]).decide(ROUTE, request_of(*names))

    assert [each.probability for each in answers] == list(script.values())
    assert max(len(request.questions) for request in decisions.requests) <= limit


async def test_a_small_window_makes_more_and_smaller_requests_with_the_same_verdicts() -> None:
    """B-088."""
    names = [f"rule-{number:02}" for number in range(60)]
    history = "\n".join(["The conversation so far:", *(f"customer: {'word ' * 30}" for _ in names)])
    state = Prompt.of(
        Section("identity", "You are kind.", Stability.CATALOG, 100, Cut.NOTHING),
        Section("history", history, Stability.SESSION, 30, Cut.OLDEST_LINES),
    )
    questions = tuple(
        Question(name, f"Is it {name}?", "It is said in so many words. " * 8) for name in names
    )
    request = DecisionRequest(state, ("it is red",), questions)

    def answer(asked: GenerationRequest) -> dict[str, Any]:
        ids = [line[5:12] for line in asked.prompt.text.splitlines() if line.startswith("- id ")]
        return verdicts(**{each: "yes" if int(each[5:]) % 3 else "no" for each in ids})

    small, large = ScriptedStructuredGenerator(answer), ScriptedStructuredGenerator(answer)
    account = Account()
    few = await door(Vendor("v", large)).decide(ROUTE, request)
    many = await door(
        Vendor("v", small), cards=[ModelCard("v", "m", context=4096)], account=account
    ).decide(ROUTE, request)

    assert told(many) == told(few)
    assert len(small.requests) > len(large.requests)
    assert all(len(each.prompt.text) / 4 < 4096 - 1024 for each in small.requests)
    assert any("oldest lines" in each for each in account.omissions)


# -- windows --


async def test_what_is_left_out_is_in_the_account() -> None:
    account = Account()
    generator = ScriptedTextGenerator(["ok"])
    prompt = Prompt.of(
        Section("identity", "You are kind.", Stability.CATALOG, 100, Cut.NOTHING),
        Section("terms", "word " * 3000, Stability.SESSION, 10),
    )
    card = ModelCard("v", "m", context=2000)

    async for _ in door(Vendor("v", generator), cards=[card], account=account).write(ROUTE, prompt):
        pass

    assert generator.requests[0].prompt.text == "You are kind."
    assert account.omissions == ["test.route: terms (for v:m)"]


async def test_what_may_not_be_left_out_fails_before_it_goes_with_the_numbers() -> None:
    generator = ScriptedStructuredGenerator([GOOD])
    prompt = Prompt.of(Section("task", "word " * 3000, Stability.TURN, cut=Cut.NOTHING))
    card = ModelCard("v", "m", context=1000)

    with pytest.raises(ContextTooLongError, match="750 fit; choose a model") as caught:
        await door(Vendor("v", generator), cards=[card]).ask(ROUTE, prompt, Word)

    assert not generator.requests
    assert caught.value.limit == 750


async def test_a_window_that_the_provider_tells_of_is_fitted_to_and_remembered() -> None:
    generator = ScriptedStructuredGenerator(
        [GOOD],
        failures=[ContextTooLongError("v", "m", "", "too long", sent=5000, limit=3000)],
    )
    prompt = Prompt.of(
        Section("task", "Say it.", Stability.TURN, cut=Cut.NOTHING),
        Section("terms", "word " * 4000, Stability.SESSION, 10),
    )
    models = door(Vendor("v", generator))

    await models.ask(ROUTE, prompt, Word)
    await models.ask(ROUTE, prompt, Word)

    assert [len(each.prompt.text) > 9000 for each in generator.requests] == [True, False, False]


# -- retries, deadlines, fallbacks --


def limited(retry_after: float | None = None) -> RateLimitedError:
    return RateLimitedError("v", "m", "", "too many requests", retry_after)


async def test_what_may_pass_is_tried_again_and_counted() -> None:
    """B-093."""
    account = Account()
    generator = ScriptedStructuredGenerator([GOOD], failures=[limited(), limited()])

    found = await door(Vendor("v", generator), account=account).ask(ROUTE, PROMPT, Word)

    assert found.value.word == "yes"
    assert [line.attempt for line in account.requests] == [1, 2, 3]
    assert account.requests[0].error == "v:m on route test.route: too many requests"


async def test_what_the_provider_asks_to_wait_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("poise.engine.sending.anyio.sleep", wait)
    generator = ScriptedStructuredGenerator(
        [GOOD], failures=[limited(2.5), limited(7.0), limited()]
    )
    limits = EngineLimits(retry_wait=1.0)

    await door(Vendor("v", generator), limits=limits).ask(ROUTE, PROMPT, Word)

    assert waits[:2] == [2.5, 7.0]
    assert 2.0 <= waits[2] <= 4.0


async def test_a_wait_beyond_the_deadline_goes_to_the_fallback_at_once() -> None:
    account = Account()
    busy = ScriptedStructuredGenerator([GOOD], failures=[limited(3600.0)])
    models = door(
        Vendor("busy", busy),
        Vendor("free", ScriptedStructuredGenerator([GOOD])),
        account=account,
        limits=QUICK,
    )

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.model == "free:m"
    assert len(busy.requests) == 1


@pytest.mark.parametrize(
    "error", [AuthenticationError("v", "m", "", "wrong key"), ValueError("odd")]
)
async def test_what_can_not_pass_is_not_tried_again(error: Exception) -> None:
    failing = ScriptedStructuredGenerator([GOOD], failures=[error] * 9)
    models = door(Vendor("v", failing), Vendor("w", ScriptedStructuredGenerator([GOOD])))

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.model == "w:m"
    assert len(failing.requests) == 1


async def test_retries_end_and_the_last_error_names_provider_model_and_route() -> None:
    down = ProviderUnavailableError("v", "m", "", "down; try later")
    generator = ScriptedStructuredGenerator([GOOD], failures=[down] * 9)

    with pytest.raises(
        ProviderUnavailableError, match=r"v:m on route test\.route: down; try later"
    ):
        await door(Vendor("v", generator)).ask(ROUTE, PROMPT, Word)

    assert len(generator.requests) == 1 + QUICK.retries


async def test_a_deadline_that_passes_falls_back_without_a_second_try() -> None:
    account = Account()
    slow = ScriptedStructuredGenerator([GOOD], gate=anyio.Event())
    models = door(
        Vendor("slow", slow),
        Vendor("quick", ScriptedStructuredGenerator([GOOD])),
        account=account,
        limits=attrs.evolve(QUICK, model_timeout=0.05),
    )

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.model == "quick:m"
    assert [line.error for line in account.requests] == ["no answer within 0.05 s", None]


async def test_a_providers_lane_holds_as_many_requests_as_it_takes() -> None:
    gate = anyio.Event()
    running = 0
    most = 0

    class Counting(ScriptedStructuredGenerator):
        async def generate(self, *args: Any, **more: Any) -> StructuredReply:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 2:
                gate.set()
            try:
                return await super().generate(*args, **more)
            finally:
                running -= 1

    models = door(Vendor("v", Counting([GOOD], gate=gate), concurrency=2))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(models.ask, ROUTE, PROMPT, Word)

    assert most == 2


# -- streams --


async def words(chunks: AsyncIterator[TextChunk]) -> list[str]:
    return [chunk.text async for chunk in chunks if chunk.text]


async def test_a_stream_comes_as_it_is_and_its_usage_is_recorded() -> None:
    account = Account()
    usage = Usage(input_tokens=100, cached_tokens=80, output_tokens=3)
    generator = ScriptedTextGenerator(
        [["one ", "two", TextChunk(finish=Finish.COMPLETE, usage=usage, model="build-7")]]
    )
    card = ModelCard("v", "m", price=Price(input=10.0, output=100.0, cached=1.0))

    found = await words(
        door(Vendor("v", generator), account=account, cards=[card]).write(ROUTE, PROMPT)
    )

    assert found == ["one ", "two"]
    (line,) = account.requests
    assert (line.fresh, line.cached, line.output) == (20, 80, 3)
    assert line.cost == pytest.approx((20 * 10 + 80 * 1 + 3 * 100) / 1e6)
    assert account.cost == line.cost


async def test_before_the_first_words_a_stream_is_retried_and_falls_back() -> None:
    down = ProviderUnavailableError("v", "m", "", "down")
    account = Account()
    models = door(
        Vendor("v", ScriptedTextGenerator(["never"], failures=[down] * 9)),
        Vendor("w", ScriptedTextGenerator(["hello there"])),
        account=account,
    )

    found = await words(models.write(ROUTE, PROMPT))

    assert "".join(found) == "hello there"
    assert [line.model for line in account.requests] == ["v:m"] * 4 + ["w:m"]


async def test_after_the_first_words_nothing_is_tried_again() -> None:
    broken = ProviderUnavailableError("v", "m", "", "cut off")
    first = ScriptedTextGenerator([["once ", broken]])
    other = ScriptedTextGenerator(["no"])
    came: list[str] = []

    async def listen() -> None:
        async for chunk in door(Vendor("v", first), Vendor("w", other)).write(ROUTE, PROMPT):
            came.append(chunk.text)

    with pytest.raises(ProviderUnavailableError, match="cut off"):
        await listen()

    assert came == ["once "]
    assert len(first.requests) == 1
    assert not other.requests


async def test_a_stream_without_an_end_is_an_error() -> None:
    class Endless(TextGenerator):
        async def stream(
            self, prompt: Prompt, *, options: GenerationOptions
        ) -> AsyncIterator[TextChunk]:
            yield TextChunk("half a")

    with pytest.raises(ProviderUnavailableError, match="before the model said why it stopped"):
        await words(door(Vendor("v", Endless())).write(ROUTE, PROMPT))


async def test_closing_a_stream_stops_the_model_and_is_recorded() -> None:
    account = Account()
    generator = ScriptedTextGenerator(["one two three four"])
    models = door(Vendor("v", generator, concurrency=1), account=account)

    stream = models.write(ROUTE, PROMPT)
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    rest = await words(models.write(ROUTE, PROMPT))

    assert generator.closed == 1
    assert account.requests[0].error == "cancelled"
    assert "".join(rest) == "one two three four", "its place in the lane is free again"


async def test_a_stream_that_stalls_is_given_up() -> None:
    generator = ScriptedTextGenerator([["one ", anyio.Event(), "two"]])
    models = door(
        Vendor("v", generator), account=Account(), limits=EngineLimits(model_timeout=0.05)
    )

    with pytest.raises(ProviderTimeoutError, match=r"no answer within 0\.05 s"):
        await words(models.write(ROUTE, PROMPT))


# -- moderation, warming, spending --


async def test_texts_are_moderated_by_whoever_does_that() -> None:
    models = door(
        Vendor("v", ScriptedTextGenerator()), Vendor("w", ScriptedModerator(flagged=("bomb",)))
    )

    found = await models.moderate(["a card", "a bomb"])

    assert [each.flagged for each in found] == [False, True]


async def test_warming_reaches_the_model_that_reads_the_prompt() -> None:
    account = Account()
    generator = ScriptedTextGenerator()

    await door(Vendor("v", generator), account=account).warm(route=ROUTE, prompt=PROMPT)

    assert generator.warmed == [PROMPT]
    assert [line.way for line in account.requests] == ["warming"]


async def test_warming_a_model_that_caches_by_itself_asks_nothing() -> None:
    class Plain(TextGenerator):
        def stream(self, prompt: Prompt, *, options: GenerationOptions) -> AsyncIterator[TextChunk]:
            raise NotImplementedError

    account = Account()

    await door(Vendor("v", Plain()), account=account).warm(route=ROUTE, prompt=PROMPT)

    assert not account.requests


class Prices(PriceTable):
    """Knows some prices."""

    def __init__(self, known: Mapping[str, Price]) -> None:
        self._known = known

    def price(self, provider: str, model: str) -> Price | None:
        return self._known.get(provider)


@pytest.mark.parametrize("price", [Price(1.0, 2.0), None], ids=["it costs", "nobody knows"])
async def test_at_a_limit_only_what_costs_nothing_is_asked(price: Price | None) -> None:
    account = Account()
    account.spending = Spending(SpendingLimits(day=5.0), day=5.0)
    paid = ScriptedStructuredGenerator([GOOD])
    prices = Prices({"free": Price(0.0), **({"paid": price} if price else {})})
    models = door(
        Vendor("paid", paid),
        Vendor("free", ScriptedStructuredGenerator([GOOD])),
        account=account,
        prices=prices,
    )

    found = await models.ask(ROUTE, PROMPT, Word)

    assert found.model == "free:m"
    assert not paid.requests
    with pytest.raises(SpendingLimitError, match="the limit for a day is"):
        await door(Vendor("paid", paid), account=account, prices=prices).ask(ROUTE, PROMPT, Word)


async def test_probabilities_of_strangers_are_left_out() -> None:
    class Odd(DecisionModel):
        identity = "odd"

        async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
            return [
                Probability("stranger", 0.9),
                *(Probability(q.id, 0.9) for q in request.questions),
            ]

    account = Account()

    answers = await door(Vendor("v", Odd()), account=account).decide(ROUTE, request_of("a"))

    assert told(answers) == {"a": True}
    assert account.requests[0].note == "1 answers to questions that nobody asked"


async def test_one_question_answered_twice_is_malformed() -> None:
    class Twice(DecisionModel):
        identity = "twice"

        async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
            return [Probability("a", 0.9), Probability("a", 0.1)]

    with pytest.raises(MalformedReplyError, match="answered twice"):
        await door(Vendor("v", Twice())).decide(ROUTE, request_of("a"))
