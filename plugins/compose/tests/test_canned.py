"""What the strict composer says, for which rules and messages."""

from __future__ import annotations

import random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.composition import canned, outcome_of
from poise.testing.models import ScriptedModels
from poise.testing.turns import AGENT, catalog_of, observation, policy, turn_of
from poise.turn.candidates import Sighting
from poise.turn.context import TurnContext, Wake
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.queries import Query, QueryKind
from poise.turn.speech import Revision, UtteranceKind
from poise.turn.tooling import Insight, ToolOutcome, ToolPlan
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.agents import CompositionMode, OutputMode
from poise.values.canned import Role
from poise.values.ids import ToolId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import ALWAYS, Weight
from poise.values.tools import Parameter, ParameterKind, Tool, ToolCall, ToolResult
from poise_compose import CannedComposer, ComposeSettings

STRICT = attrs.evolve(AGENT, composition_mode=CompositionMode.CANNED_STRICT)
NO_MATCH = STRICT.no_match

hours = canned("We are open from 9 to 5.", signals=["when are you open", "opening hours"])
phone = canned("Call us at 555 0101.", signals=["what is your phone number", "can I call you"])
frozen = canned("I have frozen your card.", signals=["I lost my card"])
fees = canned("A transfer abroad costs 5 euros.", signals=["what does a transfer abroad cost"])

pytestmark = pytest.mark.anyio


def carrying(title: str, *responses, **fields):
    return policy(title, canned_responses=tuple(each.id for each in responses), **fields)


def strict_turn(
    *said,
    rules=(),
    responses=(),
    active=None,
    hits=None,
    probabilities=None,
    relations=(),
    tools=(),
    agent=STRICT,
    **fields,
) -> TurnContext:
    """A turn on which every rule is active, unless `active` names those that are."""
    snapshot = catalog_of(rules, relations, canned_responses=responses, tools=tools, agent=agent)
    chosen = list(rules) if active is None else list(active)
    likely = probabilities or {}
    fields.setdefault(
        "resolution",
        Resolution({rule.id: Outcome(rule.id, Fate.MATCHED) for rule in chosen}),
    )
    fields.setdefault(
        "verdicts",
        tuple(
            Verdict(rule.id, VerdictKind.APPLIES, "test", likely.get(rule.title, 0.9))
            for rule in chosen
        ),
    )
    fields.setdefault(
        "sightings",
        tuple(
            Sighting(rule.id, 0.1 if hit else -0.5, 0.5, 0.4, 0.9 if hit else 0.1)
            for rule in chosen
            if (hit := (hits or {}).get(rule.title)) is not None
        ),
    )
    return turn_of(snapshot, *said, **fields)


async def say(composer, turn, revision=None):
    return [each async for each in composer.compose(turn, revision)]


async def text_of(composer, turn, revision=None):
    utterances = await say(composer, turn, revision)
    assert all(each.kind is UtteranceKind.MESSAGE for each in utterances)
    return "\n\n".join(each.text for each in utterances)


# -- B-050 to B-056 --


async def test_b050_two_requests_get_two_answers_in_one_message(composer):
    rules = [carrying("Lost card", frozen), carrying("Fees abroad", fees)]

    utterances = await say(
        composer,
        strict_turn(
            "I lost my card and what does a transfer abroad cost",
            rules=rules,
            responses=[frozen, fees],
        ),
    )

    assert len(utterances) == 1
    assert set(utterances[0].text.split("\n\n")) == {frozen.template, fees.template}
    assert set(utterances[0].chosen) == {frozen.id, fees.id}


async def test_b050_two_answers_become_two_messages_where_settings_say_so():
    composer = CannedComposer(ComposeSettings(separate_messages=True))
    rules = [carrying("Lost card", frozen), carrying("Fees abroad", fees)]

    utterances = await say(
        composer,
        strict_turn(
            "I lost my card. What does a transfer abroad cost?",
            rules=rules,
            responses=[frozen, fees],
        ),
    )

    assert {each.text for each in utterances} == {frozen.template, fees.template}


async def test_b050_a_request_that_one_response_covers_gets_one_answer(composer):
    turn = strict_turn("when are you open", responses=[hours, phone])

    assert await text_of(composer, turn) == hours.template


async def test_b050_two_requests_for_what_no_rule_carries_get_both_answers(composer):
    turn = strict_turn(
        "when are you open? what is your phone number?", responses=[hours, phone, frozen]
    )

    assert set((await text_of(composer, turn)).split("\n\n")) == {hours.template, phone.template}


async def test_b050_no_text_is_said_twice(composer):
    rules = [carrying("One", hours), carrying("Two", hours)]

    assert await text_of(composer, strict_turn("hi", rules=rules, responses=[hours])) == (
        hours.template
    )


@pytest.mark.parametrize("value", [0, False, "", []])
async def test_b051_falsy_tool_values_are_rendered(composer, value):
    report = canned("{% if count == 0 %}None left.{% else %}Left: ({count}).{% endif %}")
    rule = carrying("Stock", report, tools=["tool_lookup"])

    text = await text_of(
        composer,
        strict_turn(
            "how many are left",
            rules=[rule],
            responses=[report],
            tools=[lookup()],
            results=(outcome_of(count=value),),
        ),
    )

    assert text == ("None left." if value == 0 and value != [] and value != "" else "Left: ().")


async def test_b052_nothing_approved_says_the_configured_text(composer):
    agent = attrs.evolve(STRICT, no_match="Ask me about cards.")

    assert await text_of(composer, strict_turn("what is love", agent=agent)) == (
        "Ask me about cards."
    )


async def test_b052_templates_that_all_fail_say_no_match_and_name_the_field(composer, caplog):
    broken = [canned("It costs {price}."), canned("{% for x in y %}{% endfor %}{{ x | upper }}")]
    rule = carrying("Price", *broken)

    utterances = await say(composer, strict_turn("price?", rules=[rule], responses=broken))

    assert [each.text for each in utterances] == [NO_MATCH]
    assert "{price}" in utterances[0].note
    assert "no approved response could be said" in caplog.messages


async def test_b052_the_agents_own_no_match_response_goes_first_in_the_customers_language(
    composer,
):
    english = canned("No idea, {std.customer.name}.", role=Role.NO_MATCH, language="en")
    german = canned("Keine Ahnung.", role=Role.NO_MATCH, language="de-AT")
    broken = canned("No {field}.", role=Role.NO_MATCH)
    responses = [english, german, broken]

    assert await text_of(composer, strict_turn("x", responses=responses, language="de")) == (
        "Keine Ahnung."
    )
    assert await text_of(composer, strict_turn("x", responses=responses, language="en-GB")) == (
        "No idea, Guest."
    )
    assert await text_of(composer, strict_turn("x", responses=responses, language="fr")) == NO_MATCH


async def test_b052_a_no_match_text_never_shows_a_field(composer):
    agent = attrs.evolve(STRICT, no_match="Sorry, {unknown}.")

    text = await text_of(composer, strict_turn("what is love", agent=agent))

    assert text
    assert "{" not in text


async def test_b052_nothing_is_embedded_when_there_is_nothing_to_choose(composer):
    models = ScriptedModels()
    rule = carrying("Lost card", frozen)

    await say(composer, strict_turn("what is love", models=models))
    await say(composer, strict_turn("lost it", rules=[rule], responses=[frozen], models=models))

    assert models.embedded == []


async def test_b053_streaming_agents_say_approved_texts_exactly(composer):
    agent = attrs.evolve(STRICT, output_mode=OutputMode.STREAM)
    rule = carrying("Lost card", frozen)

    utterances = await say(
        composer, strict_turn("lost", rules=[rule], responses=[frozen], agent=agent)
    )

    assert "".join(each.text for each in utterances) == frozen.template
    assert all(each.draft is None for each in utterances)


async def test_b054_an_observation_prescribes_nothing(composer):
    about = observation("the customer talks about a card")
    rule = carrying("Lost card", frozen)

    text = await text_of(
        composer, strict_turn("I lost my card", rules=[about, rule], responses=[frozen])
    )

    assert text == frozen.template


async def test_b055_responses_are_in_view_exactly_while_their_rule_is_active(composer):
    rule = carrying("Lost card", frozen)
    fields = {"rules": [rule], "responses": [frozen, hours]}

    active = await say(composer, strict_turn("when are you open", **fields))
    inactive = await say(composer, strict_turn("when are you open", active=[], **fields))

    assert frozen.id in active[0].candidates
    assert inactive[0].candidates == (hours.id,)
    assert inactive[0].text == hours.template


@pytest.mark.parametrize("fate", [Fate.OUTRANKED, Fate.EXCLUDED, Fate.LOWER_PRIORITY])
async def test_rules_set_aside_say_nothing_however_well_they_fit(composer, fate):
    rule = carrying("Lost card", frozen)

    turn = strict_turn(
        "I lost my card",
        rules=[rule],
        responses=[frozen],
        resolution=Resolution({rule.id: Outcome(rule.id, fate)}),
    )

    assert await text_of(composer, turn) == NO_MATCH


async def test_b056_the_order_of_declaration_changes_nothing():
    rules = [carrying(f"Rule {n}", canned(f"Answer {n}.")) for n in range(6)]
    responses = [canned(f"Answer {n}.") for n in range(6)] + [hours, phone, frozen]
    said = set()

    for seed in range(20):
        shuffled, others = list(rules), list(responses)
        random.Random(seed).shuffle(shuffled)
        random.Random(seed + 1).shuffle(others)
        composer = CannedComposer(ComposeSettings())
        [utterance] = await say(
            composer, strict_turn("when are you open? answer", rules=shuffled, responses=others)
        )
        said.add((utterance.text, utterance.chosen, utterance.candidates, utterance.note))

    assert len(said) == 1


# -- choosing --


async def test_the_response_nearest_to_the_message_is_chosen_within_a_rule(composer):
    rule = carrying("Contact", hours, phone)

    turn = strict_turn("what is your phone number", rules=[rule], responses=[hours, phone])

    assert await text_of(composer, turn) == phone.template


async def test_a_response_that_reports_a_tools_result_is_preferred(composer):
    report = canned("Your balance is {balance}.")
    vague = canned("I can tell you your balance", signals=["what is my balance"])
    rule = carrying("Balance", vague, report, tools=["tool_lookup"])
    fields = {"rules": [rule], "responses": [vague, report], "tools": [lookup()]}

    with_result = strict_turn("balance", results=(outcome_of(balance=1234.5),), **fields)

    assert await text_of(composer, with_result) == "Your balance is 1234.5."
    assert await text_of(composer, strict_turn("balance", **fields)) == vague.template


async def test_an_old_topic_is_not_answered_beside_the_new_one(composer):
    rules = [carrying("Lost card", frozen), carrying("Fees abroad", fees)]

    turn = strict_turn(
        "what does a transfer abroad cost",
        rules=rules,
        responses=[frozen, fees],
        hits={"Lost card": False, "Fees abroad": True},
        probabilities={"Lost card": 0.7, "Fees abroad": 0.95},
    )

    assert await text_of(composer, turn) == fees.template


async def test_an_old_topic_that_was_not_sighted_is_not_taken_up_again(composer):
    rule = carrying("Lost card", frozen)

    turn = strict_turn(
        "what is love",
        rules=[rule],
        responses=[frozen],
        hits={"Lost card": False},
        probabilities={"Lost card": 0.5},
    )

    assert await text_of(composer, turn) == NO_MATCH


async def test_a_rule_sighted_by_the_joined_messages_alone_counts_less(composer):
    rules = [carrying("Lost card", frozen), carrying("Fees abroad", fees)]
    joined = Query(QueryKind.JOINED, "x", 2)
    alone = Query(QueryKind.MESSAGE, "x", 2)

    turn = strict_turn(
        "hm",
        rules=rules,
        responses=[frozen, fees],
        sightings=(
            Sighting(rules[0].id, 0.1, 0.5, 0.4, 0.9, joined),
            Sighting(rules[1].id, 0.1, 0.5, 0.4, 0.9, alone),
        ),
    )

    assert (await text_of(composer, turn)).split("\n\n") == [fees.template, frozen.template]


async def test_parts_are_bounded_and_the_heavier_rule_comes_first(composer):
    rules = [
        carrying(f"R{n}", canned(f"Answer {n}."), weight=Weight.HIGH if n == 3 else Weight.LOW)
        for n in range(5)
    ]

    turn = strict_turn("hm", rules=rules, responses=[canned(f"Answer {n}.") for n in range(5)])
    parts = (await text_of(composer, turn)).split("\n\n")

    assert len(parts) == 2
    assert parts[0] == "Answer 3."


async def test_a_rule_that_always_applies_speaks_only_where_nothing_else_does(composer):
    notice = canned("Anything about banking, I am here.")
    standing = carrying("Standing", notice, matcher=ALWAYS)
    rule = carrying("Lost card", frozen)
    responses = [notice, frozen]
    by_code = Verdict(standing.id, VerdictKind.APPLIES, "always", from_code=True)
    judged = Verdict(rule.id, VerdictKind.APPLIES, "test", 0.9)

    both = strict_turn(
        "I lost my card", rules=[standing, rule], responses=responses, verdicts=(by_code, judged)
    )
    alone = strict_turn("what is love", rules=[standing], responses=[notice], verdicts=(by_code,))

    assert await text_of(composer, both) == frozen.template
    assert await text_of(composer, alone) == notice.template


async def test_an_implied_rule_speaks_with_what_implies_it(composer):
    cause, implied = carrying("Cause", frozen), carrying("Implied", fees)

    turn = strict_turn(
        "hm",
        rules=[cause, implied],
        responses=[frozen, fees],
        verdicts=(
            Verdict(cause.id, VerdictKind.APPLIES, "test", 0.9),
            Verdict(implied.id, VerdictKind.DOES_NOT, "test", 0.05),
        ),
        resolution=Resolution(
            {
                cause.id: Outcome(cause.id, Fate.MATCHED),
                implied.id: Outcome(implied.id, Fate.IMPLIED, (cause.id,), "entailment"),
            }
        ),
    )

    assert (await text_of(composer, turn)).split("\n\n") == [frozen.template, fees.template]


async def test_an_observation_speaks_where_no_policy_that_needs_it_does(composer):
    which = canned("What about your card?")
    about = observation("about cards", canned_responses=(which.id,))
    rule = carrying("Lost card", frozen)
    needs = Relation(RelationKind.DEPENDENCY, rule.id, about.id)
    fields = {
        "rules": [about, rule],
        "responses": [which, frozen],
        "relations": [needs],
    }

    assert await text_of(composer, strict_turn("my card", **fields)) == frozen.template
    assert await text_of(composer, strict_turn("my card", active=[about], **fields)) == (
        which.template
    )


async def test_wording_of_no_rule_joins_in_only_for_a_request_of_its_own(composer):
    rule = carrying("Lost card", frozen)
    fields = {"rules": [rule], "responses": [frozen, hours]}

    one = strict_turn("I lost my card", **fields)
    two = strict_turn("I lost my card. Also when are you open?", **fields)

    assert await text_of(composer, one) == frozen.template
    assert (await text_of(composer, two)).split("\n\n") == [frozen.template, hours.template]


async def test_wording_of_no_rule_must_fit(composer):
    turn = strict_turn("tell me a joke", responses=[hours, phone, frozen, fees])

    assert await text_of(composer, turn) == NO_MATCH


async def test_other_languages_are_passed_over(composer):
    german = canned("Wir haben von 9 bis 17 Uhr offen.", signals=["opening hours"], language="de")
    english = canned("Open from 9 to 5.", signals=["hours"], language="en")
    rule = carrying("Hours", german, english)

    turn = strict_turn("opening hours", rules=[rule], responses=[german, english], language="en")

    assert await text_of(composer, turn) == english.template


async def test_transient_rules_carry_responses_too(composer):
    rule = carrying("Lost card", frozen)

    turn = strict_turn("hm", rules=[rule], active=[], responses=[frozen], transient=(rule,))

    assert await text_of(composer, turn) == frozen.template


async def test_the_same_question_gets_the_same_answer_again(composer):
    rule = carrying("Lost card", frozen)
    fields = {"rules": [rule], "responses": [frozen]}

    first = await text_of(composer, strict_turn("lost", **fields))
    again = await text_of(composer, strict_turn("lost", "lost", **fields))

    assert first == again == frozen.template


async def test_a_draft_that_was_sent_back_is_not_said_again(composer):
    rule = carrying("Contact", hours, phone)
    turn = strict_turn("when are you open", rules=[rule], responses=[hours, phone])

    text = await text_of(composer, turn, Revision(hours.template, ("too short",)))

    assert text == phone.template


async def test_a_draft_of_no_rule_that_was_sent_back_is_not_said_again(composer):
    turn = strict_turn("when are you open", responses=[hours, phone])

    assert await text_of(composer, turn, Revision(hours.template, ("wrong",))) == NO_MATCH


# -- tools --


def lookup(*parameters: Parameter, consequential: bool = False) -> Tool:
    return Tool(
        ToolId("tool_lookup"),
        AGENT.id,
        "lookup",
        "python",
        parameters=parameters,
        consequential=consequential,
    )


def asking_turn(tool: Tool, insight: Insight, *more, **fields) -> TurnContext:
    rule = carrying("Freeze", frozen, *more, tools=[tool.id])
    return strict_turn(
        "freeze my card",
        rules=[rule],
        responses=[frozen, *more],
        tools=[tool],
        tool_plan=ToolPlan(insights=(insight,)),
        **fields,
    )


card = Parameter("card", ParameterKind.STRING, question="Which card is it?")
pin_code = Parameter("pin_code", ParameterKind.STRING)
amount = Parameter("amount", ParameterKind.NUMBER)


async def test_a_missing_argument_is_asked_for_in_the_authors_words(composer):
    turn = asking_turn(lookup(card), Insight("lookup", missing=(card,)))

    assert await text_of(composer, turn) == "Which card is it?"


async def test_missing_arguments_without_a_question_are_asked_for_together(composer):
    tool = lookup(card, pin_code, amount)
    turn = asking_turn(tool, Insight("lookup", missing=(card, pin_code, amount)))

    assert (await text_of(composer, turn)).split("\n\n") == [
        "Which card is it?",
        "Could you tell me the pin code and amount?",
    ]


async def test_a_refused_argument_is_asked_for_again(composer):
    turn = asking_turn(lookup(amount), Insight("lookup", invalid={"amount": "below zero"}))

    text = await text_of(composer, turn)

    assert text == "I couldn't use the amount. Could you give it to me again?"


async def test_a_response_that_names_what_is_missing_asks_for_it(composer):
    own = canned("To freeze it I need {std.missing_params}.")
    turn = asking_turn(lookup(card), Insight("lookup", missing=(card,)), own)

    [utterance] = await say(composer, turn)

    assert utterance.text == "To freeze it I need card."
    assert utterance.chosen == (own.id,)


async def test_a_question_stays_when_statements_are_many(composer):
    tool = lookup(card)
    rules = [carrying(f"R{n}", canned(f"Answer {n}."), weight=Weight.HIGH) for n in range(4)]
    asks = carrying("Freeze", frozen, tools=[tool.id], weight=Weight.LOW)

    turn = strict_turn(
        "hm",
        rules=[*rules, asks],
        responses=[frozen, *(canned(f"Answer {n}.") for n in range(4))],
        tools=[tool],
        tool_plan=ToolPlan(insights=(Insight("lookup", missing=(card,)),)),
    )
    parts = (await text_of(composer, turn)).split("\n\n")

    assert len(parts) == 3
    assert parts[-1] == "Which card is it?"


@pytest.mark.parametrize(
    "result",
    [
        {"result": ToolResult(error="no such card")},
        {"refusal": "argument outside its schema"},
        {"error": "timed out"},
    ],
)
async def test_nothing_is_reported_as_done_when_the_tool_failed(composer, result):
    tool = lookup(consequential=True)
    rule = carrying("Freeze", frozen, tools=[tool.id])
    outcome = ToolOutcome(ToolCall("key", tool.id, {}), tool.name, **result)

    turn = strict_turn(
        "freeze my card", rules=[rule], responses=[frozen], tools=[tool], results=(outcome,)
    )

    assert await text_of(composer, turn) == ComposeSettings().failed


async def test_a_tool_that_only_looks_up_does_not_speak_for_one_that_changes(composer):
    changing = attrs.evolve(
        lookup(card, consequential=True), id=ToolId("tool_freeze"), name="freeze"
    )
    done = canned("Card {last4} is frozen.")
    rule = carrying("Freeze", done, tools=["tool_lookup", changing.id])

    turn = strict_turn(
        "freeze my card",
        rules=[rule],
        responses=[done],
        tools=[lookup(), changing],
        results=(outcome_of(last4="1234"),),
        tool_plan=ToolPlan(insights=(Insight("freeze", missing=(card,)),)),
    )

    assert await text_of(composer, turn) == "Which card is it?"


async def test_wording_of_no_rule_reports_what_a_tool_found(composer):
    report = canned("Your balance is {balance}.")
    rule = policy("Balance", tools=("tool_lookup",))

    turn = strict_turn(
        "tell me my balance please",
        rules=[rule],
        responses=[report],
        tools=[lookup()],
        results=(outcome_of(balance=0),),
    )

    assert await text_of(composer, turn) == "Your balance is 0."


# -- other wakes --


async def test_an_utterance_asked_for_is_the_nearest_approved_response(composer):
    ready = canned("Your card is ready.")
    turn = strict_turn(
        responses=[ready, hours, phone],
        wake=Wake.UTTER,
        requested=("Tell the customer that the card is ready",),
    )

    assert await text_of(composer, turn) == "Your card is ready."


async def test_several_instructions_are_served_each_by_its_own_response(composer):
    turn = strict_turn(
        responses=[hours, phone, frozen],
        wake=Wake.UTTER,
        requested=("say when we are open", "say what our phone number is", " "),
    )

    assert (await text_of(composer, turn)).split("\n\n") == [hours.template, phone.template]


async def test_an_utterance_that_nothing_approved_serves_is_not_made_up(composer):
    turn = strict_turn(responses=[hours], wake=Wake.UTTER, requested=("offer a boat insurance",))

    [utterance] = await say(composer, turn)

    assert utterance.kind is UtteranceKind.SILENCE
    assert utterance.text


async def test_a_timer_without_anything_new_leaves_a_reason(composer):
    [utterance] = await say(composer, strict_turn("hello", base=5, wake=Wake.TIMER))

    assert utterance.kind is UtteranceKind.SILENCE


# -- bounds --


async def test_vectors_of_wording_are_kept_across_turns_and_messages_are_not():
    composer = CannedComposer(ComposeSettings())
    models = ScriptedModels()
    rule = carrying("Contact", hours, phone)
    fields = {"rules": [rule], "responses": [hours, phone], "models": models}

    await say(composer, strict_turn("when are you open", **fields))
    await say(composer, strict_turn("can I call you now", **fields))

    assert len(models.embedded[0]) == 7
    assert models.embedded[1] == ("can I call you now",)


async def test_many_responses_of_no_rule_cost_a_bounded_number_of_texts(composer):
    models = ScriptedModels()
    many = [canned(f"Topic {n} is explained on page {n}.") for n in range(2000)]

    turn = strict_turn("when are you open", responses=[*many, hours], models=models)

    assert await text_of(composer, turn) == hours.template
    assert sum(map(len, models.embedded)) < 500


async def test_wording_without_words_of_its_own_disturbs_nobody():
    composer = CannedComposer(ComposeSettings(fit=0.2))
    bare = canned("{count}")
    turn = strict_turn(
        "when are you open? what is your phone number?",
        responses=[bare, hours, phone],
        results=(outcome_of(count=3),),
    )

    assert "We are open" in await text_of(composer, turn)


words = st.text(max_size=40) | st.sampled_from(["{}", "{{x}}", "{%", "\x00", "I lost my card"])


@settings(max_examples=150, deadline=None)
@given(
    said=st.lists(words, max_size=4),
    templates=st.lists(words.filter(lambda text: bool(text.strip())), max_size=4, unique=True),
    fields=st.dictionaries(st.sampled_from(["x", "y"]), st.text(max_size=20) | st.integers()),
    active=st.integers(0, 15),
)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_whatever_comes_in_something_approved_goes_out(said, templates, fields, active):
    composer = CannedComposer(ComposeSettings())
    responses = [canned(template) for template in templates]
    rules = [carrying(f"R{n}", response) for n, response in enumerate(responses)]
    chosen = [rule for n, rule in enumerate(rules) if active >> n & 1]

    utterances = await say(
        composer,
        strict_turn(*said, rules=rules, responses=responses, active=chosen, fields=fields, base=0),
    )

    assert len(utterances) == 1
    assert utterances[0].text.strip()
    assert utterances[0].kind is (UtteranceKind.MESSAGE if said else utterances[0].kind)
