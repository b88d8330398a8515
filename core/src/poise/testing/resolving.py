"""The conformance suite of resolvers: laws over drawn catalogs, relations and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.ports.matching import Resolver
from poise.testing.strategies import reordered, resolution_requests
from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId
from poise.values.relationships import DependencyMode, RelationKind, TagEnd

_LAW = settings(
    deadline=None,  # the first example compiles regular expressions and warms caches
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)

_SET_ASIDE_BY_RULES = frozenset({Fate.OUTRANKED, Fate.EXCLUDED, Fate.LOWER_PRIORITY})
_NEEDS_A_CAUSE = _SET_ASIDE_BY_RULES | {
    Fate.IMPLIED,
    Fate.CONFLICT,
    Fate.UNMET_DEPENDENCY_ALL,
    Fate.UNMET_DEPENDENCY_ANY,
}
_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})


class ResolverConformance:
    """What every `Resolver` promises, for any catalog, any relations and any verdicts.

    A resolver keeps no state, so one subject serves all examples.
    """

    @pytest.fixture
    def subject(self) -> Resolver:
        raise NotImplementedError("fill in the fixture `subject`: return your resolver")

    @_LAW
    @given(request_=resolution_requests())
    def test_every_candidate_has_exactly_one_outcome(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        outcomes = subject.resolve(request_).outcomes

        missing = _candidates(request_) - outcomes.keys()
        assert not missing, f"total: no outcome for {missing}; check every way out of `resolve`"
        misfiled = [rule for rule, outcome in outcomes.items() if outcome.subject != rule]
        assert not misfiled, f"one outcome per candidate: {misfiled} are filed under others' ids"

    @_LAW
    @given(request_=resolution_requests())
    def test_a_rule_that_is_no_candidate_has_an_outcome_only_through_an_entailment(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        outcomes = subject.resolve(request_).outcomes

        implied = _targets(request_.snapshot, RelationKind.ENTAILMENT)
        strangers = outcomes.keys() - _candidates(request_) - implied
        assert not strangers, f"{strangers} are no candidates and nothing could imply them"

    @_LAW
    @given(request_=resolution_requests())
    def test_resolving_twice_gives_the_same(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        first, second = subject.resolve(request_), subject.resolve(request_)

        assert first == second, "pure: the second result differs; check for state kept between"
        assert first.active == second.active, "deterministic: active rules come in another order"

    @_LAW
    @given(request_=resolution_requests(), seed=st.integers(0, 2**16))
    def test_the_order_of_the_input_changes_nothing(
        self, subject: Resolver, request_: ResolutionRequest, seed: int
    ) -> None:
        straight = subject.resolve(request_)
        shuffled = subject.resolve(reordered(request_, Random(seed)))  # noqa: S311  # a test's

        differing = {
            rule: (outcome, shuffled.outcomes.get(rule))
            for rule, outcome in straight.outcomes.items()
            if shuffled.outcomes.get(rule) != outcome
        }
        assert straight == shuffled, f"independent of order: these came out apart: {differing}"
        assert straight.active == shuffled.active, "active rules follow the input's order"

    @_LAW
    @given(request_=resolution_requests())
    def test_ids_that_the_catalog_does_not_know_are_ignored(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        stranger = RuleId("rule_of_another_catalog")
        verdict = Verdict(stranger, VerdictKind.APPLIES, "test")
        extended = attrs.evolve(
            request_,
            verdicts={**request_.verdicts, stranger: verdict},
            shown=request_.shown | {RuleId("rule_shown_by_nobody")},
            confirmed=request_.confirmed | {stranger},
            applied=request_.applied | {stranger},
        )

        outcomes = subject.resolve(extended).outcomes

        assert outcomes == subject.resolve(request_).outcomes, (
            "tolerant: an id that the snapshot does not hold changed the result"
        )

    @_LAW
    @given(request_=resolution_requests())
    def test_only_what_applies_is_matched_and_only_an_active_rule_implies(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for rule, outcome in resolution.outcomes.items():
            if outcome.fate is Fate.MATCHED:
                verdict = request_.verdicts.get(rule)
                assert verdict is not None, f"{rule} is matched, though nobody judged it"
                assert verdict.kind in _APPLYING, f"{rule} is matched, though {verdict.kind}"
            if outcome.fate is Fate.IMPLIED:
                assert _active(outcome, resolution.active), f"{outcome} is implied by no active one"

    @_LAW
    @given(request_=resolution_requests())
    def test_what_is_off_or_denied_by_code_is_never_active(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        active = subject.resolve(request_).active

        for rule in active:
            verdict = request_.verdicts.get(rule)
            assert request_.snapshot.rules[rule].enabled, f"{rule} is switched off, yet active"
            denied = (
                verdict is not None and verdict.from_code and verdict.kind is VerdictKind.DOES_NOT
            )
            assert not denied, f"{rule} is active, though its code matcher said no"

    @_LAW
    @given(request_=resolution_requests())
    def test_set_aside_and_implied_rules_name_their_cause(
        self, subject: Resolver, request_: ResolutionRequest
    ) -> None:
        resolution = subject.resolve(request_)

        for outcome in resolution.outcomes.values():
            if outcome.fate in _NEEDS_A_CAUSE and not _needs_nobody(request_, outcome.subject):
                assert outcome.causes, f"{outcome} names no cause: the nearest edge decides"
            if outcome.fate in _NEEDS_A_CAUSE:
                assert outcome.relation, f"{outcome} does not say through what kind of edge"
            if outcome.fate in _SET_ASIDE_BY_RULES:
                assert _active(outcome, resolution.active), (
                    f"{outcome}: only active rules set another aside"
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
                        switched_on = {each for each in carriers if snapshot.rules[each].enabled}
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
                for rule in active.intersection(snapshot.members(relation.source)):
                    if targets != {rule}:
                        assert active & (targets - {rule}), (
                            f"{rule} is active, and none of {targets} that it needs this turn is"
                        )


def _candidates(request: ResolutionRequest) -> frozenset[RuleId]:
    return request.shown.union(request.verdicts) & request.snapshot.rules.keys()


def _targets(snapshot: CatalogSnapshot, kind: RelationKind) -> frozenset[RuleId]:
    return frozenset(
        target
        for relation in snapshot.relations
        if relation.kind is kind
        for target in snapshot.members(relation.target)
    )


def _needs_nobody(request: ResolutionRequest, rule: RuleId) -> bool:
    """Say whether `rule` depends on a tag that nobody carries, so that no rule is the cause."""
    return any(
        relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY)
        and not request.snapshot.members(relation.target)
        for relation in request.snapshot.outgoing.get(rule, ())
    )


def _active(outcome: Outcome, active: Sequence[RuleId]) -> bool:
    return bool(outcome.causes) and set(outcome.causes) <= set(active)
