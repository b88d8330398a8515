"""What every embedder, decision model and provider must keep to, as suites to inherit from."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import anyio
import numpy as np
import pytest
from anyio.lowlevel import checkpoint

from poise.errors import UnknownOfferError
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.turn.models import Capability, DecisionRequest, Probability, Question
from poise.turn.prompts import Prompt

MESSAGES = (
    "I can't find my card",
    "How long does a transfer to another bank take?",
    "ok",
    "¿Dónde está mi tarjeta?",
    "我的卡丢了",
    "What is this fee of 3.50 on my statement, and why was I charged twice for it?",
)
"""Texts as customers write them: short and long, in several scripts."""

AWKWARD = (
    "a\x00b",
    "\ud800 half a surrogate pair",
    "{} {{ cycler.__init__ }} {% raw %}",
    "🙂" * 50,
    "\u202eright to left\u202c",
    "\r\n\t tabs \x0b and \x1b[31m escapes",
    "x" * 10_000,
)
"""Texts that nobody should send, and somebody does."""

_HUGE = "I want to know where my transfer is. " * 27_000  # about 1 MB
_HUGE_SECONDS = 5.0
_NOISE = 1e-5


class EmbedderConformance:
    """Inherit, and return an embedder from `subject`."""

    @pytest.fixture
    def subject(self) -> Embedder:
        raise NotImplementedError("return the embedder under test from a fixture named `subject`")

    def test_says_what_it_is(self, subject: Embedder) -> None:
        assert subject.identity, "`identity` is empty; caches of vectors are keyed by it"
        assert subject.dimensions > 0, "`dimensions` must be the length of a vector"

    @pytest.mark.anyio
    async def test_gives_a_unit_row_of_float32_per_text(self, subject: Embedder) -> None:
        rows = await subject.embed(MESSAGES)

        assert rows.shape == (len(MESSAGES), subject.dimensions), (
            f"expected one row of {subject.dimensions} per text, got {rows.shape}"
        )
        assert rows.dtype == np.float32, f"rows are {rows.dtype}; convert them to float32"
        _assert_unit(rows, MESSAGES)

    @pytest.mark.anyio
    async def test_no_texts_give_no_rows(self, subject: Embedder) -> None:
        rows = await subject.embed([])

        assert rows.shape == (0, subject.dimensions), (
            f"no texts must give an array of shape (0, {subject.dimensions}), not {rows.shape}"
        )

    @pytest.mark.anyio
    async def test_a_text_has_one_row_whatever_it_is_embedded_with(self, subject: Embedder) -> None:
        alone = np.concatenate([await subject.embed([text]) for text in MESSAGES])

        together = await subject.embed(MESSAGES)
        crowded = await subject.embed([*(f"filler number {n}" for n in range(100)), *MESSAGES])
        reversed_ = await subject.embed(MESSAGES[::-1])

        for name, rows in (
            ("the others", together),
            ("100 other texts", crowded[100:]),
            ("the others in reverse", reversed_[::-1]),
        ):
            worst = float(np.abs(rows - alone).max())
            assert worst <= _NOISE, (
                f"a text's row differs by {worst:.1e} when it is embedded with {name}; check "
                "padding, masks, and statistics taken over the batch"
            )

    @pytest.mark.anyio
    async def test_equal_texts_have_equal_rows(self, subject: Embedder) -> None:
        rows = await subject.embed([MESSAGES[0], MESSAGES[1], MESSAGES[0]])

        assert np.allclose(rows[0], rows[2], atol=_NOISE), "one text twice gave two vectors"

    @pytest.mark.anyio
    async def test_different_texts_have_different_rows(self, subject: Embedder) -> None:
        rows = await subject.embed(MESSAGES[:2])

        assert float(rows[0] @ rows[1]) < 0.999, "texts about different things share one vector"

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ["", " ", "\n\t  \r\n"])
    async def test_a_blank_text_is_the_first_unit_vector(
        self, subject: Embedder, text: str
    ) -> None:
        rows = await subject.embed([text, MESSAGES[0], text])

        expected = np.zeros(subject.dimensions, dtype=np.float32)
        expected[0] = 1.0
        assert np.array_equal(rows[0], expected), f"{text!r} is not the first unit vector"
        assert np.array_equal(rows[2], expected), f"{text!r} is not the first unit vector"

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
    async def test_no_text_is_refused_for_its_content(self, subject: Embedder, text: str) -> None:
        rows = await subject.embed([text])

        _assert_unit(rows, [text])

    @pytest.mark.anyio
    async def test_a_text_of_a_megabyte_is_embedded_in_bounded_time(
        self, subject: Embedder
    ) -> None:
        await subject.embed(["load what is loaded on first use"])
        started = time.perf_counter()

        rows = await subject.embed([_HUGE])

        spent = time.perf_counter() - started
        _assert_unit(rows, ["a text of 1 MB"])
        assert spent < _HUGE_SECONDS, f"1 MB took {spent:.1f} s; cut texts before encoding them"

    @pytest.mark.anyio
    async def test_the_event_loop_goes_on_meanwhile(self, subject: Embedder) -> None:
        await subject.embed(["load what is loaded on first use"])
        rounds = 0
        finished = anyio.Event()

        async def embed() -> None:
            await subject.embed([f"message number {n}" for n in range(200)])
            finished.set()

        async with anyio.create_task_group() as group:
            group.start_soon(embed)
            while not finished.is_set():
                await checkpoint()
                rounds += 1

        assert rounds > 2, "nothing else ran while it embedded; move the work to a worker thread"

    @pytest.mark.anyio
    async def test_requests_at_once_do_not_mix(self, subject: Embedder) -> None:
        alone = await subject.embed(MESSAGES)
        found: dict[int, np.ndarray] = {}

        async def embed(position: int) -> None:
            found[position] = (await subject.embed([MESSAGES[position]]))[0]

        async with anyio.create_task_group() as group:
            for position in range(len(MESSAGES)):
                group.start_soon(embed, position)

        for position, row in found.items():
            assert np.allclose(row, alone[position], atol=_NOISE), (
                f"{MESSAGES[position]!r} got another vector while other requests ran"
            )

    @pytest.mark.anyio
    async def test_it_can_be_cancelled_and_used_again(self, subject: Embedder) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await subject.embed(MESSAGES * 50)

        assert scope.cancelled_caught, "cancellation was swallowed; let it pass"
        _assert_unit(await subject.embed(MESSAGES), MESSAGES)


class DecisionModelConformance:
    """Inherit, and return a decision model from `subject`."""

    @pytest.fixture
    def subject(self) -> DecisionModel:
        raise NotImplementedError("return the model under test from a fixture named `subject`")

    def test_says_what_it_is_and_where_it_decides(self, subject: DecisionModel) -> None:
        low, high = subject.band

        assert subject.identity, "`identity` is empty; the ledger names models by it"
        assert 0.0 <= low <= high <= 1.0, f"`band` is {subject.band}; needs 0 <= no <= yes <= 1"

    @pytest.mark.anyio
    async def test_answers_each_question_once_in_order(self, subject: DecisionModel) -> None:
        request = request_of("I can't find my card", *_questions(7))

        found = await subject.decide(request)

        _assert_answers(found, request)

    @pytest.mark.anyio
    async def test_no_questions_have_no_answers(self, subject: DecisionModel) -> None:
        assert list(await subject.decide(request_of("hello"))) == []

    @pytest.mark.anyio
    async def test_answers_where_there_is_nothing_to_judge(self, subject: DecisionModel) -> None:
        for focus in ((), ("",), ("  ", "\n")):
            request = request_of(*focus, questions=_questions(3))

            _assert_answers(await subject.decide(request), request)

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", AWKWARD, ids=range(len(AWKWARD)))
    async def test_no_text_is_refused_for_its_content(
        self, subject: DecisionModel, text: str
    ) -> None:
        odd = Question("odd", text, examples=(text,), counterexamples=(text, "else"), prior=0.5)
        request = request_of(text, *_questions(2), odd)

        _assert_answers(await subject.decide(request), request)

    @pytest.mark.anyio
    async def test_takes_priors_of_zero_and_one(self, subject: DecisionModel) -> None:
        examples = ("I lost my card",)
        request = request_of(
            "I lost my card",
            Question("never", "Never?", examples=examples, counterexamples=("hi",), prior=0.0),
            Question("always", "Always?", examples=examples, counterexamples=("hi",), prior=1.0),
        )

        _assert_answers(await subject.decide(request), request)

    @pytest.mark.anyio
    async def test_requests_at_once_do_not_mix(self, subject: DecisionModel) -> None:
        requests = [
            request_of(text, *_questions(3, prefix=f"r{n}_")) for n, text in enumerate(MESSAGES)
        ]
        found: dict[int, Sequence[Probability]] = {}

        async def decide(position: int) -> None:
            found[position] = await subject.decide(requests[position])

        async with anyio.create_task_group() as group:
            for position in range(len(requests)):
                group.start_soon(decide, position)

        for position, answers in found.items():
            _assert_answers(answers, requests[position])


class ModelProviderConformance:
    """Inherit, and return a provider from `subject`."""

    @pytest.fixture
    def subject(self) -> ModelProvider:
        raise NotImplementedError("return the provider under test from a fixture named `subject`")

    def test_has_a_name_that_a_route_can_hold(self, subject: ModelProvider) -> None:
        assert subject.name, "`name` is empty"
        assert ":" not in subject.name, "routes are `provider:model`; a name can't hold a colon"

    @pytest.mark.parametrize("capability", list(Capability))
    def test_names_each_model_once(self, subject: ModelProvider, capability: Capability) -> None:
        names = subject.models(capability)

        assert len(set(names)) == len(names), f"models({capability}) names one twice: {names}"
        assert all(names), f"models({capability}) holds an empty name"

    @pytest.mark.parametrize("capability", list(Capability))
    def test_gives_out_every_model_it_names(
        self, subject: ModelProvider, capability: Capability
    ) -> None:
        for name in subject.models(capability):
            made = _MAKERS[capability](subject, name)
            assert isinstance(made, _PORTS[capability]), f"{capability} of {name!r}: made {made!r}"

    def test_says_what_every_model_can_be_asked_for(self, subject: ModelProvider) -> None:
        for capability in Capability:
            for name in subject.models(capability):
                assert capability in subject.capabilities(name), (
                    f"models({capability}) names {name!r}; capabilities({name!r}) lacks it"
                )

    @pytest.mark.parametrize("capability", list(Capability))
    def test_an_unknown_model_is_an_error_that_names_the_known_ones(
        self, subject: ModelProvider, capability: Capability
    ) -> None:
        try:
            made = _MAKERS[capability](subject, _UNKNOWN)
        except UnknownOfferError as refused:
            told = str(refused)
        else:  # it takes names that it does not list, and must then say so
            assert isinstance(made, _PORTS[capability]), f"{capability}: made {made!r}"
            assert capability in subject.capabilities(_UNKNOWN), (
                f"a model for {capability} was made, and capabilities({_UNKNOWN!r}) lacks it; "
                "raise UnknownOfferError (the inherited method does), or say what it can do"
            )
            return

        assert _UNKNOWN in told, "the error does not name what was asked"
        for name in subject.models(capability):
            assert name in told, f"the error does not offer {name!r} instead"

    def test_allows_some_requests_at_once(self, subject: ModelProvider) -> None:
        assert subject.concurrency is None or subject.concurrency > 0, (
            f"`concurrency` is {subject.concurrency}; `None` is any number"
        )

    @pytest.mark.anyio
    async def test_closing_twice_is_harmless(self, subject: ModelProvider) -> None:
        await subject.aclose()
        await subject.aclose()


_UNKNOWN = "no-such-model"

_PORTS: Mapping[Capability, type] = {
    Capability.EMBED: Embedder,
    Capability.DECIDE: DecisionModel,
    Capability.STRUCTURED: StructuredGenerator,
    Capability.TEXT: TextGenerator,
    Capability.MODERATE: Moderator,
}

_MAKERS: Mapping[Capability, Callable[[ModelProvider, str], object]] = {
    Capability.EMBED: lambda provider, name: provider.embedder(name),
    Capability.DECIDE: lambda provider, name: provider.decision_model(name),
    Capability.STRUCTURED: lambda provider, name: provider.structured_generator(name),
    Capability.TEXT: lambda provider, name: provider.text_generator(name),
    Capability.MODERATE: lambda provider, name: provider.moderator(name),
}


def request_of(*said: str | Question, questions: Sequence[Question] = ()) -> DecisionRequest:
    """Return a request about `said`: texts are the focus, questions are asked."""
    return DecisionRequest(
        state=Prompt(()),
        focus=tuple(each for each in said if isinstance(each, str)),
        questions=(*(each for each in said if isinstance(each, Question)), *questions),
    )


def _questions(count: int, prefix: str = "q") -> tuple[Question, ...]:
    whole = Question(
        id="",
        text="Has the customer lost a card?",
        yes_if="a card is missing",
        no_if="the card is at hand",
        examples=("I lost my card", "my card is gone"),
        counterexamples=("my card was declined",),
        prior=0.7,
    )
    bare = Question(id="", text="Is the customer angry?")
    kinds = (whole, bare)
    return tuple(
        Question(
            id=f"{prefix}{count - number}",
            text=kind.text,
            yes_if=kind.yes_if,
            no_if=kind.no_if,
            examples=kind.examples,
            counterexamples=kind.counterexamples,
            prior=kind.prior,
        )
        for number in range(count)
        for kind in (kinds[number % 2],)
    )


def _assert_answers(found: Sequence[Probability], request: DecisionRequest) -> None:
    asked = [question.id for question in request.questions]
    answered = [each.question for each in found]
    assert answered == asked, f"asked {asked} and got answers to {answered}; keep the order"
    for each in found:
        assert each.value is None or 0.0 <= each.value <= 1.0, (
            f"{each.question!r} got {each.value}; probabilities lie within 0 and 1"
        )


def _assert_unit(rows: np.ndarray, texts: Sequence[str]) -> None:
    assert np.isfinite(rows).all(), "a row holds NaN or infinity"
    for row, text in zip(rows, texts, strict=True):
        length = float(np.linalg.norm(row))
        assert abs(length - 1.0) < 1e-4, f"the row of {text[:40]!r} has length {length:.5f}, not 1"
