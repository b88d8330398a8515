from __future__ import annotations

import math
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import RateLimitedError, UnsupportedError
from poise.ports.models import DecisionModel
from poise.testing.fake_server import Received, Scripted
from poise.testing.generation_requests import layered
from poise.turn.generation import Usage
from poise.turn.models import DecisionRequest, Question
from poise_openai.logprobs import LEAST_MASS, shares_of

PATH = "/v1/chat/completions"
NAMES = ("lost", "angry", "sad", "late", "rude")
REQUEST = DecisionRequest(
    layered("Where is it?"),
    ("I lost it",),
    tuple(Question(f"rule:{name}", f"Is it about {name}?") for name in NAMES),
)

logprobs = st.dictionaries(
    st.sampled_from(["Yes", " yes", "**YES", "No", "no", '"no', "The", "I", "1", ""]),
    st.floats(-20.0, 0.0) | st.just(-9999.0) | st.just(-math.inf),
)


@pytest.fixture
def decider(served: Any) -> DecisionModel:
    return served.provider("vllm", quirks={"decisions": "logprobs"}).decision_model("m")


def spoken(recorded: Any, **shares: float) -> Scripted:
    """Return a completion whose first word was likely so and so."""
    reply = recorded("chat_logprobs")
    (first,) = reply["choices"][0]["logprobs"]["content"]
    first["top_logprobs"] = [
        {"token": word, "logprob": math.log(share), "bytes": None} for word, share in shares.items()
    ]
    first |= first["top_logprobs"][0]
    return Scripted(body=reply)


def question_in(request: Received) -> str:
    """Return what is asked last in a request: the probe's question or one of ours."""
    text = str(request.json["messages"][-1]["content"])
    return text.rpartition("Question: ")[2].splitlines()[0]


@pytest.mark.anyio
async def test_the_share_of_yes_among_yes_and_no_is_the_probability(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(PATH, Scripted(body=recorded("chat_logprobs")))

    found, usage = await decider.decide_metered(REQUEST)

    assert [each.question for each in found] == [f"rule:{name}" for name in NAMES]
    assert [each.value for each in found] == pytest.approx([0.75] * 5)
    assert usage == Usage(input_tokens=500, cached_tokens=400, output_tokens=5)


@pytest.mark.anyio
async def test_each_question_gets_the_answer_to_its_own_request(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    values = {f"Is it about {name}?": 0.1 + 0.15 * n for n, name in enumerate(NAMES)}

    def answer(request: Received) -> Scripted:
        yes = values.get(question_in(request), 0.9)
        return spoken(recorded, Yes=yes, No=1.0 - yes)

    served.server.script(PATH, answer)

    found = await decider.decide(REQUEST)

    assert [each.value for each in found] == pytest.approx(list(values.values()))


@pytest.mark.anyio
async def test_requests_differ_in_their_last_words_alone(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(PATH, Scripted(body=recorded("chat_logprobs")))

    await decider.decide(REQUEST)

    bodies = [request.json for request in served.server.received][1:]
    beginnings = {str(body["messages"]).partition("Question: ")[0] for body in bodies}
    assert len(bodies) == 5
    assert len(beginnings) == 1
    assert '- "I lost it"' in beginnings.pop()
    for body in bodies:
        assert body["messages"][-1]["content"].endswith("Answer yes or no.\nAnswer:")
        rest = {key: value for key, value in body.items() if key != "messages"}
        assert rest == {
            "model": "m",
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": True,
            "top_logprobs": 20,
        }


@pytest.mark.anyio
async def test_the_first_question_goes_ahead_and_then_at_most_so_many_run_at_once(
    served: Any, recorded: Any
) -> None:
    under_way, most, seen = 0, 0, []
    together = threading.Barrier(2, timeout=10)
    lock = threading.Lock()

    def answer(request: Received) -> Scripted:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
            seen.append(question_in(request))
            position = len(seen)
        if position > 2:  # after the probe's question and the first of ours
            together.wait()
        with lock:
            under_way -= 1
        return Scripted(body=recorded("chat_logprobs"))

    served.server.script(PATH, answer)
    provider = served.provider("vllm", quirks={"decisions": "logprobs"}, concurrency=2)

    await provider.decision_model("m").decide(REQUEST)

    assert seen[1] == "Is it about lost?"
    assert len(seen) == 6
    assert most == 2


@pytest.mark.anyio
async def test_a_question_is_asked_with_its_criteria_and_examples(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(PATH, Scripted(body=recorded("chat_logprobs")))
    question = Question(
        "q", "Lost?", yes_if="gone", no_if="there", examples=("it's gone",), counterexamples=("ok",)
    )

    await decider.decide(DecisionRequest(layered("Hi"), ("hello",), (question,)))

    asked = served.sent[-1]["messages"][-1]["content"]
    assert (
        'Question: Lost?\nYes if: gone\nNo if: there\nE.g. yes: "it\'s gone"\nE.g. no: "ok"\n'
    ) in asked


@pytest.mark.anyio
async def test_a_first_word_that_is_neither_is_an_abstention(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(
        PATH, spoken(recorded, Yes=0.9, No=0.1), spoken(recorded, The=0.8, Yes=0.12)
    )

    found = await decider.decide(REQUEST)

    assert {each.value for each in found} == {None}
    assert found[0].rationale == "yes and no had 12 % of the first word together"


@pytest.mark.anyio
async def test_an_answer_without_probabilities_is_an_abstention(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(
        PATH, spoken(recorded, Yes=0.9, No=0.1), Scripted(body=recorded("chat_completion"))
    )

    found = await decider.decide(REQUEST)

    assert {each.value for each in found} == {None}
    assert {each.rationale for each in found} == {"the server told no probabilities this time"}


@pytest.mark.anyio
async def test_a_server_that_tells_nothing_is_told_so_and_asked_once(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    served.server.script(PATH, Scripted(body=recorded("chat_completion")))

    for _ in range(2):
        with pytest.raises(UnsupportedError, match="does not tell how likely"):
            await decider.decide(REQUEST)

    assert len(served.sent) == 1


@pytest.mark.anyio
async def test_one_failure_is_the_batchs_and_stops_the_rest(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    fine = spoken(recorded, Yes=0.9, No=0.1)
    served.server.script(PATH, fine, Scripted(429, {"Retry-After": "3"}))

    with pytest.raises(RateLimitedError) as failed:
        await decider.decide(REQUEST)

    assert failed.value.retry_after == 3.0
    assert len(served.sent) == 2


@pytest.mark.anyio
async def test_a_refused_temperature_is_left_out_from_then_on(
    served: Any, recorded: Any, decider: DecisionModel
) -> None:
    """B-089."""
    message = "Unsupported value: 'temperature' does not support 0.0 with this model."
    refusal = Scripted(400, body={"error": {"message": message, "param": "temperature"}})
    served.server.script(PATH, refusal, Scripted(body=recorded("chat_logprobs")))

    found = await decider.decide(REQUEST)

    assert [each.value for each in found] == pytest.approx([0.75] * 5)
    assert ["temperature" in body for body in served.sent] == [True, *[False] * 6]


# -- laws --


@given(logprobs)
def test_a_probability_lies_within_0_and_1_and_little_mass_is_none(
    likely: dict[str, float],
) -> None:
    shares = shares_of(likely)

    if shares.mass < LEAST_MASS:
        assert shares.value is None
    else:
        assert shares.value is not None
        assert 0.0 <= shares.value <= 1.0


@given(logprobs)
def test_yes_and_no_exchanged_give_the_complement(likely: dict[str, float]) -> None:
    exchanged = {
        word.replace("Yes", "\0").replace("No", "Yes").replace("\0", "No"): share
        for word, share in likely.items()
        if word in ("Yes", "No", "The")
    }
    plain = {word: share for word, share in likely.items() if word in ("Yes", "No", "The")}

    value, complement = shares_of(plain).value, shares_of(exchanged).value

    if value is None or complement is None:
        assert value == complement
    else:
        assert value == pytest.approx(1.0 - complement)


@given(logprobs, st.randoms())
def test_the_order_of_alternatives_does_not_matter(likely: dict[str, float], random: Any) -> None:
    shuffled = list(likely.items())
    random.shuffle(shuffled)

    assert shares_of(dict(shuffled)) == shares_of(likely)


@given(logprobs, st.floats(-20.0, 0.0))
def test_more_mass_for_other_words_changes_no_probability(
    likely: dict[str, float], share: float
) -> None:
    assert shares_of({**likely, "Maybe": share}) == shares_of(likely)


@pytest.mark.parametrize("word", ["Yes", " yes", "YES", "**Yes", '"yes"', "▁Yes", "Ġyes", "Yes."])
def test_spelling_does_not_matter(word: str) -> None:
    assert shares_of({word: 0.0}).yes == 1.0


@pytest.mark.parametrize("word", ["Yesterday", "Not", "Nothing", "Y", "", "not sure", "Noah"])
def test_words_that_only_look_alike_count_for_nothing(word: str) -> None:
    assert shares_of({word: 0.0}).mass == 0.0
