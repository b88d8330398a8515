"""What is asked about a rule: one thing, in the positive, with examples either way."""

import pytest

from poise.testing.turns import catalog_of, observation, policy
from poise.turn.candidates import Candidate, Sighting
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import Annotation
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import WayIn
from poise_matching.questions import question_about

LOST = policy(
    "Lost card",
    when="the customer has lost a card",
    signals=["I can't find my card", "my card is gone"],
    anti_signals=["my card was declined"],
)


def ask(rule, *others, relations=(), sighting=None, examples=12, counterexamples=8, **more):
    snapshot = catalog_of([rule, *others], relations, **more)
    return question_about(
        Candidate(rule, sighting),
        snapshot,
        examples=examples,
        counterexamples=counterexamples,
    )


@pytest.mark.parametrize(
    "when", ["the moon is full", "When the moon is full.", "if the moon is full"]
)
def test_a_condition_is_asked_for_as_it_stands(when):
    question = ask(policy("Tides", when=when))

    assert question.text == "Is this so at this point of the conversation: the moon is full?"
    assert "every part" in question.yes_if
    assert question.no_if


def test_the_action_is_no_part_of_the_question():
    question = ask(policy("Lost card", when="a card is lost", then="freeze it first"))

    assert "freeze" not in question.text + question.yes_if + question.no_if


def test_a_title_with_content_is_asked_for_by_its_title():
    question = ask(policy("Refund procedure", then=None, content="First look up the order."))

    assert "Refund procedure" in question.text
    assert "First look up the order." in question.yes_if


def test_long_content_is_cut_to_head_and_tail():
    content = " ".join(f"word{place}" for place in range(1000))

    question = ask(policy("Manual", then=None, content=content))

    assert "word0" in question.yes_if
    assert "word999" in question.yes_if
    assert len(question.yes_if.split()) < 120


def test_a_description_explains_the_condition():
    question = ask(observation("VIP", when="the customer is a VIP", content="Spent over 1,000."))

    assert question.yes_if.endswith("What is meant: Spent over 1,000.")


def test_signals_are_examples_and_anti_signals_are_counterexamples():
    question = ask(LOST)

    assert question.id == LOST.id
    assert question.examples == LOST.signals
    assert question.counterexamples == LOST.anti_signals


def test_both_are_bounded():
    many = policy(
        "many",
        signals=[f"signal {place}" for place in range(40)],
        anti_signals=[f"other {place}" for place in range(40)],
    )

    question = ask(many, examples=5, counterexamples=3)

    assert (len(question.examples), len(question.counterexamples)) == (5, 3)


def scored(rule, signal, query=True):
    text = Query(QueryKind.MESSAGE, "where is my card", 0) if query else None
    return Sighting(rule.id, 0.2, 0.6, 0.4, 0.83, text, signal)


def test_the_nearest_signal_comes_first_and_the_prior_is_discoverys():
    question = ask(LOST, sighting=scored(LOST, "my card is gone"), examples=1)

    assert question.examples == ("my card is gone",)
    assert question.prior == 0.83


def test_what_was_not_scored_has_no_prior():
    assert ask(LOST).prior is None
    assert ask(LOST, sighting=scored(LOST, None, query=False)).prior is None


def test_proposed_signals_count_as_the_rules_own():
    annotation = Annotation(WayIn.SIGNALS, signals=("has anyone seen my card",))

    question = ask(LOST, annotations={LOST.id: annotation})

    assert question.examples[-1] == "has anyone seen my card"


def topic(**fields):
    return observation("About cards", signals=["a question on cards"], **fields)


FEES = policy("Card fees", signals=["what does the card cost", "card fee", "card price"])


def about(rule):
    return [Relation(RelationKind.DEPENDENCY, other.id, rule.id) for other in (LOST, FEES)]


def test_an_observation_takes_its_dependents_signals_in_turns_after_its_own():
    cards = topic()

    question = ask(cards, LOST, FEES, relations=about(cards), examples=5)

    assert question.examples == (
        "a question on cards",
        "I can't find my card",
        "what does the card cost",
        "my card is gone",
        "card fee",
    )


def test_an_observation_can_keep_to_its_own_signals():
    cards = topic(own_signals_only=True)

    question = ask(cards, LOST, FEES, relations=about(cards))

    assert question.examples == ("a question on cards",)


def test_dependents_that_are_switched_off_lend_nothing():
    cards = topic()
    off = policy("off", signals=["never mind"], enabled=False)

    question = ask(cards, off, relations=[Relation(RelationKind.DEPENDENCY, off.id, cards.id)])

    assert question.examples == ("a question on cards",)


def test_a_policy_lends_itself_no_signals_of_its_dependents():
    base = policy("base")

    question = ask(base, FEES, relations=[Relation(RelationKind.DEPENDENCY, FEES.id, base.id)])

    assert question.examples == ()
