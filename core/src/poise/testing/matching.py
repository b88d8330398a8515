"""Conformance suites for what judges, resolves and plans: fill in `subject` and inherit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import pytest

from poise.engine.written_verdicts import answer_model
from poise.ports.matching import Matcher, Planner
from poise.testing.models import ScriptedModels
from poise.testing.resolving import ResolverConformance
from poise.testing.turns import AGENT, catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate, Sighting
from poise.turn.context import Plan, TurnContext
from poise.turn.models import Answer, Capability, Form
from poise.turn.queries import Query, QueryKind
from poise.turn.schemas import schema_of
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.agents import Effort
from poise.values.rules import ALWAYS, Weight

__all__ = ["MatcherConformance", "PlannerConformance", "ResolverConformance"]


class MatcherConformance:
    """What every `Matcher` promises. The sample rules are judged by a model, by code, and always.

    A matcher that claims other rules than these replaces the fixture `turn` by one whose
    candidates it claims.
    """

    @pytest.fixture
    def subject(self) -> Matcher:
        raise NotImplementedError("fill in the fixture `subject`: return your matcher")

    @pytest.fixture
    def turn(self) -> TurnContext:
        about = observation("the customer talks about cards", signals=["my card"], tags=["tag_t"])
        rules = (
            about,
            policy(
                "lost card", when="the customer has lost a card", signals=["can't find my card"]
            ),
            policy("steering", then=None, content="Keep sentences short."),
            policy("bare"),
            policy("always", matcher=ALWAYS),
            observation("yes by code", matcher="yes"),
            observation("no by code", matcher="no"),
            observation("failing code", matcher="fails"),
            observation("unbound code", matcher="nowhere"),
        )
        bindings = {"yes": _yes, "no": _no, "fails": _fails}
        turn = turn_of(catalog_of(rules, bindings=bindings), "I can't find my card")
        query = Query(QueryKind.MESSAGE, "I can't find my card", 0)
        sighting = Sighting(about.id, 0.5, 0.9, 0.4, 0.8, query, "my card")
        candidates = tuple(
            Candidate(rule, sighting if rule is about else None, judged=True) for rule in rules
        )
        return attrs.evolve(turn, candidates=candidates)

    @pytest.fixture
    def claimed(self, subject: Matcher, turn: TurnContext) -> Sequence[Candidate]:
        found = [each for each in turn.candidates if subject.claims(each, turn)]
        assert found, "the matcher claims none of the sample rules; replace the fixture `turn`"
        return found

    def test_it_has_a_name(self, subject: Matcher) -> None:
        assert subject.name, "`name` is empty; settings and ledgers name the matcher by it"

    def test_claiming_is_stable(self, subject: Matcher, turn: TurnContext) -> None:
        first = [subject.claims(each, turn) for each in turn.candidates]
        second = [subject.claims(each, turn) for each in turn.candidates]

        assert first == second, "`claims` is pure: it answered differently the second time"

    @pytest.mark.anyio
    async def test_it_asks_about_every_claimed_candidate_or_judges_every_one(
        self, subject: Matcher, claimed: Sequence[Candidate], turn: TurnContext
    ) -> None:
        said = await subject.inquire(claimed, turn)

        if isinstance(said, Inquiry):
            asked = [question.id for question in said.questions]
            owners = {question.partition("/")[0] for question in asked}
            assert asked, "an inquiry asks something; return the verdicts where nothing is to ask"
            assert len(set(asked)) == len(asked), "each question has an id of its own"
            assert owners <= {each.rule.id for each in claimed}, (
                "a question's id is its candidate's, or begins with it and a slash"
            )
            assert owners <= set(asked), "the first question about a candidate has its id"
            form = Form("asked", said.section, said.schema)
            schema_of(answer_model((form,), explain=turn.plan.explain))  # raises what is wrong
            assert all(question.text.strip() for question in said.questions), "an empty question"
            assert said.section.strip(), "an inquiry says in `section` what is to be done"
        else:
            _assert_one_verdict_each(said, claimed)

    @pytest.mark.anyio
    async def test_equal_turns_are_asked_about_in_equal_words(
        self, subject: Matcher, claimed: Sequence[Candidate], turn: TurnContext
    ) -> None:
        first, second = await subject.inquire(claimed, turn), await subject.inquire(claimed, turn)

        assert first == second, "the same state gives the same inquiry, or the same verdicts"

    @pytest.mark.anyio
    async def test_what_nobody_answered_is_undecided_and_never_a_no(
        self, subject: Matcher, claimed: Sequence[Candidate], turn: TurnContext
    ) -> None:
        if isinstance(await subject.inquire(claimed, turn), Inquiry):
            verdicts = subject.conclude(claimed, Answers({}), turn)

            _assert_one_verdict_each(verdicts, claimed)
            decided = [each for each in verdicts if each.kind is not VerdictKind.UNDECIDED]
            assert not decided, f"no answer is no verdict, and these were decided: {decided}"

    @pytest.mark.anyio
    async def test_it_concludes_once_for_each_candidate_whatever_the_answers(
        self, subject: Matcher, claimed: Sequence[Candidate], turn: TurnContext
    ) -> None:
        if isinstance(await subject.inquire(claimed, turn), Inquiry):
            said = (True, False, None)
            ids = [*(each.rule.id for each in claimed[1:]), "rule_unheard_of"]
            answers = {
                rule: Answer(rule, said[place % 3], 0.5, "scripted:model")
                for place, rule in enumerate(ids)
            }

            verdicts = subject.conclude(claimed, Answers(answers), turn)

            _assert_one_verdict_each(verdicts, claimed)
            assert all(each.judged_by for each in verdicts), "a verdict says who judged"


def _assert_one_verdict_each(verdicts: Sequence[Verdict], claimed: Sequence[Candidate]) -> None:
    given_for = sorted(verdict.rule for verdict in verdicts)
    wanted = sorted(each.rule.id for each in claimed)
    assert given_for == wanted, f"exactly one verdict per candidate: {given_for} for {wanted}"


async def _yes(turn: TurnContext) -> bool:
    return True


async def _no(turn: TurnContext) -> bool:
    return False


async def _fails(turn: TurnContext) -> bool:
    raise RuntimeError("the author's own mistake")


_EVERY_TURN = [(effort, has_model) for effort in Effort for has_model in (False, True)]


class PlannerConformance:
    """What every `Planner` promises, at every effort, with a decision model and without."""

    @pytest.fixture
    def subject(self) -> Planner:
        raise NotImplementedError("fill in the fixture `subject`: return your planner")

    @pytest.mark.anyio
    @pytest.mark.parametrize(("effort", "has_model"), _EVERY_TURN)
    async def test_the_plan_is_for_the_turns_effort_and_leaves_room_to_work(
        self, subject: Planner, effort: Effort, has_model: bool
    ) -> None:
        plan = await subject.plan(_turn_at(effort, has_model))

        assert plan.effort is effort, f"planned for {plan.effort}; the turn's effort is {effort}"
        assert plan.max_iterations >= 1, "a turn prepares at least once"
        assert plan.admit_limit >= 0, "`admit_limit` is a count"

    @pytest.mark.anyio
    @pytest.mark.parametrize("has_model", [False, True])
    async def test_more_effort_never_judges_fewer(self, subject: Planner, has_model: bool) -> None:
        plans = [await subject.plan(_turn_at(effort, has_model)) for effort in Effort]

        for lower, higher in pairwise(plans):
            assert lower.judged <= higher.judged, (
                f"{higher.effort.name} judges fewer weights than {lower.effort.name}: a lift "
                f"would take back what was due"
            )

    @pytest.mark.anyio
    @pytest.mark.parametrize("effort", Effort)
    async def test_a_decision_model_never_makes_it_judge_fewer(
        self, subject: Planner, effort: Effort
    ) -> None:
        without = await subject.plan(_turn_at(effort, has_model=False))
        with_one = await subject.plan(_turn_at(effort, has_model=True))

        assert without.judged <= with_one.judged, "a decision model is cheap: judge as many or more"

    @pytest.mark.anyio
    @pytest.mark.parametrize("effort", Effort)
    async def test_heavier_rules_are_judged_before_lighter_ones(
        self, subject: Planner, effort: Effort
    ) -> None:
        judged = (await subject.plan(_turn_at(effort, has_model=True))).judged

        lightest = min(judged, default=Weight.HIGH)
        expected = {weight for weight in Weight if weight >= lightest}
        assert not judged or judged == expected, f"{judged} leaves out a heavier weight"

    @pytest.mark.anyio
    async def test_equal_turns_get_equal_plans(self, subject: Planner) -> None:
        turn = _turn_at(Effort.MEDIUM, has_model=True)

        first: Plan = await subject.plan(turn)

        assert first == await subject.plan(turn), "planning twice gave two plans"


def _turn_at(effort: Effort, has_model: bool) -> TurnContext:
    served = frozenset(Capability) if has_model else frozenset({Capability.EMBED})
    snapshot = catalog_of(agent=attrs.evolve(AGENT, effort=effort))
    return turn_of(snapshot, "hello", models=ScriptedModels(served=served), effort=effort)
