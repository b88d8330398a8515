"""What a resolution costs: `nox -s bench -- resolver [--json FILE]`.

A turn's fifty matched rules among ten thousand with fifty thousand relations, ranks and journeys,
and chains of growing length: of each kind of relation, of priorities within a rank, of journeys
that start one another, and of rules that act through a tag which all of them carry. The naive way
is the reference resolver of the test kit, which works on the whole catalog; it is run on a smaller
one, since its cost grows with the square.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

from report import Report

from poise import Resolver
from poise.testing.scripted_matching import NaiveResolver
from poise.testing.turns import catalog_of, journey, node, policy
from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import RuleId, TagId
from poise.values.relationships import DependencyMode, Relation, RelationKind, all_of, any_of
from poise.values.rules import Rule
from poise_relations import WellFoundedResolver

OFTEN = {
    RelationKind.DEPENDENCY: 3,
    RelationKind.DEPENDENCY_ANY: 1,
    RelationKind.PRIORITY: 4,
    RelationKind.EXCLUSION: 1,
    RelationKind.ENTAILMENT: 1,
}


PER_RANK, PER_JOURNEY = 20, 50
"""One rule in ten has a rank, which so many share; one rule in so many starts a journey."""


def turn_among(rules: int, relations: int, matched: int) -> ResolutionRequest:
    """Return a turn with so many matched rules in a catalog of that size."""
    random = Random(7)
    declared = [
        policy(
            f"rule {number}",
            rank=f"rank {number // (10 * PER_RANK)}" if number % 10 == 0 else None,
            priority=number % 3,
        )
        for number in range(rules)
    ]
    procedures = [
        journey(f"journey {number}", triggers=[rule.id], nodes=[node(f"step {number}")])
        for number, rule in enumerate(declared[::PER_JOURNEY])
    ]
    kinds = random.choices(list(OFTEN), list(OFTEN.values()), k=relations)
    edges = []
    for kind in kinds:
        one, other = sorted(random.sample(range(rules), 2))
        edges.append(Relation(kind, declared[one].id, declared[other].id))
    edges += [
        Relation(RelationKind.DEPENDENCY, declared[place + 1].id, each.id)
        for place, each in zip(range(0, rules, PER_JOURNEY), procedures, strict=True)
    ]
    snapshot = catalog_of(declared, edges, journeys=procedures)
    chosen = random.sample(declared, matched)
    under_way = random.sample(procedures, 2)
    return ResolutionRequest(
        snapshot,
        _applying(chosen),
        shown=frozenset(need for rule in chosen for need in snapshot.needed_by(rule.id)),
        journeys=frozenset(each.id for each in under_way),
        nodes=frozenset(each.nodes[0].id for each in under_way),
    )


def _applying(rules: list[Rule]) -> dict[RuleId, Verdict]:
    return {rule.id: Verdict(rule.id, VerdictKind.APPLIES, "bench") for rule in rules}


def chain_of(kind: RelationKind, length: int) -> ResolutionRequest:
    """Return a turn in which every rule of a chain was judged to apply."""
    rules = [policy(f"link {number}") for number in range(length)]
    relations = [
        Relation(kind, one.id, other.id, mode=DependencyMode.THIS_TURN)
        for one, other in pairwise(rules)
    ]
    return ResolutionRequest(catalog_of(rules, relations), _applying(rules))


def rank_of(length: int) -> ResolutionRequest:
    """Return a turn in which rules of one rank apply that all have different priorities."""
    rules = [policy(f"link {number}", rank="one", priority=number) for number in range(length)]
    return ResolutionRequest(catalog_of(rules), _applying(rules))


def journeys_of(length: int) -> ResolutionRequest:
    """Return a turn in which a rule starts a journey, which implies the next rule, and so on."""
    rules = [policy(f"link {number}") for number in range(length)]
    procedures = [
        journey(f"journey {number}", triggers=[rule.id]) for number, rule in enumerate(rules)
    ]
    relations = [
        Relation(RelationKind.ENTAILMENT, one.id, following.id)
        for one, following in zip(procedures, rules[1:], strict=False)
    ]
    return ResolutionRequest(
        catalog_of(rules, relations, journeys=procedures), _applying(rules[:1])
    )


def crowd_of(length: int) -> ResolutionRequest:
    """Return a turn in which all the rules with a tag outrank and imply all those with another."""
    one, other = TagId("tag_one"), TagId("tag_other")
    rules = [
        policy(f"link {number}", tags=[one if number % 2 else other]) for number in range(length)
    ]
    relations = [
        Relation(RelationKind.PRIORITY, any_of(one), any_of(other)),
        Relation(RelationKind.ENTAILMENT, all_of(one), any_of(other)),
    ]
    return ResolutionRequest(
        catalog_of(rules, relations), _applying([each for each in rules if one in each.tags])
    )


def best_ms(resolver: Resolver, request: ResolutionRequest, times: int) -> float:
    """Return the least of several measurements of processor time, in milliseconds."""
    gc.collect()
    gc.freeze()  # the catalog is no garbage of the resolver's
    spent = []
    for _ in range(times):
        started = time.process_time()
        resolver.resolve(request)
        spent.append((time.process_time() - started) * 1000)
    return min(spent)


def main() -> None:
    """Run the bench and print its tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = Report("resolver")
    for rules, relations in ((100, 500), (1_000, 5_000), (10_000, 50_000)):
        request = turn_among(rules, relations, 50)
        ours = best_ms(WellFoundedResolver(), request, 25)
        naive = best_ms(NaiveResolver(), request, 1) if rules <= 100 else None
        report.row(
            "fifty matched rules",
            {
                "rules": rules,
                "relations": relations,
                "ms": ours,
                "naive ms": naive,
                "naive to ours": naive / ours if naive else None,
            },
            name=f"matched.{rules}",
        )
    chains: dict[str, Callable[[int], ResolutionRequest]] = {
        **{kind.value: partial(chain_of, kind) for kind in OFTEN},
        "rank": rank_of,
        "journeys": journeys_of,
        "crowd": crowd_of,
    }
    for name, chain in chains.items():
        short = best_ms(WellFoundedResolver(), chain(500), 9)
        long = best_ms(WellFoundedResolver(), chain(4_000), 5)
        report.row(
            "chains: eight times the length",
            {"of": name, "500 ms": short, "4,000 ms": long, "ratio": long / short},
            name=f"chain.{name}",
        )
    report.finish(options.json)


if __name__ == "__main__":
    main()
