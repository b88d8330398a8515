"""The reference cases on relations, B-012 to B-018."""

from itertools import pairwise
from random import Random

import pytest

from poise.errors import InvalidValueError
from poise.testing.strategies import reordered
from poise.testing.turns import catalog_of, journey, node, policy
from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import RuleId, Subject, TagId
from poise.values.relationships import DependencyMode, Relation, RelationKind, all_of, any_of
from poise.values.rules import Rule
from poise_relations import WellFoundedResolver

DEPENDENCY, ANY, PRIORITY, _, ENTAILMENT, *_ = RelationKind


def asked(rules: list[Rule], relations: list[Relation], *applying: Rule, **more: object):
    verdicts = {rule.id: Verdict(rule.id, VerdictKind.APPLIES, "test") for rule in applying}
    return ResolutionRequest(catalog_of(rules, relations), verdicts, **more)


def active(request: ResolutionRequest) -> set[Subject]:
    return set(WellFoundedResolver().resolve(request).active)


@pytest.mark.parametrize("always", [False, True])
def test_implication_respects_already_applied_unless_marked_always(always):
    """B-012."""
    banjos, discount = policy("offer banjos"), policy("offer a discount")
    relations = [Relation(ENTAILMENT, banjos.id, discount.id, always=always)]

    first = asked([banjos, discount], relations, banjos)
    second = asked([banjos, discount], relations, banjos, applied=frozenset({discount.id}))

    assert active(first) == {banjos.id, discount.id}
    assert active(second) == ({banjos.id, discount.id} if always else {banjos.id})


def test_priority_does_not_leak_through_an_inactive_rule():
    """B-013."""
    a, b, c = rules = [policy(name) for name in "ABC"]
    relations = [Relation(PRIORITY, a.id, b.id), Relation(PRIORITY, b.id, c.id)]

    assert active(asked(rules, relations, a, c)) == {a.id, c.id}
    assert active(asked(rules, relations, a, b, c)) == {a.id, c.id}


def test_a_dependency_met_by_an_implied_rule_holds_in_any_order():
    """B-014."""
    x, y, z = rules = [policy(name) for name in "XYZ"]
    relations = [
        Relation(DEPENDENCY, x.id, y.id, mode=DependencyMode.THIS_TURN),
        Relation(ENTAILMENT, z.id, y.id),
    ]
    request = asked(rules, relations, x, z)

    results = [active(reordered(request, Random(seed))) for seed in range(100)]

    assert results == [{x.id, y.id, z.id}] * 100


def test_a_long_chain_converges_and_resolving_it_again_gives_the_same():
    """B-015."""
    chain = [policy(f"step {number}") for number in range(9)]
    relations = [Relation(ENTAILMENT, one.id, other.id) for one, other in pairwise(chain)]
    rival, outdone = policy("rival"), policy("outdone")
    relations += [Relation(PRIORITY, chain[8].id, outdone.id)]
    relations += [Relation(PRIORITY, chain[7].id, rival.id)]
    request = asked([*chain, rival, outdone], relations, chain[0], rival, outdone)

    resolution = WellFoundedResolver().resolve(request)

    assert set(resolution.active) == {rule.id for rule in chain}
    assert resolution.outcomes[outdone.id].causes == (chain[8].id,)
    assert WellFoundedResolver().resolve(request) == resolution


def test_two_rules_that_outrank_each_other_are_refused_by_name():
    """B-015."""
    a, b = policy("A"), policy("B")

    with pytest.raises(InvalidValueError, match="'A' → 'B'"):
        catalog_of([a, b], [Relation(PRIORITY, a.id, b.id), Relation(PRIORITY, b.id, a.id)])


def test_any_of_and_all_of_are_two_words_and_a_bare_tag_is_none():
    """B-016."""
    tag = TagId("tag_t")
    g1, g2 = policy("G1", tags=[tag]), policy("G2", tags=[tag])
    x = policy("X")
    rules = [g1, g2, x]

    all_needed = asked(rules, [Relation(DEPENDENCY, x.id, all_of(tag))], x, g1)
    any_needed = asked(rules, [Relation(DEPENDENCY, x.id, any_of(tag))], x, g1)

    assert active(all_needed) == {g1.id}
    assert active(any_needed) == {g1.id, x.id}
    with pytest.raises(InvalidValueError, match="any_of"):
        Relation(DEPENDENCY, x.id, RuleId(tag))


def test_two_groups_of_alternatives_must_both_be_met():
    """B-016."""
    t, u = TagId("tag_t"), TagId("tag_u")
    g1, g2, h = policy("G1", tags=[t]), policy("G2", tags=[t]), policy("H", tags=[u])
    x = policy("X")
    rules = [g1, g2, h, x]
    relations = [
        Relation(ANY, x.id, any_of(t), group="one"),
        Relation(ANY, x.id, any_of(u), group="other"),
    ]

    half = WellFoundedResolver().resolve(asked(rules, relations, x, g1))
    whole = active(asked(rules, relations, x, g1, h))

    assert half.fate_of(x.id) is Fate.UNMET_DEPENDENCY_ANY
    assert whole == {x.id, g1.id, h.id}


def test_a_dropped_journey_drops_its_steps_and_its_scoped_rules_in_the_same_pass():
    """B-017."""
    triggers = [policy("wants J1"), policy("wants J2")]
    first, second = (
        journey(name, triggers=[trigger.id], nodes=[node(f"step of {name}")])
        for name, trigger in zip(("J1", "J2"), triggers, strict=True)
    )
    scoped = policy("g")
    steps = first.nodes[0].id, second.nodes[0].id
    snapshot = catalog_of(
        [*triggers, scoped],
        [
            Relation(PRIORITY, first.id, second.id),
            Relation(DEPENDENCY, scoped.id, second.id, mode=DependencyMode.THIS_TURN),
        ],
        journeys=[first, second],
    )
    verdicts = {
        rule.id: Verdict(rule.id, VerdictKind.APPLIES, "test") for rule in (*triggers, scoped)
    }

    resolution = WellFoundedResolver().resolve(
        ResolutionRequest(snapshot, verdicts, nodes=frozenset(steps))
    )

    assert set(resolution.active) == {*(rule.id for rule in triggers), first.id, steps[0]}
    assert resolution.outcomes[steps[1]] == Outcome(
        steps[1], Fate.OUTRANKED, (second.id,), "journey"
    )
    assert resolution.outcomes[scoped.id].causes == (second.id,)
    assert resolution.outcomes[second.id].causes == (first.id,)


def test_a_lower_rank_matters_only_while_the_higher_rule_is_active():
    """B-018."""
    a, b = policy("A"), policy("B")

    assert active(asked([a, b], [Relation(PRIORITY, a.id, b.id)], b)) == {b.id}
