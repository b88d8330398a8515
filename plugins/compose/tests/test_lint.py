"""What is doubtful about approved wording."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from poise.hooks.findings import Finding, Severity
from poise.testing.composition import canned
from poise.testing.tools import tool_named
from poise.testing.turns import AGENT, catalog_of, observation, policy
from poise.values.agents import CompositionMode
from poise.values.canned import CannedResponse, Role
from poise.values.ids import VariableId
from poise.values.relationships import Relation, RelationKind
from poise.values.tools import Parameter, ParameterKind
from poise.values.variables import Variable
from poise_compose import plugin

STRICT = attrs.evolve(AGENT, composition_mode=CompositionMode.CANNED_STRICT)
LOOKUP = tool_named("lookup", Parameter("order", ParameterKind.STRING))


def found(*responses: CannedResponse, rules: Sequence = (), **more: object) -> list[Finding]:
    return list(plugin.poise_lint(catalog_of(rules, canned_responses=responses, **more)))


def told(findings: Sequence[Finding]) -> list[tuple[str, str, Severity]]:
    return [(each.check, each.subject, each.severity) for each in findings]


def test_templates_that_are_refused_or_wait_for_a_model_are_named():
    bad = canned("{% for x in y %}{{ x }}{% endfor %}")
    free = canned("In {generic.city} we ship for free.")

    findings = found(bad, free, canned("Fine."))

    assert told(findings) == [
        ("compose.template", bad.id, Severity.ERROR),
        ("compose.generic_field", free.id, Severity.NOTE),
    ]


def test_strict_agent_without_a_reply_is_named():
    assert told(found(agent=STRICT)) == [("compose.no_replies", STRICT.id, Severity.WARNING)]
    assert found(canned("Fine."), agent=STRICT) == []
    assert found() == []


def test_role_that_a_strict_agent_never_says_is_noted():
    preamble = canned("One moment.", role=Role.PREAMBLE)

    assert told(found(canned("Fine."), preamble, agent=STRICT)) == [
        ("compose.unused_role", preamble.id, Severity.NOTE)
    ]
    assert found(canned("Fine."), preamble) == []


def test_response_of_rules_that_are_all_switched_off_is_dead():
    kept, dead = canned("Kept."), canned("Dead.")
    off = policy("off", enabled=False, canned_responses=[kept.id, dead.id])
    on = policy("on", canned_responses=[kept.id])

    findings = found(kept, dead, rules=[off, on])

    assert told(findings) == [("compose.dead_response", dead.id, Severity.WARNING)]
    assert "'off', which is switched off" in findings[0].message


def test_reply_without_words_or_signals_that_no_rule_carries_is_dead():
    balance = Variable(VariableId("variable_1"), AGENT.id, "balance")
    bare = canned("{balance}")
    signalled = canned("{balance}.", signals=["how much do I have"])
    carried = canned("{balance}!")
    rule = policy("on", canned_responses=[carried.id])

    findings = found(bare, signalled, carried, rules=[rule], variables=[balance])

    assert told(findings) == [("compose.dead_response", bare.id, Severity.WARNING)]


@pytest.mark.parametrize(
    "template",
    [
        "Dear {std.customer.name}, this is {std.agent.name}.",
        "You have {balance}.",
        "You have {std.variables.balance} euros.",
        "On {balance.date} you had {balance.amount}.",
        "Please tell me your {std.missing_params}.",
        "I looked for {order}.",
    ],
)
def test_field_that_the_catalog_supplies_is_fine(template):
    balance = Variable(VariableId("variable_1"), AGENT.id, "balance")
    rule = policy("look", tools=[LOOKUP.id])

    assert found(canned(template), rules=[rule], tools=[LOOKUP], variables=[balance]) == []


@pytest.mark.parametrize(
    "template", ["It is {gone}.", "Your {std.customer.age} years.", "At {std.variables.gone}."]
)
def test_field_that_nothing_supplies_is_a_warning(template):
    response = canned(template)

    findings = found(response, rules=[policy("no tool")])

    assert told(findings) == [("compose.unsupplied_field", response.id, Severity.WARNING)]


def test_field_that_a_template_may_do_without_is_a_note():
    response = canned("It is {{ gone | default('there') }}.")

    assert told(found(response)) == [("compose.unsupplied_field", response.id, Severity.NOTE)]


def test_tool_of_a_rule_that_is_switched_off_supplies_nothing():
    response = canned("It is {state}.")
    off = policy("look", tools=[LOOKUP.id], enabled=False)

    findings = found(response, rules=[off], tools=[LOOKUP])

    assert told(findings) == [("compose.unsupplied_field", response.id, Severity.WARNING)]


def test_result_of_a_tool_that_the_rule_offers_or_needs_may_supply_a_field():
    response = canned("It is {state}.")
    topic = observation("an order", tools=[LOOKUP.id])
    tell = policy("tell", canned_responses=[response.id])
    needs = Relation(RelationKind.DEPENDENCY, tell.id, topic.id)
    own = attrs.evolve(tell, tools=(LOOKUP.id,))

    assert found(response, rules=[topic, tell], relations=[needs], tools=[LOOKUP]) == []
    assert found(response, rules=[own], tools=[LOOKUP]) == []


def test_field_that_only_a_tool_of_another_rule_could_supply_is_a_note():
    response, wide = canned("It is {state}."), canned("Now {state}.")
    look = policy("look", tools=[LOOKUP.id])
    tell = policy("tell", canned_responses=[response.id])

    findings = found(response, wide, rules=[look, tell], tools=[LOOKUP])

    assert told(findings) == [
        ("compose.unsupplied_field", response.id, Severity.NOTE),
        ("compose.unsupplied_field", wide.id, Severity.NOTE),
    ]
    assert "no rule that brings it into view offers one" in findings[0].message
    assert "it belongs to no rule" in findings[1].message
