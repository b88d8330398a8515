"""Relations between rules: what needs what, what outranks, excludes or implies what."""

from __future__ import annotations

from enum import Enum

import attrs

from poise.errors import InvalidValueError
from poise.values.ids import JourneyId, NodeId, RuleId, TagId, ToolId


class RelationKind(Enum):
    """What a relation says of its source and its target.

    DEPENDENCY: the source needs the target. DEPENDENCY_ANY: the source needs at least one target
    of the group. PRIORITY: while the source is active, the target is muted. EXCLUSION: while the
    source is active, the target is removed. ENTAILMENT: while the source is active, so is the
    target. DISAMBIGUATION: the source is the observation that it is unclear which of its targets
    is meant. REEVALUATION: the source is judged again after the target, a tool, was called.
    OVERLAP: source and target are tools that may do the same job.
    """

    DEPENDENCY = "dependency"
    DEPENDENCY_ANY = "dependency_any"
    PRIORITY = "priority"
    EXCLUSION = "exclusion"
    ENTAILMENT = "entailment"
    DISAMBIGUATION = "disambiguation"
    REEVALUATION = "reevaluation"
    OVERLAP = "overlap"


class DependencyMode(Enum):
    """For how long a dependency stays met once its target was confirmed."""

    THIS_TURN = "this_turn"
    THIS_SESSION = "this_session"


@attrs.frozen
class TagEnd:
    """An end of a relation that stands for the rules which carry a tag: all of them, or any."""

    tag: TagId
    every: bool


def any_of(tag: TagId | str) -> TagEnd:
    """Return the end of a relation that any rule with `tag` satisfies."""
    return TagEnd(TagId(str(tag)), every=False)


def all_of(tag: TagId | str) -> TagEnd:
    """Return the end of a relation that takes every rule with `tag`."""
    return TagEnd(TagId(str(tag)), every=True)


End = RuleId | JourneyId | NodeId | ToolId | TagEnd
"""An end of a relation: a rule, a journey, a node, a tool, or whatever carries a tag."""

OF_TOOLS = frozenset({RelationKind.REEVALUATION, RelationKind.OVERLAP})
"""The kinds whose target is a tool; a resolver has nothing to settle about them."""


@attrs.frozen
class Relation:
    """One directed relation.

    Attributes:
        kind: What it says.
        source: What needs, outranks, excludes, implies, is in doubt, is judged again, overlaps.
        target: What it needs, outranks, excludes, implies, ...
        mode: For dependencies; default THIS_SESSION.
        group: For DEPENDENCY_ANY: relations of one source with one group form one "at least one
            of"; several groups of a source must all be met.
        always: For ENTAILMENT: imply the target even where it was already applied.
    """

    kind: RelationKind
    source: End
    target: End
    mode: DependencyMode = DependencyMode.THIS_SESSION
    group: str | None = None
    always: bool = False

    def __attrs_post_init__(self) -> None:
        for field in ("source", "target"):
            end = getattr(self, field)
            if isinstance(end, str) and end.startswith("tag_"):
                raise InvalidValueError(
                    f"{self.kind.value} relation",
                    field,
                    "is a bare tag; write any_of(tag) or all_of(tag)",
                )
        if self.source == self.target:
            raise InvalidValueError(
                f"{self.kind.value} relation", "target", f"is its own source ({self.source})"
            )
