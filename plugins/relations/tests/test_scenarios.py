"""The 107 scenarios under both resolvers: literally under `parlant3`, with reasons under ours."""

from __future__ import annotations

import re

import attrs
import pytest
from scenarios import NEAREST, RANKED, REINSTATED, TABLE, Expected, Scenario, read

from poise import Resolver
from poise.testing.relating import needs, request_of
from poise.testing.turns import policy
from poise.turn.fates import Fate, Resolution, ResolutionRequest
from poise.values.compilation import adjacency
from poise.values.ids import Subject
from poise.values.relationships import DependencyMode
from poise_relations import WellFoundedResolver
from poise_relations.parlant3 import Parlant3Resolver

ROWS = [pytest.param(row, id=f"{row.number:03}") for row in TABLE]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", ["parlant3", "default"])
def test_scenario(name: str, row: Scenario) -> None:
    said = read(row)
    is_former = name == "parlant3"
    resolver: Resolver = Parlant3Resolver() if is_former else WellFoundedResolver()

    resolution = resolver.resolve(said.request)

    names = {subject: each for each, subject in said.ids.items()}
    active = {names[each] for each in resolution.active}
    survivors = said.survivors if is_former else said.others_survivors
    assert {each for each in active if not re.fullmatch(r"J\d?", each)} == survivors
    for each, expected in (said.fates if is_former else said.others_fates).items():
        assert_came_to(resolution, said.ids[each], expected, names)


def assert_came_to(
    resolution: Resolution, subject: Subject, expected: Expected, names: dict[Subject, str]
) -> None:
    fate, relation, causes = expected
    outcome = resolution.outcomes[subject]
    if fate is None:
        (journey,) = outcome.causes
        fate = resolution.outcomes[journey].fate
    assert (outcome.fate, outcome.relation) == (fate, relation)
    if causes is not None:
        assert {names[each] for each in outcome.causes} == causes


def test_the_table_is_whole() -> None:
    assert [row.number for row in TABLE] == list(range(1, 108))


def test_where_ours_differs_and_why() -> None:
    """Who survives differs for two reasons only; for the third one it is the cause that does."""
    differing = {
        why: {row.number for row in TABLE if row.why == why}
        for why in (REINSTATED, RANKED, NEAREST)
    }

    assert differing[REINSTATED] == {1, 12, 27, 101}
    assert differing[RANKED] == {20, 21, 22, 23, 72, 74, 75, 90}
    assert differing[NEAREST] == {row.number for row in TABLE if row.why} - (
        differing[REINSTATED] | differing[RANKED]
    )
    for row in TABLE:
        said = read(row)
        changed = said.survivors != said.others_survivors
        assert changed == (row.why in (REINSTATED, RANKED)), row.number


def test_a_dependency_that_lasts_for_the_session_is_of_this_turn_for_the_former() -> None:
    """The fourth difference: no row of the table has a session behind it."""
    one, other = policy("one"), policy("other")
    relation = needs(one, other, mode=DependencyMode.THIS_SESSION)
    request = request_of([one, other], [relation], [one], confirmed=frozenset({other.id}))

    assert WellFoundedResolver().resolve(request).active == (one.id,)
    former = Parlant3Resolver().resolve(request)
    assert former.fate_of(one.id) is Fate.UNMET_DEPENDENCY_ALL


def test_dependencies_that_last_for_the_session_change_survivors_under_ours_alone() -> None:
    """They are met by what was judged to apply, so what needs something outranked stays."""
    changed: set[int] = set()
    for row in TABLE:
        request = read(row).request
        lasting = _lasting(request)
        if set(WellFoundedResolver().resolve(lasting).active) != set(
            WellFoundedResolver().resolve(request).active
        ):
            changed.add(row.number)
        assert Parlant3Resolver().resolve(lasting) == Parlant3Resolver().resolve(request)

    assert changed == {18, 19, 26, 44, 48, 52, 57, 64, 67, 71, 91, 102, 103}


def _lasting(request: ResolutionRequest) -> ResolutionRequest:
    snapshot = request.snapshot
    relations = tuple(
        attrs.evolve(each, mode=DependencyMode.THIS_SESSION) for each in snapshot.relations
    )
    outgoing, incoming = adjacency(relations, snapshot.carriers)
    return attrs.evolve(
        request,
        snapshot=attrs.evolve(snapshot, relations=relations, outgoing=outgoing, incoming=incoming),
    )
