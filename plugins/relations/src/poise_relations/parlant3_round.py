"""The steps of a round that remove and imply, as the former generation takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poise.turn.fates import Fate, Outcome
from poise.values.ids import JourneyId, NodeId, RuleId, Subject
from poise.values.relationships import Relation, RelationKind, TagEnd
from poise_relations.gathering import can_be_implied, may_imply, party_of
from poise_relations.parlant3_board import Board
from poise_relations.parlant3_needs import edges_of, is_met, needs_of

_FATES = {RelationKind.EXCLUSION: Fate.EXCLUDED, RelationKind.PRIORITY: Fate.OUTRANKED}

Standing = frozenset[Subject]


def outranked(board: Board, standing: Standing) -> dict[Subject, Outcome]:
    """Return the outcomes of what loses to something standing, and of what depended on that.

    Everybody is held against everything that stands, so a loser still beats those below it. What
    depended on a loser goes too, one step far; beyond that it lacks something in the next round.
    """
    beaten: dict[Subject, Outcome] = {}
    for subject in standing:
        for kind, fate in _FATES.items():
            causes = _winners(subject, kind, board, standing)
            if causes:
                beaten[subject] = Outcome(subject, fate, causes, kind.value)
                break
    left = standing - beaten.keys()
    followers: dict[Subject, Outcome] = {}
    for subject in left:
        lost = _lost_needs(subject, board, standing, left)
        if lost:
            fate = beaten[lost[0]].fate
            followers[subject] = Outcome(subject, fate, lost, RelationKind.DEPENDENCY.value)
    return {**beaten, **followers}


def _winners(
    subject: Subject, kind: RelationKind, board: Board, standing: Standing
) -> tuple[Subject, ...]:
    found: set[Subject] = set()
    for relation in _edges_into(subject, kind, board):
        found.update(_acting(relation, kind, subject, board, standing))
    return tuple(sorted(found))


def _edges_into(subject: Subject, kind: RelationKind, board: Board) -> Iterable[Relation]:
    """Yield the edges into a subject, and into the journey of a node."""
    journey = board.snapshot.journey_of.get(NodeId(subject))
    ends: Sequence[Subject] = (subject,) if journey is None else (subject, journey)
    for end in ends:
        for relation in board.snapshot.incoming.get(end, ()):
            if relation.kind is kind:
                yield relation


def _acting(
    relation: Relation, kind: RelationKind, subject: Subject, board: Board, standing: Standing
) -> Iterable[Subject]:
    """Yield what acts through an edge: its source, or whoever carries the tag at its source.

    A tag of which nobody stands passes on what beats those of its carriers that were not matched,
    one hop far.
    """
    members = [each for each in board.snapshot.members(relation.source) if each != subject]
    acting = [each for each in members if each in standing]
    if acting or not isinstance(relation.source, TagEnd):
        yield from acting
        return
    for member in members:
        for edge in board.snapshot.incoming.get(member, ()):
            if edge.kind is kind and not isinstance(edge.source, TagEnd):
                yield from (
                    each
                    for each in board.snapshot.members(edge.source)
                    if each in standing and each != subject
                )


def _lost_needs(
    subject: Subject, board: Board, standing: Standing, left: Standing
) -> tuple[Subject, ...]:
    """Return the beaten subjects that a need was met by, and is not met any more."""
    lost: set[Subject] = set()
    for _, relations in needs_of(subject, board):
        if any(is_met(each, subject, board, left) for each in relations):
            continue
        for relation in relations:
            members = board.snapshot.members(relation.target)
            nodes = [node for each in members for node in board.nodes_of(each)]
            lost.update(each for each in (*members, *nodes) if each in standing - left)
    lost.discard(subject)
    return tuple(sorted(lost))


def outnumbered(board: Board, standing: Standing) -> dict[Subject, Outcome]:
    """Return the outcomes of what has a lower number than something else that is not implied."""
    numbers = {each: _number(each, board) for each in standing if each in board.matched}
    if not numbers:
        return {}
    highest = max(numbers.values())
    causes = tuple(sorted(each for each, number in numbers.items() if number == highest))
    return {
        each: Outcome(each, Fate.LOWER_PRIORITY, causes, "rank")
        for each, number in numbers.items()
        if number < highest
    }


def _number(subject: Subject, board: Board) -> int:
    """Return a subject's priority; a node and a rule scoped to a journey have the journey's."""
    snapshot = board.snapshot
    journey = snapshot.journeys.get(
        snapshot.journey_of.get(NodeId(subject), JourneyId(subject))
    ) or next(
        (
            snapshot.journeys[JourneyId(relation.target)]
            for relation in snapshot.outgoing.get(subject, ())
            if relation.kind is RelationKind.DEPENDENCY
            and not isinstance(relation.target, TagEnd)
            and relation.target in snapshot.journeys
        ),
        None,
    )
    return journey.priority if journey is not None else snapshot.rules[RuleId(subject)].priority


def implied(board: Board, standing: Standing) -> dict[Subject, Outcome]:
    """Return the outcomes of what something standing implies, directly or through other implied."""
    causes: dict[Subject, set[Subject]] = {}
    ways: dict[Subject, str] = {}
    waiting = list(standing)
    seen = set(standing)
    while waiting:
        source = waiting.pop()
        for target, way in _leads_to(source, board):
            if target in board.matched or target == source:
                continue
            causes.setdefault(target, set()).add(source)
            ways[target] = max(ways.get(target, ""), way)
            # What is implied for the first time implies further in the next round, once it stands.
            if target in board.implied and target in standing and target not in seen:
                seen.add(target)
                waiting.append(target)
    return {
        each: Outcome(each, Fate.IMPLIED, tuple(sorted(found)), ways[each])
        for each, found in causes.items()
    }


def _leads_to(source: Subject, board: Board) -> Iterable[tuple[Subject, str]]:
    snapshot = board.snapshot
    for relation in edges_of(source, board):
        if relation.kind is RelationKind.ENTAILMENT:
            for target in snapshot.members(relation.target):
                party = party_of(target, board.request)
                if (
                    party is not None
                    and _is_free(target, board)
                    and can_be_implied(party, board.request)
                    and may_imply(relation, party, board.request)
                ):
                    yield target, RelationKind.ENTAILMENT.value
    for journey in snapshot.triggered.get(RuleId(source), ()):
        if snapshot.journeys[journey].enabled and _is_free(journey, board):
            yield journey, "trigger"


def _is_free(subject: Subject, board: Board) -> bool:
    return subject not in board.removed and subject not in board.asked
