"""Relations in a word each, and requests to a resolver, for tests that tell scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from poise.testing.turns import catalog_of
from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import JourneyId, NodeId, RuleId
from poise.values.journeys import Journey, JourneyNode
from poise.values.relationships import End, Relation, RelationKind
from poise.values.rules import Rule

Thing = Rule | Journey | JourneyNode | End
"""What a relation can be told of: a rule, a journey, a node, their ids, or a tag's end."""


def needs(source: Thing, target: Thing, **fields: Any) -> Relation:
    """Return a dependency; `fields` are any other fields of `Relation`."""
    return _relation(RelationKind.DEPENDENCY, source, target, **fields)


def needs_any(source: Thing, target: Thing, **fields: Any) -> Relation:
    """Return one alternative of a dependency; `group` says of which."""
    return _relation(RelationKind.DEPENDENCY_ANY, source, target, **fields)


def outranks(source: Thing, target: Thing) -> Relation:
    """Return a priority."""
    return _relation(RelationKind.PRIORITY, source, target)


def excludes(source: Thing, target: Thing) -> Relation:
    """Return an exclusion."""
    return _relation(RelationKind.EXCLUSION, source, target)


def implies(source: Thing, target: Thing, **fields: Any) -> Relation:
    """Return an entailment; `always` overrides that the target was applied already."""
    return _relation(RelationKind.ENTAILMENT, source, target, **fields)


def tells_apart(source: Thing, *targets: Thing) -> tuple[Relation, ...]:
    """Return the relations that say of which targets `source` asks what is meant."""
    return tuple(_relation(RelationKind.DISAMBIGUATION, source, each) for each in targets)


def _relation(kind: RelationKind, source: Thing, target: Thing, **fields: Any) -> Relation:
    return Relation(kind, _end(source), _end(target), **fields)


def _end(value: Thing) -> End:
    return value.id if isinstance(value, Rule | Journey | JourneyNode) else value


def verdict(rule: Rule, kind: VerdictKind, **fields: Any) -> Verdict:
    """Return a verdict on `rule`; `fields` are any other fields of `Verdict`."""
    return Verdict(rule.id, kind, "test", **fields)


def ids(rules: Iterable[Rule]) -> frozenset[RuleId]:
    """Return the ids of `rules`."""
    return frozenset(rule.id for rule in rules)


def request_of(
    rules: Iterable[Rule],
    relations: Iterable[Relation],
    applying: Iterable[Rule] = (),
    *,
    verdicts: Iterable[Verdict] = (),
    shown: Iterable[Rule] = (),
    journeys: Iterable[Journey] = (),
    under_way: Iterable[Journey] = (),
    at: Iterable[JourneyNode] = (),
    **fields: Any,
) -> ResolutionRequest:
    """Return what a turn asks of a resolver.

    Args:
        rules: Of the catalog.
        relations: Of the catalog.
        applying: Rules with the verdict APPLIES.
        verdicts: Any other verdicts.
        shown: Candidates that nobody judged.
        journeys: Of the catalog.
        under_way: Journeys that are.
        at: Nodes in play.
        fields: Any other fields of `ResolutionRequest`.
    """
    given = (*(verdict(rule, VerdictKind.APPLIES) for rule in applying), *verdicts)
    return ResolutionRequest(
        snapshot=catalog_of(rules, relations, journeys=journeys),
        verdicts={each.rule: each for each in given},
        shown=ids(shown),
        journeys=frozenset[JourneyId](each.id for each in under_way),
        nodes=frozenset[NodeId](each.id for each in at),
        **fields,
    )
