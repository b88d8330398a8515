"""Handles of declared rules: what an author holds on to, to relate rules to each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from poise.errors import InvalidValueError
from poise.sdk.arguments import choice, flag, listed
from poise.sdk.declared_tools import declared_tool
from poise.sdk.draft import Draft
from poise.values.customers import Tag
from poise.values.digests import content_digest
from poise.values.ids import RuleId, ToolId
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd
from poise.values.rules import Rule

if TYPE_CHECKING:
    from poise.sdk.tool import DeclaredTool


class RuleHandle:
    """A rule of one agent. A relation may be declared twice; the second time changes nothing."""

    def __init__(self, draft: Draft, rule: Rule) -> None:
        self._draft = draft
        self._rule = rule

    @property
    def id(self) -> RuleId:
        """The rule's stable id."""
        return self._rule.id

    @property
    def rule(self) -> Rule:
        """The rule as it was declared."""
        return self._rule

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._rule.name!r}>"

    async def depend_on(
        self,
        *targets: RuleHandle | TagEnd,
        mode: DependencyMode | str = DependencyMode.THIS_SESSION,
    ) -> None:
        """Make this rule need every one of `targets`.

        Args:
            targets: Rules, `any_of(tag)` or `all_of(tag)`.
            mode: THIS_SESSION: met once a target was confirmed in the session. THIS_TURN: met
                while it is active.

        Raises:
            InvalidValueError: A target can't be one, or closes a cycle.
        """
        self._draft.relate(*dependencies(self._draft, self._rule, targets, mode=mode))

    async def depend_on_any(
        self,
        targets: Iterable[RuleHandle | TagEnd],
        *,
        mode: DependencyMode | str = DependencyMode.THIS_SESSION,
    ) -> None:
        """Make this rule need at least one of `targets`; several calls must all be met.

        Raises:
            InvalidValueError: A target can't be one, or closes a cycle.
        """
        thing = _thing(self._rule)
        lasting = choice(thing, "mode", mode, DependencyMode)
        ends = _ends(self._draft, self._rule, listed(thing, "depend_on_any", targets))
        group = content_digest(frozenset(ends), lasting)
        self._draft.relate(
            *(
                Relation(RelationKind.DEPENDENCY_ANY, self.id, end, mode=lasting, group=group)
                for end in ends
            )
        )

    async def prioritize_over(self, *targets: RuleHandle | TagEnd) -> None:
        """Mute `targets` while this rule is active.

        Raises:
            InvalidValueError: A target can't be one, or closes a cycle.
        """
        self._relate(RelationKind.PRIORITY, targets)

    async def exclude(self, *targets: RuleHandle | TagEnd) -> None:
        """Remove `targets` from the turn while this rule is active.

        Raises:
            InvalidValueError: A target can't be one, or closes a cycle.
        """
        self._relate(RelationKind.EXCLUSION, targets)

    async def entail(self, *targets: RuleHandle | TagEnd, always: bool = False) -> None:
        """Make `targets` active while this rule is.

        Args:
            targets: Rules, `any_of(tag)` or `all_of(tag)`.
            always: Imply a target even where it was already applied.

        Raises:
            InvalidValueError: A target can't be one.
        """
        flag(_thing(self._rule), "always", always)
        self._relate(RelationKind.ENTAILMENT, targets, always=always)

    async def reevaluate_after(self, *tools: DeclaredTool[..., Any]) -> None:
        """Have this rule judged again on a turn once one of `tools` was called.

        Raises:
            InvalidValueError: One of them is no tool.
        """
        thing = _thing(self._rule)
        if not tools:
            raise InvalidValueError(thing, "relation", "names no tool")
        declared = [declared_tool(self._draft, thing, "relation", given=each) for each in tools]
        self._draft.add(*declared)
        self._draft.relate(
            *(
                Relation(RelationKind.REEVALUATION, self.id, ToolId(each.value.id))
                for each in declared
            )
        )

    def _relate(self, kind: RelationKind, targets: Iterable[object], always: bool = False) -> None:
        ends = _ends(self._draft, self._rule, targets)
        self._draft.relate(*(Relation(kind, self.id, end, always=always) for end in ends))


class Policy(RuleHandle):
    """A policy: says what to do in a situation."""


Guideline = Policy
"""A policy given as condition and action."""


class Observation(RuleHandle):
    """An observation: recognises a situation; other things hang off it."""

    async def disambiguate(self, targets: Iterable[RuleHandle | TagEnd]) -> None:
        """Say that this observation means: it is unclear which of `targets` the customer wants.

        While it holds, none of those in question is acted on; the customer is asked instead, and
        the answer decides.

        Raises:
            InvalidValueError: A target can't be one, or there are fewer than two.
        """
        thing = _thing(self._rule)
        ends = _ends(self._draft, self._rule, listed(thing, "disambiguate", targets))
        if len(ends) < 2 and not isinstance(ends[0], TagEnd):
            raise InvalidValueError(
                thing, "disambiguate", "names one target; it takes two or more to be confused"
            )
        self._draft.relate(*(Relation(RelationKind.DISAMBIGUATION, self.id, end) for end in ends))


def dependencies(
    draft: Draft,
    rule: Rule,
    targets: Iterable[object],
    *,
    mode: DependencyMode | str = DependencyMode.THIS_SESSION,
) -> tuple[Relation, ...]:
    """Return the relations that make `rule` need every one of `targets`.

    Raises:
        InvalidValueError: A target can't be one.
    """
    lasting = choice(_thing(rule), "mode", mode, DependencyMode)
    return tuple(
        Relation(RelationKind.DEPENDENCY, rule.id, end, mode=lasting)
        for end in _ends(draft, rule, targets)
    )


def _ends(draft: Draft, source: Rule, targets: Iterable[object]) -> tuple[End, ...]:
    ends = tuple(dict.fromkeys(_end(draft, source, each) for each in targets))
    if not ends:
        raise InvalidValueError(_thing(source), "relation", "names no target")
    return ends


def _end(draft: Draft, source: Rule, target: object) -> End:
    thing = _thing(source)
    if isinstance(target, TagEnd):
        return target
    if isinstance(target, Tag):
        raise InvalidValueError(
            thing,
            "relation",
            f"names the bare tag {target.name!r}; write any_of(tag) or all_of(tag)",
        )
    if not isinstance(target, RuleHandle):
        raise InvalidValueError(
            thing,
            "relation",
            f"names {target!r}; it takes what create_policy, create_guideline or "
            f"create_observation returned, any_of(tag) or all_of(tag)",
        )
    if target._draft is not draft:
        raise InvalidValueError(
            thing, "relation", f"names {target!r} of another agent, {target._draft.agent.name!r}"
        )
    if target.id == source.id:
        raise InvalidValueError(thing, "relation", "names the rule itself")
    return target.id


def _thing(rule: Rule) -> str:
    return f"{rule.kind.value} {rule.name!r}"
