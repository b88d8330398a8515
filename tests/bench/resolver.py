"""What a resolution costs: `nox -s bench -- resolver [--json FILE]`.

A turn's fifty matched rules among ten thousand with fifty thousand relations, and chains of growing
length. The naive way is the reference resolver of the test kit, which works on the whole catalog;
it is run on a smaller one, since its cost grows with the square.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path
from random import Random

from report import Report

from poise import Resolver
from poise.testing.scripted_matching import NaiveResolver
from poise.testing.turns import catalog_of, policy
from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.relationships import DependencyMode, Relation, RelationKind
from poise_relations import WellFoundedResolver

OFTEN = {
    RelationKind.DEPENDENCY: 3,
    RelationKind.DEPENDENCY_ANY: 1,
    RelationKind.PRIORITY: 4,
    RelationKind.EXCLUSION: 1,
    RelationKind.ENTAILMENT: 1,
}


def turn_among(rules: int, relations: int, matched: int) -> ResolutionRequest:
    """Return a turn with so many matched rules in a catalog of that size."""
    random = Random(7)
    declared = [policy(f"rule {number}") for number in range(rules)]
    kinds = random.choices(list(OFTEN), list(OFTEN.values()), k=relations)
    edges = []
    for kind in kinds:
        one, other = sorted(random.sample(range(rules), 2))
        edges.append(Relation(kind, declared[one].id, declared[other].id))
    snapshot = catalog_of(declared, edges)
    chosen = random.sample(declared, matched)
    return ResolutionRequest(
        snapshot,
        {rule.id: Verdict(rule.id, VerdictKind.APPLIES, "bench") for rule in chosen},
        shown=frozenset(need for rule in chosen for need in snapshot.needed_by(rule.id)),
    )


def chain_of(kind: RelationKind, length: int) -> ResolutionRequest:
    """Return a turn in which every rule of a chain was judged to apply."""
    rules = [policy(f"link {number}") for number in range(length)]
    relations = [
        Relation(kind, one.id, other.id, mode=DependencyMode.THIS_TURN)
        for one, other in pairwise(rules)
    ]
    verdicts = {rule.id: Verdict(rule.id, VerdictKind.APPLIES, "bench") for rule in rules}
    return ResolutionRequest(catalog_of(rules, relations), verdicts)


def best_ms(resolver: Resolver, request: ResolutionRequest, times: int) -> float:
    """Return the least of several measurements of processor time, in milliseconds."""
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
    for kind in OFTEN:
        short = best_ms(WellFoundedResolver(), chain_of(kind, 500), 7)
        long = best_ms(WellFoundedResolver(), chain_of(kind, 4_000), 3)
        report.row(
            "chains: eight times the length",
            {"kind": kind.value, "500 ms": short, "4,000 ms": long, "ratio": long / short},
            name=f"chain.{kind.value}",
        )
    report.finish(options.json)


if __name__ == "__main__":
    main()
