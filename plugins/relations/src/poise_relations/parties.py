"""One that takes part in a resolution: what it is, what acts on it, and what it needs."""

from __future__ import annotations

import attrs

from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import Subject, TagId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_relations.network import NEVER

_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})
_OPEN = frozenset({VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS})


@attrs.frozen(eq=False)
class Edge:
    """What may act on a subject: those at its source that could be active, and their gate.

    The sources are shared by all that the edge acts on, so they may hold the subject itself; the
    gate never does, but for an implication.
    """

    sources: tuple[Subject, ...]
    gate: int


@attrs.frozen
class Need:
    """Something that a subject can't be active without.

    Attributes:
        kind: DEPENDENCY, or DEPENDENCY_ANY for one group.
        gate: True while the need is met.
        relations: The one relation, or all of the group.
    """

    kind: RelationKind
    gate: int
    relations: tuple[Relation, ...]


@attrs.define(eq=False)
class Party:
    """A rule, journey or node that takes part, with the gates and edges that `ground` gives it.

    Attributes:
        id: Of the subject.
        tags: That the subject carries itself.
        enabled: Whether it is switched on; a node is where its journey is.
        rule: The rule; `None` for journeys and nodes.
        verdict: On the rule; `None` where it is shown unjudged, or no candidate.
        journey: Of a node, the journey that it is a step of.
        nodes: Of a journey, those in play.
        rank: Within which `priority` competes.
        priority: See `rank`.
        is_candidate: Whether this turn considers it; otherwise it could only be implied.
        can_be_active: Whether it applies, is under way or in play, or something could imply it.
        stands: Gate of: wanted, and nothing sets it aside.
        active: Gate of *active*: that it stands, but for a rule that asks what is meant.
        wanted: Gate of: applies, asks, is under way, or something active implies it.
        excluded: Gate of: something active excludes it.
        in_question: Gate of: a rule asks whether it is this one that is meant.
        outranked: Gate of: something active outranks it.
        lower: Gate of: something active has a higher priority within its rank.
        confirmed: Gate of: judged to apply, and not excluded.
        implied_by: What could imply it.
        triggered_by: What could imply a journey as one of its triggers.
        hushed_by: What would imply it, had it not been applied already.
        excluded_by: What could exclude it.
        questioned_by: What could ask whether it is this one that is meant.
        outranked_by: What could outrank it.
        lower_than: What could be active within its rank.
        needs: What it depends on.
    """

    id: Subject
    tags: frozenset[TagId]
    enabled: bool
    rule: Rule | None = None
    verdict: Verdict | None = None
    journey: Party | None = None
    nodes: list[Party] = attrs.field(factory=list)
    rank: str | None = None
    priority: int = 0
    is_candidate: bool = True
    can_be_active: bool = False
    stands: int = NEVER
    active: int = NEVER
    wanted: int = NEVER
    excluded: int = NEVER
    in_question: int = NEVER
    outranked: int = NEVER
    lower: int = NEVER
    confirmed: int = NEVER
    implied_by: list[Edge] = attrs.field(factory=list)
    triggered_by: list[Edge] = attrs.field(factory=list)
    hushed_by: list[Edge] = attrs.field(factory=list)
    excluded_by: list[Edge] = attrs.field(factory=list)
    questioned_by: list[Edge] = attrs.field(factory=list)
    outranked_by: list[Edge] = attrs.field(factory=list)
    lower_than: list[Edge] = attrs.field(factory=list)
    needs: list[Need] = attrs.field(factory=list)

    @property
    def applies(self) -> bool:
        """Whether it is a rule that was judged to apply, wholly or in part."""
        return self.verdict is not None and self.verdict.kind in _APPLYING and self.enabled

    @property
    def asks(self) -> bool:
        """Whether it is a rule that was judged to leave open what is meant.

        Such a rule is never active, not even where it is implied: its question is still open.
        """
        verdict = self.verdict
        return verdict is not None and verdict.kind is VerdictKind.AMBIGUOUS and self.enabled

    @property
    def is_given(self) -> bool:
        """Whether it is wanted without being implied."""
        if self.rule is None:
            return self.is_candidate and self.enabled
        return self.applies or self.asks

    @property
    def is_open(self) -> bool:
        """Whether it is a rule shown as one that may apply, so that it can be set aside."""
        return (
            self.rule is not None
            and self.is_candidate
            and (self.verdict is None or self.verdict.kind in _OPEN)
        )
