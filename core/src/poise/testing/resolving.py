"""The conformance suite of resolvers: laws over drawn catalogs, relations and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import ClassVar

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.ports.matching import Resolver
from poise.testing.strategies import reordered, resolution_requests
from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject
from poise.values.relationships import DependencyMode, RelationKind, TagEnd

_LAW = settings(
    deadline=None,  # the first example compiles regular expressions and warms caches
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)

_SET_ASIDE_BY_OTHERS = frozenset({Fate.OUTRANKED, Fate.EXCLUDED, Fate.LOWER_PRIORITY})
_NEEDS_A_CAUSE = _SET_ASIDE_BY_OTHERS | {
    Fate.IMPLIED,
    Fate.CONFLICT,
    Fate.UNMET_DEPENDENCY_ALL,
    Fate.UNMET_DEPENDENCY_ANY,
}
_OF_VERDICT = {
    VerdictKind.APPLIES: Fate.MATCHED,
    VerdictKind.PARTLY_APPLIED: Fate.MATCHED,
    VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
    VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
    VerdictKind.AMBIGUOUS: Fate.AMBIGUOUS,
    VerdictKind.UNDECIDED: Fate.UNDECIDED,
}


class ResolverConformance:
    """What every `Resolver` promises, for any catalog, any relations and any verdicts.

    A resolver keeps no state, so one subject serves all examples. A resolver that means something
    else by relations than the default one says so by an attribute of its own with one of the names
    below (or of the suite that inherits from this one), and the laws in question are left out.

    Attributes:
        reinstates: What is itself set aside sets nothing aside, so every one that outranks or
            excludes another is active. False where a rule that lost still beats those below it.
        ranks: Numeric priority competes within a rank. False where it does so elsewhere or not.
        asks: A rule judged ambiguous holds back whatever is in question, while it asks.
    """

    reinstates: ClassVar[bool] = True
    ranks: ClassVar[bool] = True
    asks: ClassVar[bool] = True

    @pytest.fixture
    def subject(self) -> Resolver:
        raise NotImplementedError("fill in the fixture `subject`: return your resolver")

    def _promises(self, law: str, subject: Resolver) -> bool:
        return bool(getattr(self, law) and getattr(subject, law, True))

    @_LAW
    @given(request_=resolution_requests())
    def test_every_candidate_has_exactly_one_outcome(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        outcomes = subject.resolve(request_).outcomes

        missing = _candidates(request_) - outcomes.keys()
        assert not missing, f"total: no outcome for {missing}; check every way out of `resolve`"
        misfiled = [each for each, outcome in outcomes.items() if outcome.subject != each]
        assert not misfiled, f"one outcome per candidate: {misfiled} are filed under others' ids"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_is_no_candidate_has_an_outcome_only_where_something_could_imply_it(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        outcomes = subject.resolve(request_).outcomes

        implied = _implicable(request_.snapshot)
        strangers = outcomes.keys() - _candidates(request_) - implied
        assert not strangers, f"{strangers} are no candidates and nothing could imply them"

    @_LAW
    @given(request_=resolution_requests())
    def test_resolving_twice_gives_the_same(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        first, second = subject.resolve(request_), subject.resolve(request_)

        assert first == second, "pure: the second result differs; check for state kept between"
        assert first.active == second.active, "deterministic: active ones come in another order"

    @_LAW
    @given(request_=resolution_requests(), seed=st.integers(0, 2**16))
    def test_the_order_of_the_input_changes_nothing(
        self, subject: Resolver, request_: ResolutionRequest, seed: int
    ) -> None:
        straight = subject.resolve(request_)
        shuffled = subject.resolve(reordered(request_, Random(seed)))  # noqa: S311  # a test's

        differing = {
            each: (outcome, shuffled.outcomes.get(each))
            for each, outcome in straight.outcomes.items()
            if shuffled.outcomes.get(each) != outcome
        }
        assert straight == shuffled, f"independent of order: these came out apart: {differing}"
        assert straight.active == shuffled.active, "active ones follow the input's order"

    @_LAW
    @given(request_=resolution_requests())
    def test_ids_that_the_catalog_does_not_know_are_ignored(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        extended = _with_strangers(request_)

        outcomes = subject.resolve(extended).outcomes

        assert outcomes == subject.resolve(request_).outcomes, (
            "tolerant: an id that the snapshot does not hold changed the result"
        )

    @_LAW
    @given(request_=resolution_requests())
    def test_a_fate_without_a_cause_is_the_verdicts_own(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for each, outcome in resolution.outcomes.items():
            if not outcome.relation:
                expected = _of_itself(request_, each)
                assert outcome.fate is expected, (
                    f"{outcome} names no edge, and left alone it would be {expected}"
                )

    @_LAW
    @given(request_=resolution_requests())
    def test_only_what_is_active_implies(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for outcome in resolution.outcomes.values():
            if outcome.fate is Fate.IMPLIED:
                assert _is_caused(outcome, resolution.active), f"{outcome}: by no active one"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_is_off_or_denied_by_code_is_never_active(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        active = subject.resolve(request_).active

        for each in active:
            verdict = request_.verdicts.get(RuleId(each))
            assert _is_on(request_.snapshot, each), f"{each} is switched off, yet active"
            denied = (
                verdict is not None and verdict.from_code and verdict.kind is VerdictKind.DOES_NOT
            )
            assert not denied, f"{each} is active, though its code matcher said no"

    @_LAW
    @given(request_=resolution_requests())
    def test_a_node_is_active_only_while_its_journey_is_and_follows_it_otherwise(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for each, journey in request_.snapshot.journey_of.items():
            fate = resolution.fate_of(each)
            if fate is not None and fate.is_active:
                assert journey in resolution.active, f"{each} is active, and {journey} is not"
            outcome = resolution.outcomes.get(each)
            if outcome is not None and outcome.relation == "journey":
                assert outcome.causes == (journey,), f"{outcome} is no node of {outcome.causes}"
                assert fate is resolution.fate_of(journey), f"{outcome}: {journey} fared otherwise"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_is_set_aside_or_implied_names_its_cause(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for outcome in resolution.outcomes.values():
            if outcome.fate not in _NEEDS_A_CAUSE:
                continue
            assert outcome.relation, f"{outcome} does not say through what kind of edge"
            if not _needs_nobody(request_, outcome.subject):
                assert outcome.causes, f"{outcome} names no cause: the nearest edge decides"
            if outcome.fate is Fate.CONFLICT:
                fates = {resolution.fate_of(each) for each in outcome.causes}
                assert fates == {Fate.CONFLICT}, f"{outcome} blames what is no conflict"
            if (
                self._promises("reinstates", subject)
                and outcome.fate in _SET_ASIDE_BY_OTHERS
                and outcome.relation != "journey"
            ):
                assert _is_caused(outcome, resolution.active), (
                    f"{outcome}: only active ones set another aside"
                )

    @_LAW
    @given(request_=resolution_requests())
    def test_of_an_excluding_pair_at_most_one_is_active(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        active = frozenset(subject.resolve(request_).active)

        snapshot = request_.snapshot
        for relation in snapshot.relations:
            if relation.kind is RelationKind.EXCLUSION:
                for target in active.intersection(snapshot.members(relation.target)):
                    carriers = set(snapshot.members(relation.source)) - {target}
                    acting = carriers & active
                    if isinstance(relation.source, TagEnd) and relation.source.every:
                        switched_on = {each for each in carriers if _is_on(snapshot, each)}
                        acting = acting if switched_on <= active else set()
                    assert not acting, f"{acting} exclude {target}, and both are active"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_depends_on_this_turn_is_active_only_beside_an_active_target(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        active = frozenset(subject.resolve(request_).active)

        snapshot = request_.snapshot
        for relation in snapshot.relations:
            if (
                relation.kind is RelationKind.DEPENDENCY
                and relation.mode is DependencyMode.THIS_TURN
            ):
                targets = set(snapshot.members(relation.target))
                for each in active.intersection(snapshot.members(relation.source)):
                    if targets != {each}:
                        assert active & (targets - {each}), (
                            f"{each} is active, and none of {targets} that it needs this turn is"
                        )

    @_LAW
    @given(request_=resolution_requests())
    def test_what_is_active_within_a_rank_has_one_priority(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        if not self._promises("ranks", subject):
            pytest.skip("this resolver knows no ranks")
        active = subject.resolve(request_).active

        found: dict[str, dict[int, Subject]] = {}
        for each in active:
            thing = request_.snapshot.rules.get(RuleId(each)) or request_.snapshot.journeys.get(
                JourneyId(each)
            )
            if thing is not None and thing.rank is not None:
                found.setdefault(thing.rank, {})[thing.priority] = each
        for rank, by_priority in found.items():
            assert len(by_priority) == 1, f"{by_priority} are all active within rank {rank!r}"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_a_rule_asks_about_is_not_active(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        if not self._promises("asks", subject):
            pytest.skip("this resolver holds nothing back for a question")
        resolution = subject.resolve(request_)

        active = set(resolution.active)
        for verdict in request_.verdicts.values():
            outcome = resolution.outcomes.get(verdict.rule)
            if verdict.kind is not VerdictKind.AMBIGUOUS or outcome is None:
                continue
            assert not outcome.fate.is_active, f"{outcome}: it is not known whether it applies"
            if outcome.fate is Fate.AMBIGUOUS and not outcome.causes:
                in_doubt = request_.snapshot.in_doubt(verdict.rule)
                in_question = set(verdict.among).intersection(in_doubt) or (
                    set() if verdict.among else set(in_doubt)
                )
                assert not active & in_question, (
                    f"{verdict.rule} asks which of {in_question} is meant, and some are active"
                )


def _candidates(request: ResolutionRequest) -> frozenset[Subject]:
    snapshot = request.snapshot
    rules = request.shown.union(request.verdicts) & snapshot.rules.keys()
    nodes = request.nodes & snapshot.journey_of.keys()
    journeys = request.journeys & snapshot.journeys.keys()
    return frozenset((*rules, *nodes, *journeys, *(snapshot.journey_of[node] for node in nodes)))


def _implicable(snapshot: CatalogSnapshot) -> frozenset[Subject]:
    """Return all that an entailment or a trigger leads to."""
    entailed = (
        target
        for relation in snapshot.relations
        if relation.kind is RelationKind.ENTAILMENT
        for target in snapshot.members(relation.target)
    )
    started = (each.id for each in snapshot.journeys.values() if each.triggers)
    return frozenset((*entailed, *started))


def _with_strangers(request: ResolutionRequest) -> ResolutionRequest:
    """Return the same request with ids of another catalog in every part of it."""
    stranger, node = RuleId("rule_of_another_catalog"), NodeId("node_of_another_catalog")
    known = {
        rule: attrs.evolve(verdict, among=(*verdict.among, node)) if verdict.among else verdict
        for rule, verdict in request.verdicts.items()
    }
    return attrs.evolve(
        request,
        verdicts={**known, stranger: Verdict(stranger, VerdictKind.APPLIES, "test")},
        shown=request.shown | {RuleId("rule_shown_by_nobody")},
        confirmed=request.confirmed | {stranger},
        applied=request.applied | {stranger},
        journeys=request.journeys | {JourneyId("journey_of_another_catalog")},
        nodes=request.nodes | {node},
    )


def _of_itself(request: ResolutionRequest, subject: Subject) -> Fate | None:
    """Return the fate of a candidate that no relation touches."""
    if subject not in _candidates(request):
        return None
    if not _is_on(request.snapshot, subject):
        return Fate.NOT_APPLICABLE
    if subject not in request.snapshot.rules:
        return Fate.MATCHED
    verdict = request.verdicts.get(RuleId(subject))
    return Fate.IN_CONTEXT if verdict is None else _OF_VERDICT[verdict.kind]


def _is_on(snapshot: CatalogSnapshot, subject: Subject) -> bool:
    rule = snapshot.rules.get(RuleId(subject))
    if rule is not None:
        return rule.enabled
    journey = snapshot.journey_of.get(NodeId(subject), JourneyId(subject))
    return snapshot.journeys[journey].enabled


def _needs_nobody(request: ResolutionRequest, subject: Subject) -> bool:
    """Say whether it depends on a tag that nobody carries, so that nothing is the cause."""
    return any(
        relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY)
        and not request.snapshot.members(relation.target)
        for relation in request.snapshot.outgoing.get(subject, ())
    )


def _is_caused(outcome: Outcome, active: Sequence[Subject]) -> bool:
    return bool(outcome.causes) and set(outcome.causes) <= set(active)
