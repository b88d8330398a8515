"""Laws: what is written is what is read, and equal requests have equal hashes, others not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from poise import errors
from poise.errors import ProviderError
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    ModelCall,
    Moderation,
    Reasoning,
    StructuredReply,
    TextChunk,
    ToolSpec,
    Usage,
)
from poise.turn.models import DecisionRequest, Probability, Question
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import Schema
from poise_cassettes import replies, requests
from poise_cassettes.folder import Folder
from poise_cassettes.requests import joined, lines, pretty

TEXT = st.text(max_size=30)
WORDS = st.text(st.characters(codec="utf-8") | st.sampled_from("\n{}\u2028\"'"), max_size=30)
COUNT = st.integers(0, 10**6)
USAGE = st.none() | st.builds(Usage, COUNT, COUNT, COUNT, COUNT, COUNT)
FRACTION = st.floats(0, 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


def through_a_file(value: Any) -> Any:
    return json.loads(pretty(value).encode("utf-8"))


# -- replies --


@given(text=TEXT)
def test_text_of_any_lines_comes_back(text: str) -> None:
    assert joined(lines(text)) == text


@given(
    chunk=st.builds(
        TextChunk,
        WORDS,
        st.none() | st.sampled_from(Finish),
        usage=USAGE,
        calls=st.lists(
            st.builds(ModelCall, WORDS, WORDS, st.dictionaries(WORDS, JSON, max_size=3)),
            max_size=2,
        ).map(tuple),
        reason=WORDS,
        model=WORDS,
    )
)
def test_chunk_comes_back_as_it_was(chunk: TextChunk) -> None:
    assert replies.chunk_from(through_a_file(replies.of_chunk(chunk))) == chunk


@given(
    reply=st.builds(
        StructuredReply, WORDS, st.sampled_from(Finish), usage=USAGE, reason=WORDS, model=WORDS
    )
)
def test_structured_reply_comes_back_as_it_was(reply: StructuredReply) -> None:
    assert replies.structured_from(through_a_file(replies.of_structured(reply))) == reply


@given(
    answers=st.lists(st.builds(Probability, WORDS, st.none() | FRACTION, WORDS), max_size=4),
    usage=USAGE,
)
def test_probabilities_come_back_to_the_last_digit(
    answers: list[Probability], usage: Usage | None
) -> None:
    assert replies.answers_from(through_a_file(replies.of_answers(answers, usage))) == (
        answers,
        usage,
    )


@given(
    moderations=st.lists(
        st.builds(Moderation, st.booleans(), st.dictionaries(WORDS, FRACTION, max_size=3)),
        max_size=3,
    )
)
def test_moderations_come_back_as_they_were(moderations: list[Moderation]) -> None:
    said = through_a_file(replies.of_moderations(moderations))

    assert replies.moderations_from(said) == moderations


@given(
    rows=arrays(np.float32, (3, 5), elements=st.floats(-1, 1, width=32)),
    usage=USAGE,
)
def test_vectors_come_back_to_the_last_bit(rows: np.ndarray, usage: Usage | None) -> None:
    said = through_a_file(replies.of_vectors(rows, usage))

    assert all(isinstance(each, str) for each in said["vectors"])
    assert np.array_equal(np.stack([replies.vector_from(each) for each in said["vectors"]]), rows)
    assert replies.usage_from(said) == usage


KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ProviderError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(reason=WORDS, wait=st.none() | st.floats(0, 100), number=st.none() | COUNT)
def test_error_comes_back_as_the_same_kind_with_its_numbers(
    kind: type[ProviderError], reason: str, wait: float | None, number: int | None
) -> None:
    more = {each.name: number for each in attrs.fields(kind)[5:]}
    error = kind("p", "m", "a.route", reason, wait, **more)

    found = replies.error_from(through_a_file(replies.of_error(error)))

    assert type(found) is kind
    assert attrs.asdict(found) == {**attrs.asdict(error), "route": ""}


def test_error_of_a_providers_own_kind_comes_back_as_what_it_is_to_the_router() -> None:
    @attrs.define
    class TooHotError(errors.ProviderUnavailableError):
        degrees: int = 90

    found = replies.error_from(through_a_file(replies.of_error(TooHotError("p", "m", "", "hot"))))

    assert type(found) is errors.ProviderUnavailableError
    assert found.is_retryable


# -- requests --


SECTION = st.builds(Section, WORDS, WORDS, st.sampled_from(Stability))
PROMPT = st.lists(SECTION, max_size=3).map(lambda sections: Prompt(tuple(sections)))
QUESTION = st.builds(
    Question,
    WORDS,
    WORDS,
    yes_if=WORDS,
    no_if=WORDS,
    examples=st.lists(WORDS, max_size=2).map(tuple),
    counterexamples=st.lists(WORDS, max_size=2).map(tuple),
    prior=st.none() | FRACTION,
)
QUESTIONS = st.lists(QUESTION, max_size=3, unique_by=lambda each: each.id).map(tuple)
DECISION = st.builds(
    DecisionRequest,
    PROMPT,
    st.lists(WORDS, max_size=2).map(tuple),
    QUESTIONS,
    task=WORDS,
    explain=st.booleans(),
)
OPTIONS = st.builds(
    GenerationOptions,
    max_output=st.none() | COUNT,
    temperature=st.none() | st.floats(0, 2),
    reasoning=st.none() | st.sampled_from(Reasoning),
    cache_key=WORDS,
)


@given(prompt=PROMPT, options=OPTIONS)
def test_hash_survives_the_file(prompt: Prompt, options: GenerationOptions) -> None:
    request = requests.text("p:m", prompt, options)

    read = attrs.evolve(request, body=through_a_file(request.body))

    assert read.digest == request.digest
    assert read.lines == request.lines


@given(request=DECISION)
def test_decision_is_kept_and_found_by_its_hash(
    request: DecisionRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = Folder(tmp_path_factory.mktemp("cassettes"))
    canonical = requests.decision("p:m", request)
    folder.save(canonical, [{"answers": []}])

    found = folder.load(requests.decision("p:m", request))

    assert found is not None
    assert found.request.digest == canonical.digest
    assert list(folder.all("p:m", canonical.capability)) == [found]


@given(first=DECISION, second=DECISION)
def test_requests_that_read_differently_have_different_hashes(
    first: DecisionRequest, second: DecisionRequest
) -> None:
    one, two = requests.decision("p:m", first), requests.decision("p:m", second)

    assert (one.digest == two.digest) == (one.lines == two.lines)


def _asked(**options: Any) -> str:
    prompt = Prompt.of(Section("a", "b", Stability.TURN))
    return requests.text("p:m", prompt, GenerationOptions(**options)).digest


def test_numbers_that_mean_the_same_hash_the_same() -> None:
    assert _asked(temperature=0) == _asked(temperature=0.0) == _asked(temperature=-0.0)
    assert _asked(temperature=0.1 + 0.2) == _asked(temperature=0.3)
    assert _asked(temperature=0.3) != _asked(temperature=0.31)


def test_key_of_a_cache_is_no_part_of_a_request() -> None:
    assert _asked(cache_key="session-1") == _asked(cache_key="session-2")


def test_noise_in_a_prior_is_no_other_question() -> None:
    def asked(prior: float) -> str:
        question = Question("q", "Is it?", prior=prior)
        return requests.decision("p:m", DecisionRequest(Prompt(()), (), (question,))).digest

    assert asked(0.123456) == asked(0.123457)
    assert asked(0.12) != asked(0.13)


def _schema(*names: str) -> Schema:
    body: Mapping[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }
    return Schema("S", body)


def test_order_of_fields_is_part_of_a_request() -> None:
    def asked(schema: Schema) -> str:
        return requests.structured("p:m", Prompt(()), schema, options=GenerationOptions()).digest

    assert asked(_schema("evidence", "answer")) == asked(_schema("evidence", "answer"))
    assert asked(_schema("evidence", "answer")) != asked(_schema("answer", "evidence"))


def test_tools_on_offer_are_part_of_a_request() -> None:
    tool = ToolSpec("find", "Finds.", _schema("what"))

    assert _asked(tools=(tool,)) != _asked()
    assert _asked(tools=(tool,)) != _asked(tools=(tool,), tool_choice="any")
