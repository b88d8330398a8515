"""Dependencies as the former generation reads them: of this turn, whatever their mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poise.turn.fates import Fate, Outcome
from poise.values.ids import NodeId, Subject
from poise.values.relationships import End, Relation, RelationKind, TagEnd
from poise_relations.crowds import is_on
from poise_relations.parlant3_board import Board

_FATES = {
    RelationKind.DEPENDENCY: Fate.UNMET_DEPENDENCY_ALL,
    RelationKind.DEPENDENCY_ANY: Fate.UNMET_DEPENDENCY_ANY,
}


def unmet_needs(board: Board) -> dict[Subject, Outcome]:
    """Return the outcomes of what stands on the board and lacks something.

    Starts from everything standing and takes away until nothing more goes, so a circle of
    dependencies lives only while nothing in it lacks anything else.
    """
    unmet: dict[Subject, Outcome] = {}
    standing = set(board.standing)
    while True:
        new = {
            subject: outcome
            for subject in standing
            if (outcome := _lacking(subject, board, standing)) is not None
        }
        if not new:
            return unmet
        unmet.update(new)
        standing -= new.keys()


def needs_of(subject: Subject, board: Board) -> Iterable[tuple[RelationKind, Sequence[Relation]]]:
    """Yield what a subject needs: one relation, or the alternatives of a group; a node also what
    its journey needs.
    """
    groups: dict[tuple[End, str | None], list[Relation]] = {}
    for relation in edges_of(subject, board):
        if _is_idle(relation, subject, board):
            continue
        if relation.kind is RelationKind.DEPENDENCY:
            yield relation.kind, (relation,)
        elif relation.kind is RelationKind.DEPENDENCY_ANY:
            groups.setdefault((relation.source, relation.group), []).append(relation)
    for relations in groups.values():
        yield RelationKind.DEPENDENCY_ANY, relations


def edges_of(subject: Subject, board: Board) -> Iterable[Relation]:
    """Yield the relations that a subject is a source of, itself, through tags or its journey."""
    yield from board.snapshot.outgoing.get(subject, ())
    journey = board.snapshot.journey_of.get(NodeId(subject))
    if journey is not None:
        yield from board.snapshot.outgoing.get(journey, ())


def _is_idle(relation: Relation, subject: Subject, board: Board) -> bool:
    """Say whether, through a tag, a subject would depend on itself alone."""
    members = board.snapshot.members(relation.target)
    return isinstance(relation.target, TagEnd) and members == (subject,)


def _lacking(subject: Subject, board: Board, standing: set[Subject]) -> Outcome | None:
    failed: dict[RelationKind, set[Subject]] = {}
    for kind, relations in needs_of(subject, board):
        if not any(is_met(each, subject, board, standing) for each in relations):
            lacking = (_missing(each, subject, board, standing) for each in relations)
            failed.setdefault(kind, set()).update(*lacking)
    for kind, fate in _FATES.items():
        if kind in failed:
            return Outcome(subject, fate, tuple(sorted(failed[kind])), kind.value)
    journey = board.snapshot.journey_of.get(NodeId(subject))
    if journey is not None and journey not in standing:
        gone = board.removed.get(journey) or board.asked.get(journey)
        fate = gone.fate if gone is not None else Fate.UNMET_DEPENDENCY_ALL
        return Outcome(subject, fate, (journey,), "journey")
    return None


def is_met(relation: Relation, subject: Subject, board: Board, standing: Iterable[Subject]) -> bool:
    """Say whether the target of a dependency stands."""
    up = standing if isinstance(standing, set | frozenset) else set(standing)
    target = relation.target
    if not isinstance(target, TagEnd):
        return _stands(target, board, up)
    others = [each for each in _usable(target, board) if each != subject]
    holding = [_stands(each, board, up) for each in others]
    return any(holding) and (all(holding) or not target.every)


def _stands(subject: End, board: Board, standing: set[Subject] | frozenset[Subject]) -> bool:
    if subject not in standing:
        return False
    nodes = board.nodes_of(subject)  # type: ignore[arg-type]
    return not nodes or any(node in standing for node in nodes)


def _usable(target: TagEnd, board: Board) -> Sequence[Subject]:
    snapshot = board.snapshot
    return [each for each in snapshot.members(target) if is_on(each, snapshot)]


def _missing(
    relation: Relation, subject: Subject, board: Board, standing: set[Subject]
) -> Sequence[Subject]:
    """Return the targets that do not stand; where none of them is usable, all of them."""
    target = relation.target
    if not isinstance(target, TagEnd):
        return [target]  # type: ignore[list-item]
    usable = [each for each in _usable(target, board) if not _stands(each, board, standing)]
    found = [each for each in usable if each != subject]
    return found or [each for each in board.snapshot.members(target) if each != subject]
