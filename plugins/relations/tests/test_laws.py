"""Laws of the default resolver, over drawn catalogs, relations and verdicts."""

import attrs
from hypothesis import given, settings

from poise.testing.scripted_matching import NaiveResolver
from poise.testing.strategies import resolution_requests
from poise.turn.fates import Fate, ResolutionRequest
from poise_relations import WellFoundedResolver
from poise_relations.outcomes import CAUSES_NAMED

UNMET = (Fate.UNMET_DEPENDENCY_ALL, Fate.UNMET_DEPENDENCY_ANY)
LAW = settings(deadline=None)


@LAW
@given(request=resolution_requests())
def test_fates_and_causes_agree_with_the_naive_reference(request: ResolutionRequest):
    found = WellFoundedResolver().resolve(request).outcomes

    expected = NaiveResolver().resolve(request).outcomes
    assert {rule: each.fate for rule, each in found.items()} == {
        rule: each.fate for rule, each in expected.items()
    }
    settled = {rule: each for rule, each in found.items() if each.fate is not Fate.CONFLICT}
    assert settled == {
        rule: attrs.evolve(each, causes=each.causes[:CAUSES_NAMED]) if each.fate in UNMET else each
        for rule, each in expected.items()
        if each.fate is not Fate.CONFLICT
    }


@LAW
@given(request=resolution_requests())
def test_a_conflict_names_a_cycle_of_conflicts(request: ResolutionRequest):
    outcomes = WellFoundedResolver().resolve(request).outcomes

    for outcome in outcomes.values():
        if outcome.fate is Fate.CONFLICT:
            assert len(outcome.causes) >= 1
            assert len(set(outcome.causes)) == len(outcome.causes)
            assert {outcomes[rule].fate for rule in outcome.causes} == {Fate.CONFLICT}
            assert outcome.causes[0] == min(outcome.causes)


@LAW
@given(request=resolution_requests())
def test_an_unmet_dependency_names_nothing_that_is_active(request: ResolutionRequest):
    resolution = WellFoundedResolver().resolve(request)

    for outcome in resolution.outcomes.values():
        if outcome.fate in UNMET and outcome.relation != "journey":
            assert not set(outcome.causes) & set(resolution.active)


@LAW
@given(request=resolution_requests())
def test_a_journey_or_node_is_active_only_where_something_active_or_the_session_has_it_so(
    request: ResolutionRequest,
):
    resolution = WellFoundedResolver().resolve(request)

    snapshot = request.snapshot
    in_play = request.journeys.union(snapshot.journey_of[node] for node in request.nodes)
    for each in resolution.active:
        if each in snapshot.journeys and each not in in_play:
            assert resolution.outcomes[each].causes
            assert set(resolution.outcomes[each].causes) <= set(resolution.active)
        if each in snapshot.journey_of:
            assert each in request.nodes


@LAW
@given(request=resolution_requests())
def test_fates_come_in_the_order_of_ids(request: ResolutionRequest):
    outcomes = WellFoundedResolver().resolve(request).outcomes

    assert list(outcomes) == sorted(outcomes)
