"""What a subject depends on, as gates: each dependency, and each group of alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import Subject
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd
from poise_relations.crowds import Crowds, Holding
from poise_relations.network import Network
from poise_relations.parties import Need, Party

_HOLDING: Mapping[DependencyMode, Holding] = {
    DependencyMode.THIS_TURN: Holding.THIS_TURN,
    DependencyMode.THIS_SESSION: Holding.THIS_SESSION,
}


class Needs:
    """Makes the gates of dependencies; those of one target are shared by all that need it."""

    def __init__(self, snapshot: CatalogSnapshot, crowds: Crowds, network: Network) -> None:
        self._snapshot = snapshot
        self._crowds = crowds
        self._network = network

    def of(self, party: Party) -> list[Need]:
        """Return what `party` can't be active without."""
        needs: list[Need] = []
        groups: dict[tuple[End, str | None], list[Relation]] = {}
        for relation in self._snapshot.outgoing.get(party.id, ()):
            kind = relation.kind
            if kind is RelationKind.DEPENDENCY:
                if not is_idle(relation, party, self._snapshot):
                    needs.append(Need(kind, self._met_by(relation, party), (relation,)))
            elif kind is RelationKind.DEPENDENCY_ANY and not is_idle(
                relation, party, self._snapshot
            ):
                groups.setdefault((relation.source, relation.group), []).append(relation)
        for relations in groups.values():
            gate = self._network.any_of([self._met_by(each, party) for each in relations])
            needs.append(Need(RelationKind.DEPENDENCY_ANY, gate, tuple(relations)))
        return needs

    def _met_by(self, relation: Relation, party: Party) -> int:
        target, holding = relation.target, _HOLDING[relation.mode]
        if not isinstance(target, TagEnd):
            return self._crowds.gate_of(target, holding)  # type: ignore[arg-type]  # no tool
        crowd = self._crowds.behind(target, holding)
        if not names_itself(relation, party):
            return crowd.gate
        return crowd.without(*(each.id for each in _itself(party) if target.tag in each.tags))


def is_idle(relation: Relation, party: Party, snapshot: CatalogSnapshot) -> bool:
    """Say whether a dependency asks nothing of `party`: it would depend on itself alone.

    A node is never active without its journey, so it depends on that already.
    """
    own = [each.id for each in _itself(party)]
    target = relation.target
    if not isinstance(target, TagEnd):
        return target in own
    members = snapshot.members(target)
    if not target.every and any(each in members for each in own[1:]):
        return True
    return bool(members) and len(members) <= len(own) and set(members) <= set(own)


def _itself(party: Party) -> Sequence[Party]:
    return (party,) if party.journey is None else (party, party.journey)


def names_itself(relation: Relation, party: Party) -> bool:
    """Say whether `party`, or its own journey, is among the targets of a dependency, by a tag."""
    target = relation.target
    return isinstance(target, TagEnd) and any(target.tag in each.tags for each in _itself(party))


def others_behind(relation: Relation, party: Party, snapshot: CatalogSnapshot) -> list[Subject]:
    """Return what a dependency of `party` is about, but for itself and its own journey."""
    own = {each.id for each in _itself(party)}
    return [each for each in snapshot.members(relation.target) if each not in own]
