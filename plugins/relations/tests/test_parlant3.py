"""The former generation's resolver: the laws of the port, and its own."""

import pytest
from hypothesis import given, settings

from poise import Resolver
from poise.testing.relating import implies, needs, outranks, request_of
from poise.testing.resolving import ResolverConformance
from poise.testing.strategies import resolution_requests
from poise.testing.turns import policy
from poise.turn.fates import Fate, ResolutionRequest
from poise.values.ids import TagId
from poise.values.relationships import all_of
from poise_relations.parlant3 import Parlant3Resolver


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
