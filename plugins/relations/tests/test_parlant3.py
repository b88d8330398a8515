"""The former generation's resolver: the laws of the port, and its own."""

import attrs
import pytest
from hypothesis import given, settings

from poise import Resolver
from poise.testing.relating import (
    excludes,
    ids,
    implies,
    needs,
    outranks,
    request_of,
    tells_apart,
    verdict,
)
from poise.testing.resolving import ResolverConformance
from poise.testing.strategies import resolution_requests
from poise.testing.turns import journey, node, observation, policy
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.compilation import adjacency, compile_catalog
from poise.values.ids import TagId
from poise.values.relationships import RelationKind, all_of, any_of
from poise_relations.parlant3 import Parlant3Resolver

A, B, C = policy("A"), policy("B"), policy("C")


def resolve(relations=(), applying=(), *, rules=(A, B, C), **fields) -> Resolution:
    return Parlant3Resolver().resolve(request_of(rules, relations, applying, **fields))


class TestParlant3(ResolverConformance):
    @pytest.fixture
    def subject(self) -> Resolver:
        return Parlant3Resolver()


@settings(deadline=None)
@given(resolution_requests())
def test_of_what_is_active_and_not_implied_all_have_one_number(request: ResolutionRequest) -> None:
    resolution = Parlant3Resolver().resolve(request)

    numbers = {
        request.snapshot.rules[each].priority
        for each, outcome in resolution.outcomes.items()
        if outcome.fate is Fate.MATCHED and each in request.snapshot.rules
        and not any(end in request.snapshot.journeys for end in _needed(request, each))
    }  # fmt: skip
    assert len(numbers) <= 1


def _needed(request: ResolutionRequest, rule: str) -> list[str]:
    return [str(each.target) for each in request.snapshot.outgoing.get(rule, ())]


@settings(deadline=None)
@given(resolution_requests())
def test_without_implications_what_survives_was_given_and_survives_again(
    request: ResolutionRequest,
) -> None:
    request = attrs.evolve(request, snapshot=_without_implications(request))
    active = Parlant3Resolver().resolve(request).active

    again = attrs.evolve(
        request,
        verdicts={
            rule: Verdict(rule, VerdictKind.APPLIES, "again")
            for rule in request.snapshot.rules
            if rule in active
        },
        shown=frozenset(),
        journeys=frozenset(each for each in request.snapshot.journeys if each in active),
        nodes=frozenset(each for each in request.nodes if each in active),
    )
    assert {*again.verdicts} <= {*request.verdicts}
    assert Parlant3Resolver().resolve(again).active == active


def _without_implications(request: ResolutionRequest):
    snapshot = request.snapshot
    return compile_catalog(
        snapshot.agent,
        rules=snapshot.rules.values(),
        journeys=[attrs.evolve(each, triggers=()) for each in snapshot.journeys.values()],
        relations=[each for each in snapshot.relations if each.kind is not RelationKind.ENTAILMENT],
    )


def test_implying_ones_own_tag_comes_to_an_end() -> None:
    """The former engine ran for ever."""
    a, b = policy("a", tags=[TagId("tag_t")]), policy("b", tags=[TagId("tag_t")])

    resolution = Parlant3Resolver().resolve(request_of([a, b], [implies(a, all_of("tag_t"))], [a]))

    assert set(resolution.active) == {a.id, b.id}


def test_a_ladder_of_any_height_is_climbed() -> None:
    """The former engine stopped after three rounds."""
    rules = [policy(f"rule {number:02}") for number in range(24)]
    relations = []
    for place in range(0, 22, 2):
        relations += [
            implies(rules[place], rules[place + 1]),
            needs(rules[place + 2], rules[place + 1]),
        ]

    applying = rules[::2]
    resolution = Parlant3Resolver().resolve(request_of(rules, relations, applying))

    assert set(resolution.active) == {rule.id for rule in rules[:-1]}


def test_a_switched_off_rule_is_implied_by_nobody() -> None:
    """The former engine raised."""
    a, off = policy("a"), policy("off", enabled=False)

    resolution = Parlant3Resolver().resolve(request_of([a, off], [implies(a, off)], [a]))

    assert resolution.active == (a.id,)


def test_what_lost_still_beats_those_below_it() -> None:
    a, b, c = policy("a"), policy("b"), policy("c")

    resolution = Parlant3Resolver().resolve(
        request_of([a, b, c], [outranks(a, b), outranks(b, c)], [a, b, c])
    )

    assert resolution.active == (a.id,)
    assert resolution.outcomes[c.id].causes == (b.id,)


def test_what_an_implied_rule_removed_stays_out_and_what_a_removed_one_implied_does_not_stay() -> (
    None
):
    resolution = resolve([implies(A, B), outranks(B, A)], [A])

    assert resolution.outcomes == {A.id: Outcome(A.id, Fate.OUTRANKED, (B.id,), "priority")}


def test_a_journey_that_wins_stays_and_so_does_what_depends_on_it() -> None:
    """The former engine lost it where none of its nodes was matched."""
    won = journey("won")

    resolution = resolve([outranks(won, A), needs(B, won)], [A, B], journeys=[won], under_way=[won])

    assert set(resolution.active) == {won.id, B.id}


def test_a_circle_of_dependencies_stands_only_while_nothing_in_it_lacks_anything_else() -> None:
    """The former engine let it live on; a circle does not compile, so it is put together here."""
    one, other = policy("one", tags=[TagId("tag_1")]), policy("other", tags=[TagId("tag_2")])
    circle = (needs(one, any_of("tag_2")), needs(other, any_of("tag_1")))
    request = request_of([one, other, C], [], [one, other])

    def with_relations(*relations) -> Resolution:
        outgoing, incoming = adjacency(relations, request.snapshot.carriers)
        snapshot = attrs.evolve(
            request.snapshot, relations=relations, outgoing=outgoing, incoming=incoming
        )
        return Parlant3Resolver().resolve(attrs.evolve(request, snapshot=snapshot))

    assert set(with_relations(*circle).active) == {one.id, other.id}
    assert with_relations(*circle, needs(one, C)).active == ()


def test_the_number_of_a_rule_in_two_journeys_is_the_higher_one_in_any_order() -> None:
    low, high = journey("low", priority=0), journey("high", priority=5)
    relations = [needs(A, low), needs(A, high)]
    fields = {"journeys": [low, high], "under_way": [low, high]}

    straight = resolve(relations, [A], **fields)

    assert straight == resolve(relations[::-1], [A], **fields)
    assert straight.outcomes[low.id].causes == tuple(sorted([A.id, high.id]))


def test_a_journey_that_its_trigger_starts_competes_with_its_number() -> None:
    start = observation("start")
    begun = journey("begun", triggers=[start.id], priority=5)
    relations = [needs(A, begun)]

    resolution = resolve(relations, [A, B, start], rules=[A, B, start], journeys=[begun])

    assert resolution.outcomes[B.id].fate is Fate.LOWER_PRIORITY
    assert resolution.outcomes[B.id].causes == tuple(sorted([A.id, begun.id]))


def test_a_rule_that_asks_holds_back_what_is_in_question_while_nothing_sets_it_aside() -> None:
    asks = observation("which one?")
    relations = [*tells_apart(asks, A, B)]
    fields = {
        "rules": [A, B, C, asks],
        "verdicts": [verdict(asks, VerdictKind.AMBIGUOUS, among=(A.id, B.id))],
    }

    asked = resolve(relations, [A, C], **fields)
    outranked = resolve([*relations, outranks(C, asks)], [A, C], **fields)
    lacking = resolve([*relations, needs(asks, C)], [A], **fields)

    assert asked.outcomes[asks.id] == Outcome(asks.id, Fate.AMBIGUOUS)
    assert asked.outcomes[A.id] == Outcome(A.id, Fate.AMBIGUOUS, (asks.id,), "disambiguation")
    assert outranked.outcomes[asks.id] == Outcome(asks.id, Fate.OUTRANKED, (C.id,), "priority")
    assert set(outranked.active) == {A.id, C.id}
    assert lacking.fate_of(asks.id) is Fate.UNMET_DEPENDENCY_ALL
    assert lacking.active == (A.id,)


def test_what_is_only_shown_or_undecided_can_be_set_aside_and_does_nothing() -> None:
    undecided = verdict(B, VerdictKind.UNDECIDED)

    target = resolve([excludes(A, B), outranks(A, C)], [A], verdicts=[undecided], shown=[C])
    source = resolve([excludes(B, A), outranks(C, A)], [A], verdicts=[undecided], shown=[C])

    assert [target.fate_of(each.id) for each in (B, C)] == [Fate.EXCLUDED, Fate.OUTRANKED]
    assert source.active == (A.id,)


def test_what_was_applied_already_is_not_implied_and_says_by_whom_it_would_be() -> None:
    resolution = resolve([implies(A, B)], [A], applied=ids([B]))

    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.ALREADY_APPLIED, (A.id,), "entailment")


def test_a_node_names_what_beat_its_journey_and_the_journey_where_it_beat_it_itself() -> None:
    step = node("step")
    own = journey("own", nodes=[step])

    by_rule = resolve([outranks(A, own)], [A], journeys=[own], at=[step])
    by_itself = resolve([outranks(step, own)], journeys=[own], at=[step])

    assert by_rule.outcomes[step.id] == Outcome(step.id, Fate.OUTRANKED, (A.id,), "priority")
    assert by_itself.outcomes[step.id] == Outcome(step.id, Fate.OUTRANKED, (own.id,), "journey")


def test_what_needed_something_excluded_goes_with_it() -> None:
    resolution = resolve([excludes(A, B), needs(C, B)], [A, B, C])

    assert resolution.outcomes[C.id] == Outcome(C.id, Fate.EXCLUDED, (B.id,), "dependency")
