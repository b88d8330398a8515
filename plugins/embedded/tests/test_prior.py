from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.embedding import request_of
from poise.testing.providers import ScriptedEmbedder
from poise.turn.models import Probability, Question
from poise_embedded.prior import PriorDecisionModel
from poise_embedded.use import UniversalSentenceEmbedder

CLOSE = Question(
    id="close",
    text="Does the customer want to close the account?",
    examples=(
        "I want to close my account",
        "please delete my account",
        "how do I cancel my account",
        "I'd like to leave the bank",
    ),
    counterexamples=("my account is locked", "open an account for my son"),
    prior=0.9,
)
REFUND = Question(
    id="refund",
    text="Does the customer want a refund?",
    examples=("I want a refund", "give me my money back", "can I be refunded for this payment"),
    counterexamples=("when will my salary arrive",),
    prior=0.9,
)


@pytest.fixture
def words() -> ScriptedEmbedder:
    return ScriptedEmbedder()


async def _ask(model: PriorDecisionModel, *said: str, question: Question) -> Probability:
    (found,) = await model.decide(request_of(*said, question))
    return found


@pytest.mark.anyio
async def test_a_prior_alone_is_the_answer(words: ScriptedEmbedder) -> None:
    model = PriorDecisionModel(words)

    found = await _ask(model, "hello there", question=Question("q", "?", prior=0.83))

    assert found.value == 0.83
    assert words.embedded == []


@pytest.mark.anyio
async def test_examples_alone_move_no_prior_and_cost_nothing(words: ScriptedEmbedder) -> None:
    question = attrs.evolve(CLOSE, counterexamples=(), prior=0.4)

    found = await _ask(PriorDecisionModel(words), "close my account", question=question)

    assert found.value == 0.4
    assert words.embedded == []


@pytest.mark.anyio
async def test_without_prior_and_examples_it_abstains(words: ScriptedEmbedder) -> None:
    found = await _ask(PriorDecisionModel(words), "close my account", question=Question("q", "?"))

    assert found.value is None
    assert "no prior and no examples" in found.rationale


@pytest.mark.anyio
async def test_a_message_nearer_to_a_counterexample_is_less_likely(
    use: UniversalSentenceEmbedder,
) -> None:
    model = PriorDecisionModel(use)
    question = attrs.evolve(CLOSE, prior=0.5)

    near = await _ask(model, "close down my account please", question=question)
    beside = await _ask(model, "I am locked out of my account", question=question)

    assert near.value is not None
    assert beside.value is not None
    assert near.value == pytest.approx(0.5)  # far from a near miss is no sign of the thing itself
    assert beside.value < 0.4
    assert "my account" in near.rationale


@pytest.mark.anyio
async def test_without_a_prior_only_the_very_near_and_the_far_are_decided(
    use: UniversalSentenceEmbedder,
) -> None:
    model = PriorDecisionModel(use)
    question = attrs.evolve(CLOSE, prior=None)
    low, high = model.band

    same = await _ask(model, "I want to close my account!", question=question)
    related = await _ask(model, "I have a question about my account", question=question)
    strange = await _ask(model, "the weather is lovely in Lisbon", question=question)

    assert same.value is not None
    assert same.value >= high
    assert related.value is None
    assert strange.value is not None
    assert strange.value <= low


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("I don't want to close my account", CLOSE),
        ("I'm not asking you to close my account", CLOSE),
        ("No quiero cerrar mi cuenta", CLOSE),
        ("Je ne veux pas fermer mon compte", CLOSE),
        ("Ich möchte mein Konto nicht schließen", CLOSE),
        ("Non voglio chiudere il mio conto", CLOSE),
        ("Não quero encerrar minha conta", CLOSE),
        ("Ik wil mijn rekening niet sluiten", CLOSE),
        ("I'm not asking about a refund", REFUND),
        ("this isn't about a refund, my card is stuck in the machine", REFUND),
        ("Ich will keine Rückerstattung", REFUND),
        ("no necesito un reembolso", REFUND),
    ],
)
async def test_what_the_message_denies_is_withheld(
    use: UniversalSentenceEmbedder, message: str, question: Question
) -> None:
    found = await _ask(PriorDecisionModel(use), message, question=question)

    assert found.value is None
    assert "denied by the message" in found.rationale


@pytest.mark.anyio
async def test_a_denial_of_something_else_leaves_the_answer(
    use: UniversalSentenceEmbedder,
) -> None:
    model = PriorDecisionModel(use)

    found = await _ask(model, "I don't want a refund, I want to close my account", question=CLOSE)

    assert found.value is not None
    assert found.value >= model.band[1]


@pytest.mark.anyio
async def test_a_question_about_denials_is_answered(use: UniversalSentenceEmbedder) -> None:
    question = Question(
        "keep", "?", examples=("I don't want this card any more", "I need no card"), prior=0.8
    )

    found = await _ask(PriorDecisionModel(use), "i do not want my card any more", question=question)

    assert found.value == pytest.approx(0.8)


@pytest.mark.anyio
async def test_an_unlikely_question_stays_a_no_when_it_is_denied_as_well(
    use: UniversalSentenceEmbedder,
) -> None:
    question = attrs.evolve(REFUND, prior=0.02)

    found = await _ask(
        PriorDecisionModel(use), "I don't want to close my account", question=question
    )

    assert found.value is not None
    assert found.value <= 0.2


@pytest.mark.anyio
async def test_a_denial_without_examples_to_compare_is_withheld(words: ScriptedEmbedder) -> None:
    question = Question("q", "?", prior=0.9)

    found = await _ask(PriorDecisionModel(words), "I don't want a refund", question=question)

    assert found.value is None


@pytest.mark.anyio
async def test_of_several_messages_the_likeliest_counts(use: UniversalSentenceEmbedder) -> None:
    model = PriorDecisionModel(use)

    alone = await _ask(model, "please close my account", question=CLOSE)
    among = await _ask(model, "hi", "please close my account", "thanks!", question=CLOSE)

    assert alone.value == pytest.approx(among.value)


@pytest.mark.anyio
async def test_a_denied_message_lends_its_prior_to_no_other(use: UniversalSentenceEmbedder) -> None:
    model = PriorDecisionModel(use)

    found = await _ask(model, "hi there", "I don't want to close my account", question=CLOSE)

    assert found.value is None


@pytest.mark.anyio
async def test_a_wish_beside_a_denial_in_another_message_is_a_yes(
    use: UniversalSentenceEmbedder,
) -> None:
    model = PriorDecisionModel(use)

    found = await _ask(
        model, "I don't want to talk to a robot", "I want to close my account", question=CLOSE
    )

    assert found.value is not None
    assert found.value >= model.band[1]


@pytest.mark.anyio
async def test_examples_are_embedded_once(words: ScriptedEmbedder) -> None:
    model = PriorDecisionModel(words)
    await _ask(model, "close it", question=CLOSE)

    await _ask(model, "close it now", question=CLOSE)

    assert words.embedded == [
        ("close it",),
        (*CLOSE.examples, *CLOSE.counterexamples),
        ("close it now",),
    ]


@given(prior=st.floats(0.0, 1.0), more=st.floats(0.0, 0.5))
@settings(max_examples=50, deadline=None)
def test_a_higher_prior_never_makes_it_less_likely(prior: float, more: float) -> None:
    import anyio

    model = PriorDecisionModel(ScriptedEmbedder())
    asked = attrs.evolve(CLOSE, prior=prior)
    higher = attrs.evolve(CLOSE, id="higher", prior=min(1.0, prior + more))

    async def ask() -> list[float | None]:
        request = request_of("delete this account", asked, higher)
        return [each.value for each in await model.decide(request)]

    first, second = anyio.run(ask)

    assert first is not None
    assert second is not None
    assert first <= second
