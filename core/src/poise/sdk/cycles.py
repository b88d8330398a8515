"""Finds at once the relation that would close a cycle between rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from poise.values.ids import RuleId, Subject
from poise.values.relationships import Relation, RelationKind

_FAMILY = {
    RelationKind.DEPENDENCY: "dependency",
    RelationKind.DEPENDENCY_ANY: "dependency",
    RelationKind.PRIORITY: "precedence",
    RelationKind.EXCLUSION: "precedence",
}
"""Within a family a cycle has no meaning; entailment may go round."""


class Edges:
    """The relations between single subjects; those with tags are left to the compilation."""

    def __init__(self, relations: Iterable[Relation] = ()) -> None:
        self._targets: dict[tuple[str, Subject], list[Subject]] = defaultdict(list)
        for relation in relations:
            self.add(relation)

    def add(self, relation: Relation) -> None:
        """Take note of a relation."""
        edge = _edge(relation)
        if edge is not None:
            family, source, target = edge
            self._targets[family, source].append(target)

    def cycle_closed_by(self, relation: Relation) -> tuple[Subject, ...]:
        """Return the rules of the cycle that `relation` would close, or nothing.

        Takes as long as there are relations to be reached from its target.
        """
        edge = _edge(relation)
        if edge is None:
            return ()
        family, source, target = edge
        came_from: dict[Subject, Subject] = {target: source}
        waiting = [target]
        while waiting:
            here = waiting.pop()
            if here == source:
                return _path(source, came_from)
            for following in self._targets.get((family, here), ()):
                if following not in came_from:
                    came_from[following] = here
                    waiting.append(following)
        return ()


def _edge(relation: Relation) -> tuple[str, Subject, Subject] | None:
    family = _FAMILY.get(relation.kind)
    if family is None or not isinstance(relation.source, str):
        return None
    if not isinstance(relation.target, str):
        return None
    return family, RuleId(relation.source), RuleId(relation.target)


def _path(source: Subject, came_from: dict[Subject, Subject]) -> tuple[Subject, ...]:
    path = [source]
    while len(path) == 1 or path[-1] != source:
        path.append(came_from[path[-1]])
    return tuple(reversed(path))
