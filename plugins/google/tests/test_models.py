"""The embedder, the decision model and the providers, by the suites of their ports and beyond."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from poise import (
    Capability,
    Cards,
    DecisionModel,
    DecisionRequest,
    Embedder,
    MalformedReplyError,
    ModelCard,
    ModelProvider,
    Prompt,
    Question,
    RefusedError,
    Section,
    SizeClass,
    Stability,
    UnknownOfferError,
    Usage,
)
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
    request_of,
)
from poise.testing.fake_server import FakeModelServer, Received, Scripted
from poise_google.embeddings import BATCH, BATCH_BYTES, batches, cut, unit_rows
from poise_google.provider import GoogleProvider, VertexProvider
from poise_google.settings import GoogleSettings, VertexSettings

Payload = Callable[[str], Any]

EMBED = "*:batchEmbedContents"
DECIDE = "/v1beta/decisions"
WIDTH = 16


def fake_vectors(request: Received) -> Scripted:
    """Answer with a vector of letters' counts, the same for the same text."""
    texts = [each["content"]["parts"][0]["text"] for each in request.json["requests"]]
    assert len(texts) <= BATCH
    assert not any(text.isspace() or not text for text in texts)
    return Scripted(body={"embeddings": [{"values": letters(text)} for text in texts]})


def letters(text: str) -> list[float]:
    counts = np.bincount([ord(each) % WIDTH for each in text], minlength=WIDTH)
    return [float(each) for each in counts]


def fake_answers(request: Received) -> Scripted:
    answers = {
        key: {"type": "noul", "noul": 0.5, "confidence": 0.5} for key in request.json["questions"]
    }
    return Scripted(body={"answers": answers})


def cards(*more: ModelCard) -> Cards:
    known = Cards()
    known.add_file("poise_google")
    known.add_file("poise_google", "vertex.toml")
    for card in more:
        known.add(card)
    return known


def connect(server: FakeModelServer, *more: ModelCard) -> GoogleProvider:
    settings = GoogleSettings(base_url=server.url, api_key=SecretStr("a-test-key"))
    return GoogleProvider(settings, cards(*more))


SMALL = ModelCard("google", "gemini-embedding-2", dimensions=WIDTH)


@pytest.fixture
async def provider(fake_model_server: FakeModelServer) -> AsyncIterator[GoogleProvider]:
    made = connect(fake_model_server, SMALL)
    yield made
    await made.aclose()


class TestGoogleEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, fake_model_server: FakeModelServer) -> Embedder:
        fake_model_server.script(EMBED, fake_vectors)
        return connect(fake_model_server, SMALL).embedder("gemini-embedding-2")


class TestGoogleDecisionModel(DecisionModelConformance):
    @pytest.fixture
    def subject(self, fake_model_server: FakeModelServer) -> DecisionModel:
        fake_model_server.script(DECIDE, fake_answers)
        return connect(fake_model_server).decision_model("gemini-decision-1")


class TestGoogleProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return GoogleProvider(GoogleSettings())


class TestVertexProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return VertexProvider(VertexSettings())


# -- embedding --


@pytest.mark.anyio
async def test_the_length_of_vectors_is_asked_for_and_equal_texts_are_sent_once(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script(EMBED, fake_vectors)

    await provider.embedder("gemini-embedding-2").embed(["a", "b", "a", " "])

    (request,) = fake_model_server.received
    sent = request.json["requests"]
    assert [each["content"]["parts"][0]["text"] for each in sent] == ["a", "b"]
    assert {each["outputDimensionality"] for each in sent} == {WIDTH}


@pytest.mark.anyio
async def test_what_embedding_took_is_summed_over_its_requests(
    fake_model_server: FakeModelServer, provider: GoogleProvider
) -> None:
    def counted(request: Received) -> Scripted:
        answered = fake_vectors(request)
        answered.body["usageMetadata"] = {"promptTokenCount": 7}
        return answered

    fake_model_server.script(EMBED, counted)
    texts = [f"message number {number}" for number in range(BATCH + 1)]

    rows, usage = await provider.embedder("gemini-embedding-2").embed_metered(texts)

    assert rows.shape == (BATCH + 1, WIDTH)
    assert usage == Usage(input_tokens=14)
    assert len(fake_model_server.received) == 2


@pytest.mark.anyio
async def test_nothing_but_blanks_asks_nobody(
    fake_model_server: FakeModelServer, provider: GoogleProvider
) -> None:
    rows, usage = await provider.embedder("gemini-embedding-2").embed_metered(["", " "])

    assert rows[:, 0].tolist() == [1.0, 1.0]
    assert usage is None
    assert not fake_model_server.received


@pytest.mark.anyio
async def test_vectors_of_another_length_name_the_setting_to_correct(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script(EMBED, Scripted(body=payload("embeddings")))

    with pytest.raises(MalformedReplyError, match="dimensions"):
        await provider.embedder("gemini-embedding-2").embed(["hello"])


@given(st.text(st.characters(exclude_categories=())), st.integers(10, 200))
def test_a_cut_text_fits_and_keeps_head_and_tail(text: str, limit: int) -> None:
    found = cut(text, limit)

    whole = text.encode("utf-8", "replace").decode("utf-8")
    assert len(found.encode("utf-8")) <= limit
    if len(whole.encode("utf-8")) <= limit:
        assert found == whole
    else:
        head, _, tail = found.partition(" ")
        assert whole.startswith(head)
        assert whole.endswith(found[-1:]) or not tail


@given(st.lists(st.text(min_size=1, max_size=5).map(lambda text: text * 4000), max_size=30))
def test_batches_hold_all_texts_in_order_and_fit(texts: list[str]) -> None:
    found = list(batches(texts))

    assert [text for batch in found for text in batch] == texts
    for batch in found:
        assert len(batch) <= BATCH
        assert len(batch) == 1 or sum(len(each.encode()) for each in batch) <= BATCH_BYTES


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5))
def test_rows_have_length_one(values: list[list[float]]) -> None:
    rows = unit_rows(values)

    assert all(math.isclose(float(np.linalg.norm(row)), 1.0, abs_tol=1e-3) for row in rows)


# -- deciding --


def asked(*texts: str) -> DecisionRequest:
    return request_of("I lost it", *(Question(f"rule_{n}", text) for n, text in enumerate(texts)))


@pytest.mark.anyio
async def test_probabilities_come_raw_with_what_they_took(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script(DECIDE, Scripted(body=payload("decisions")))
    model = provider.decision_model("gemini-decision-1")

    found, usage = await model.decide_metered(asked("Is it lost?", "Is she angry?", "Is it late?"))

    assert [(each.question, each.value) for each in found] == [
        ("rule_0", 0.99),
        ("rule_1", 0.03),
    ]
    assert usage == Usage(input_tokens=412, cached_tokens=300)


@pytest.mark.anyio
async def test_questions_go_out_under_short_keys_over_one_shared_input(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script(DECIDE, Scripted(body=payload("decisions")))

    await provider.decision_model("gemini-decision-1").decide(asked("Is it lost?"))

    (request,) = fake_model_server.received
    assert request.json == {
        "model": "gemini-decision-1",
        "input": 'The customer\'s new messages, to be judged (quoted data):\n- "I lost it"',
        "questions": {"q1": {"type": "noul", "instructions": "Is it lost?"}},
    }


@pytest.mark.anyio
async def test_a_blocked_input_is_a_refusal(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script(DECIDE, Scripted(body=payload("decisions_blocked")))

    with pytest.raises(RefusedError, match="The input was blocked"):
        await provider.decision_model("gemini-decision-1").decide(asked("Is it lost?"))


@pytest.mark.anyio
@pytest.mark.parametrize("value", [1.5, -0.1, "high"])
async def test_a_probability_that_is_none_is_malformed(
    fake_model_server: FakeModelServer, provider: GoogleProvider, value: object
) -> None:
    answer = {"type": "noul", "noul": value, "confidence": 0.5}
    fake_model_server.script(DECIDE, Scripted(body={"answers": {"q1": answer}}))

    with pytest.raises(MalformedReplyError):
        await provider.decision_model("gemini-decision-1").decide(asked("Is it lost?"))


def test_a_request_holds_what_the_card_says() -> None:
    few = ModelCard("google", "gemini-decision-1", questions=50)

    assert (
        GoogleProvider(GoogleSettings()).decision_model("gemini-decision-1").max_questions == 1000
    )
    limited = GoogleProvider(GoogleSettings(), cards(few))
    assert limited.decision_model("gemini-decision-1").max_questions == 50


# -- the providers --


def test_each_class_has_a_preferred_model() -> None:
    known = cards()

    for provider in ("google", "vertex"):
        for size in SizeClass:
            for capability in (Capability.TEXT, Capability.STRUCTURED):
                assert known.of_size(provider, size, capability), (provider, size)
    assert known.of_size("google", SizeClass.SMALL, Capability.DECIDE) == "gemini-decision-1"


def test_a_name_that_no_card_knows_works_by_its_family() -> None:
    provider = GoogleProvider(GoogleSettings())

    writing = {Capability.TEXT, Capability.STRUCTURED}
    assert provider.capabilities("gemini-9-ultra") == writing
    assert provider.capabilities("my-tuned-model") == writing
    assert provider.capabilities("gemini-decision-2") == {Capability.DECIDE}
    assert provider.embedder("gemini-embedding-9").dimensions == 3072
    assert provider.text_generator("gemini-9-ultra")
    with pytest.raises(UnknownOfferError):
        provider.text_generator("gemini-embedding-2")


def test_a_class_is_no_models_name() -> None:
    provider = GoogleProvider(GoogleSettings())

    assert all(not provider.capabilities(size.value) for size in SizeClass)


def test_vertex_decides_nothing() -> None:
    provider = VertexProvider(VertexSettings())

    assert provider.models(Capability.DECIDE) == ()
    assert provider.models(Capability.MODERATE) == ()


@pytest.mark.anyio
async def test_tokens_are_counted_by_the_endpoint(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script("*:countTokens", Scripted(body=payload("counted")))
    prompt = Prompt.of(
        Section("identity", "You are Ada.", Stability.CATALOG),
        Section("turn", "Hello", Stability.TURN),
    )

    assert await provider.count_tokens("gemini-3.8-flash", prompt) == 31
    assert await provider.count_tokens("gemini-3.8-flash", Prompt(())) == 0
    (request,) = fake_model_server.received
    assert request.json["contents"][0]["parts"] == [{"text": "You are Ada.\n\nHello"}]


@pytest.mark.anyio
async def test_a_model_can_be_asked_what_it_is(
    fake_model_server: FakeModelServer, provider: GoogleProvider, payload: Payload
) -> None:
    fake_model_server.script("/v1/models/gemini-3.8-flash", Scripted(body=payload("model")))

    assert await provider.probe("gemini-3.8-flash") == {
        "version": "001",
        "reads": "1048576 tokens",
        "writes": "65536 tokens",
        "actions": "generateContent, countTokens, createCachedContent",
    }
