"""What core finds doubtful about a catalog, and how the checks of plugins are made beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.app.checks import BYPASS_LIMIT, CHECKS, findings_of
from poise.app.lint_report import Line, Report, name_of, short_place
from poise.app.linting import Checks
from poise.app.plugins import PluginManager
from poise.app.standing import never_met
from poise.hooks.findings import Examination, Finding, Severity
from poise.testing import strategies
from poise.testing.composition import canned
from poise.testing.models import ScriptedModels
from poise.testing.scripted_discovery import ScriptedDiscoverer
from poise.testing.tools import tool_named
from poise.testing.turns import AGENT, catalog_of, journey, node, observation, policy
from poise.values.agents import CompositionMode
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import GroupId, VariableId
from poise.values.relationships import Relation, RelationKind, all_of, any_of
from poise.values.rules import ALWAYS, Rule, WayIn, Weight
from poise.values.variables import Variable

NEEDS = RelationKind.DEPENDENCY
EITHER = RelationKind.DEPENDENCY_ANY


def found(rules: Sequence[Rule] = (), relations: Sequence[Relation] = (), **more: object) -> list:
    catalog = catalog_of(rules, relations, **more)
    findings = findings_of(catalog, frozenset(CompositionMode))
    assert all(each.check in CHECKS for each in findings)
    return [(each.check, each.subject) for each in findings]


# -- the agent --


def test_many_rules_that_cost_every_turn_are_a_finding_and_some_are_not() -> None:
    rules = [policy(f"rule {at}", always_judged=True) for at in range(BYPASS_LIMIT + 1)]

    assert found(rules) == [("catalog.bypass", AGENT.id)]
    assert found(rules[:-1]) == []


def test_mode_that_no_composer_words_is_a_finding() -> None:
    agent = attrs.evolve(AGENT, composition_mode=CompositionMode.FLUID)

    findings = findings_of(catalog_of(agent=agent), {CompositionMode.CANNED_STRICT})

    assert [each.check for each in findings] == ["catalog.composition"]
    assert findings_of(catalog_of(agent=agent), {CompositionMode.FLUID}) == ()


# -- rules that say the same --


def test_policies_of_one_condition_and_two_actions_overlap() -> None:
    first = policy("a", when="The customer asks for a refund.", then="pay")
    second = policy("b", when="the customer  asks for a refund", then="refuse")
    third = policy("c", when="the customer asks for a voucher", then="refuse")

    assert found([first, second, third]) == [("rules.overlap", second.id)]


def test_rules_that_say_the_same_are_duplicates() -> None:
    first, second = (policy(each, when="it rains", then="Stay!") for each in "ab")
    seen, again = (observation(each, when="it snows") for each in "cd")

    assert found([first, second, seen, again]) == [
        ("rules.duplicate", second.id),
        ("rules.duplicate", again.id),
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_policy_with_the_condition_of_an_observation_should_depend_on_it(turned: bool) -> None:
    seen, acts = observation("seen", when="it rains"), policy("acts", when="it rains")
    rules = [acts, seen] if turned else [seen, acts]

    assert found(rules) == [("rules.duplicate", acts.id)]
    assert found(rules, [Relation(NEEDS, acts.id, seen.id)]) == []


@pytest.mark.parametrize("kind", [NEEDS, RelationKind.PRIORITY, RelationKind.EXCLUSION])
def test_any_relation_tells_two_rules_apart(kind: RelationKind) -> None:
    first, second = policy("a", when="it rains"), policy("b", when="it rains", tags=["tag_b"])

    assert found([first, second], [Relation(kind, first.id, second.id)]) == []
    assert found([first, second], [Relation(kind, second.id, first.id)]) == []
    assert found([first, second], [Relation(kind, first.id, any_of("tag_b"))]) == []


def test_ranks_and_groups_and_code_tell_rules_apart() -> None:
    def pair(one: dict[str, object], two: dict[str, object]) -> list[Rule]:
        return [policy("a", when="it rains", **one), policy("b", when="it rains", **two)]

    gold, tin = frozenset({GroupId("gold")}), frozenset({GroupId("tin")})

    assert found(pair({"rank": "r", "priority": 1}, {"rank": "r"})) == []
    assert found(pair({"groups": gold}, {"groups": tin})) == []
    assert found(pair({"matcher": "code"}, {})) == []
    assert found(pair({"enabled": False}, {})) == []
    assert [check for check, _ in found(pair({"rank": "r"}, {"rank": "r"}))] == ["rules.overlap"]
    assert [check for check, _ in found(pair({"groups": gold}, {}))] == ["rules.overlap"]


# -- what was said in vain --


def test_signals_of_a_rule_that_code_or_nothing_judges_are_read_by_nobody() -> None:
    always = policy("always", matcher=ALWAYS, signals=["hello"])
    code = policy("code", matcher="code", anti_signals=["hello"])
    fine = policy("fine", signals=["hello"])

    assert found([always, code, fine]) == [
        ("rules.unread_signals", always.id),
        ("rules.unread_signals", code.id),
    ]


def test_low_weight_of_a_rule_that_is_always_judged_is_noted() -> None:
    both = policy("both", weight=Weight.LOW, always_judged=True)

    assert found([both]) == [("rules.unread_weight", both.id)]
    assert found([policy("a", weight=Weight.LOW), policy("b", always_judged=True)]) == []


# -- what can't come into force --


def test_rule_that_needs_one_that_is_off_never_comes_into_force_nor_what_needs_it() -> None:
    off, near, far = policy("off", enabled=False), policy("near"), policy("far")
    relations = [Relation(NEEDS, far.id, near.id), Relation(NEEDS, near.id, off.id)]

    assert found([far, near, off], relations) == [
        ("rules.never_met", far.id),
        ("rules.never_met", near.id),
    ]
    assert found([far, near, attrs.evolve(off, enabled=True)], relations) == []


def test_one_of_several_is_enough_until_all_are_off() -> None:
    off, also = policy("off", enabled=False), policy("also", enabled=False)
    on, rule = policy("on"), policy("rule")
    relations = [Relation(EITHER, rule.id, each.id, group="g") for each in (off, also, on)]

    assert found([off, also, on, rule], relations) == []
    assert found([off, also, on, rule], relations[:2]) == [("rules.never_met", rule.id)]


def test_tags_count_those_that_carry_them_and_are_on() -> None:
    off = policy("off", enabled=False, tags=["tag_x"])
    on, rule = policy("on", tags=["tag_x"]), policy("rule")
    every, some = (Relation(NEEDS, rule.id, end) for end in (all_of("tag_x"), any_of("tag_x")))

    assert found([off, on, rule], [every]) == found([off, on, rule], [some]) == []
    assert found([off, rule], [every]) == [("rules.never_met", rule.id)]
    assert found([off, rule], [some]) == [("rules.never_met", rule.id)]
    assert found([rule], [some]) == [("rules.never_met", rule.id)]
    alone = attrs.evolve(rule, tags=frozenset(["tag_x"]))
    assert found([alone], [some]) == []


def test_journey_that_is_off_holds_for_nobody() -> None:
    rule, step = policy("rule"), node("step")
    trip = journey("trip", nodes=[step])
    off = attrs.evolve(trip, enabled=False)
    for end in (trip.id, step.id):
        needs = Relation(NEEDS, rule.id, end)

        assert found([rule], [needs], journeys=[trip]) == []
        assert found([rule], [needs], journeys=[off]) == [("rules.never_met", rule.id)]


@given(strategies.catalogs(), st.randoms(use_true_random=False))
def test_any_catalog_is_checked_and_its_order_decides_nothing(
    catalog: CatalogSnapshot, random: object
) -> None:
    findings = findings_of(catalog, frozenset(CompositionMode))
    shuffled = list(catalog.rules.values())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = catalog_of(
        shuffled, catalog.relations, journeys=catalog.journeys.values(), agent=catalog.agent
    )

    assert never_met(again).keys() == never_met(catalog).keys()
    for each in findings:
        assert each.check in CHECKS
        assert each.subject in catalog.rules or each.subject == catalog.agent.id
        assert name_of(each.subject, catalog) != each.subject


# -- tools --


def test_tool_that_no_rule_that_is_on_offers_is_never_called() -> None:
    tools = [tool_named(name) for name in ("idle", "off", "used", "fetched")]
    idle, off, used, fetched = tools
    rules = [policy("a", tools=[used.id]), policy("b", tools=[off.id], enabled=False)]
    variable = Variable(VariableId("variable_1"), AGENT.id, "balance", tool=fetched.id)

    assert found(rules, tools=tools, variables=[variable]) == [
        ("tools.unreached", idle.id),
        ("tools.unreached", off.id),
    ]


def test_guard_of_tools_that_nobody_offers_is_idle() -> None:
    idle, used = tool_named("idle"), tool_named("used")
    rules = [
        policy("offers", tools=[used.id]),
        policy("guards", guards=[used.id, idle.id], way_in=WayIn.TOOL),
        policy("waits", guards=[idle.id], way_in=WayIn.TOOL),
    ]

    assert found(rules, tools=[used, idle]) == [
        ("tools.unreached", idle.id),
        ("tools.idle_guard", rules[2].id),
    ]


# -- the checks of plugins --


class Doubter:
    """A plugin with a check of each kind."""

    def __init__(self, answer: object = ()) -> None:
        self.answer = answer

    @poise.hookimpl
    def poise_lint(self, catalog: CatalogSnapshot) -> Sequence[Finding]:
        return [Finding("doubter.quick", rule, "why?") for rule in catalog.rules]

    @poise.hookimpl
    async def poise_examine(self, examination: Examination) -> Sequence[Finding]:
        rows = await examination.models.embed(["hello"])
        hits = await examination.discoverer.score(["hello"], examination.catalog)
        about = f"{rows.shape[0]} {len(hits[0])}"
        return [Finding("doubter.deep", examination.catalog.agent.id, about)]


class Failing:
    @poise.hookimpl
    def poise_lint(self, catalog: CatalogSnapshot) -> Sequence[Finding]:
        raise RuntimeError("no luck")

    @poise.hookimpl
    async def poise_examine(self) -> Sequence[Finding]:
        return ["not a finding"]  # type: ignore[list-item]


def checks_of(*plugins: object) -> Checks:
    return Checks(PluginManager(plugins, installed=()).implementations, CompositionMode)


@pytest.mark.anyio
async def test_plugins_add_checks_of_both_kinds() -> None:
    rule = policy("greet", signals=["hello"])
    catalog, checks = catalog_of([rule]), checks_of(Doubter())

    quick = checks.quick(catalog)
    thorough = await checks.thorough(Examination(catalog, ScriptedDiscoverer(), ScriptedModels()))

    assert [(each.checker, each.finding.check) for each in quick.found] == [
        ("Doubter", "doubter.quick")
    ]
    assert [each.finding.message for each in thorough.found] == ["1 1"]
    assert quick.failures == thorough.failures == ()


@pytest.mark.anyio
async def test_check_that_fails_is_kept_and_the_others_are_made() -> None:
    catalog, checks = catalog_of([policy("greet")]), checks_of(Failing(), Doubter())

    quick = checks.quick(catalog)
    thorough = await checks.thorough(Examination(catalog, ScriptedDiscoverer(), ScriptedModels()))

    assert [each.finding.check for each in quick.found] == ["doubter.quick"]
    assert [each.finding.check for each in thorough.found] == ["doubter.deep"]
    failed = [each.as_found(catalog) for each in (*quick.failures, *thorough.failures)]
    assert [each.checker for each in failed] == ["Failing", "Failing"]
    assert all(each.finding.severity is Severity.ERROR for each in failed)
    assert all(each.finding.check == "lint.failed" for each in failed)
    assert "poise_lint raised RuntimeError: no luck" in failed[0].finding.message
    assert "'not a finding', which is no Finding" in failed[1].finding.message


# -- the report --


def line(check: str, severity: Severity) -> Line:
    return Line("Anna", "x", "", Finding(check, "x", "why?", severity), "poise")


def test_report_is_narrowed_by_checks_and_by_families() -> None:
    lines = tuple(line(each, Severity.NOTE) for each in ("rules.a", "rules.b", "tools.a"))
    report = Report(("Anna",), lines)

    def kept(only: Sequence[str], ignored: Sequence[str] = ()) -> list[str]:
        return [each.finding.check for each in report.narrowed(only, ignored).lines]

    assert kept([]) == ["rules.a", "rules.b", "tools.a"]
    assert kept(["rules"]) == ["rules.a", "rules.b"]
    assert kept(["rules"], ["rules.a"]) == ["rules.b"]
    assert kept(["tools.a", "rules.b"]) == ["rules.b", "tools.a"]
    assert kept([], ["rules", "tools"]) == []


def test_report_counts_and_reaches_what_is_as_grave() -> None:
    report = Report(("Anna",), (line("a.b", Severity.NOTE), line("a.c", Severity.WARNING)))

    assert list(report.counts.items()) == [
        (Severity.ERROR, 0),
        (Severity.WARNING, 1),
        (Severity.NOTE, 1),
    ]
    assert report.reaches(Severity.WARNING)
    assert not report.reaches(Severity.ERROR)


def test_subjects_are_called_by_their_names() -> None:
    response = canned("word " * 40)
    tool = tool_named("pay")
    catalog = catalog_of([policy("greet")], tools=[tool], canned_responses=[response])

    assert name_of(policy("greet").id, catalog) == "greet"
    assert name_of(tool.id, catalog) == "pay"
    assert name_of(AGENT.id, catalog) == AGENT.name
    assert name_of("somebody else", catalog) == "somebody else"
    assert name_of(response.id, catalog).endswith("…")
    assert len(name_of(response.id, catalog)) == 60


def test_places_are_relative_to_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert short_place(f"{tmp_path / 'sub' / 'bank.py'}:12") == "sub/bank.py:12"
    assert short_place(f"{tmp_path.parent / 'bank.py'}:12") == f"{tmp_path.parent / 'bank.py'}:12"
    assert short_place("bank.py:3") == "bank.py:3"
    assert short_place("") == ""
