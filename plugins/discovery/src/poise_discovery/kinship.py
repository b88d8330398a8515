"""Which rules belong together, so that their likeness is no surprise."""

from __future__ import annotations

from functools import lru_cache

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId, Subject
from poise.values.relationships import RelationKind
from poise.values.rules import Rule

_KEPT = 512  # topics in memory: in a catalog of long chains each may be as large as the catalog


class Kinship:
    """Says of two rules of one catalog whether they are near relatives, or told apart.

    Attributes:
        catalog: The catalog.
    """

    def __init__(self, catalog: CatalogSnapshot) -> None:
        self.catalog = catalog
        self._topics = lru_cache(maxsize=_KEPT)(self._topics_of)

    def is_near(self, first: RuleId, second: RuleId) -> bool:
        """Say whether what brings one up may well bring up the other.

        One needs or implies the other, directly or not for needs, or both need a third: they are
        of one topic.
        """
        if first == second:
            return False
        if not self._topics(first).isdisjoint(self._topics(second)):
            return True
        return self._implies(first, second) or self._implies(second, first)

    def are_told_apart(self, first: Rule, second: Rule) -> bool:
        """Say whether the author has settled what two rules are to each other."""
        never_meet = bool(first.groups and second.groups) and not first.groups & second.groups
        compete = first.rank is not None and first.rank == second.rank
        return (
            never_meet
            or (compete and first.priority != second.priority)
            or self._is_source(first.id, second.id)
            or self._is_source(second.id, first.id)
        )

    def _topics_of(self, rule: RuleId) -> frozenset[RuleId]:
        """Return the rule with all that it depends on, directly or not."""
        found = {rule}
        waiting = [rule]
        while waiting:
            for needed in self.catalog.needed_by(waiting.pop()):
                if needed not in found:
                    found.add(needed)
                    waiting.append(needed)
        return frozenset(found)

    def _implies(self, first: RuleId, second: Subject) -> bool:
        return any(
            relation.kind is RelationKind.ENTAILMENT
            and second in self.catalog.members(relation.target)
            for relation in self.catalog.outgoing.get(first, ())
        )

    def _is_source(self, first: RuleId, second: Subject) -> bool:
        return any(
            second in self.catalog.members(relation.target)
            for relation in self.catalog.outgoing.get(first, ())
        )
