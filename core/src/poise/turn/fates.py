"""What became of every candidate, and because of what."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import attrs

from poise.turn.verdicts import Verdict
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import GroupId, JourneyId, NodeId, RuleId, Subject
from poise.values.rules import Rule


class Fate(Enum):
    """What became of a candidate; every candidate has exactly one."""

    IN_CONTEXT = "in_context"
    NOT_APPLICABLE = "not_applicable"
    ALREADY_APPLIED = "already_applied"
    MATCHED = "matched"
    IMPLIED = "implied"
    UNMET_DEPENDENCY_ALL = "unmet_dependency_all"
    UNMET_DEPENDENCY_ANY = "unmet_dependency_any"
    OUTRANKED = "outranked"
    EXCLUDED = "excluded"
    LOWER_PRIORITY = "lower_priority"
    AMBIGUOUS = "ambiguous"
    UNDECIDED = "undecided"
    CONFLICT = "conflict"
    OVER_BUDGET = "over_budget"
    SILENCED = "silenced"

    @property
    def is_active(self) -> bool:
        """Whether the candidate is to be acted on."""
        return self in _ACTIVE

    @property
    def is_muted(self) -> bool:
        """Whether the candidate stays in the prompt, marked not to be acted on this turn."""
        return self in _MUTED


_ACTIVE = frozenset({Fate.MATCHED, Fate.IMPLIED})
_MUTED = frozenset({Fate.OUTRANKED, Fate.LOWER_PRIORITY})


class DerivedFate(Enum):
    """What became of the rest of the catalog: worked out when asked, never stored."""

    NOT_DISCOVERED = "not_discovered"
    DISABLED = "disabled"
    NOT_FOR_THIS_AGENT_OR_CUSTOMER = "not_for_this_agent_or_customer"
    PRUNED = "pruned"


@attrs.frozen
class Outcome:
    """A candidate's fate with its cause.

    Attributes:
        subject: The candidate: a rule, a journey in play, or a node.
        fate: What became of it.
        causes: What stands at the other end of the nearest edge; for CONFLICT the cycle.
        relation: The kind of that edge, such as `priority`; `rank` for numeric priority, `trigger`
            for a journey's trigger, `journey` for a node's own; empty when a verdict decided.
    """

    subject: Subject
    fate: Fate
    causes: tuple[Subject, ...] = ()
    relation: str = ""


@attrs.frozen
class ResolutionRequest:
    """What a resolver works on.

    Attributes:
        snapshot: Rules, relations and adjacency.
        verdicts: Of the judged candidates, by rule.
        shown: Candidates that were not judged: targets only.
        confirmed: Rules confirmed in earlier turns of the session.
        applied: Rules already applied in the session.
        groups: The customer's; a rule for other groups is never implied.
        transient: Rules contributed for this turn alone: active, without relations.
        journeys: Under way in the session: wanted without a trigger.
        nodes: At which journeys stand, or would start, this turn.
    """

    snapshot: CatalogSnapshot
    verdicts: Mapping[RuleId, Verdict]
    shown: frozenset[RuleId] = frozenset()
    confirmed: frozenset[RuleId] = frozenset()
    applied: frozenset[RuleId] = frozenset()
    groups: frozenset[GroupId] = frozenset()
    transient: tuple[Rule, ...] = ()
    journeys: frozenset[JourneyId] = frozenset()
    nodes: frozenset[NodeId] = frozenset()


@attrs.frozen
class Resolution:
    """What the relations made of the verdicts.

    Attributes:
        outcomes: One for each candidate, and one for each rule or journey that an active one
            implies.
    """

    outcomes: Mapping[Subject, Outcome] = attrs.field(factory=dict)

    def fate_of(self, subject: Subject) -> Fate | None:
        """Return the fate of a candidate, or `None` for anything else."""
        outcome = self.outcomes.get(subject)
        return outcome.fate if outcome else None

    @property
    def active(self) -> tuple[Subject, ...]:
        """The rules, journeys and nodes to be acted on."""
        return tuple(each for each, outcome in self.outcomes.items() if outcome.fate.is_active)
