"""The catalog of one agent, as one turn sees it: immutable, versioned by content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from poise.values.agents import Agent
from poise.values.canned import CannedResponse
from poise.values.ids import (
    CannedResponseId,
    JourneyId,
    NodeId,
    RuleId,
    Subject,
    TagId,
    TermId,
    ToolId,
    VariableId,
)
from poise.values.journeys import Journey
from poise.values.relationships import End, Relation, RelationKind, TagEnd
from poise.values.rules import Rule, WayIn
from poise.values.terms import Term
from poise.values.tools import Tool
from poise.values.variables import Variable

Binding = Callable[..., Any]
"""A function that a rule, tool or variable names: an author's code, called through its name."""


@attrs.frozen
class Annotation:
    """What an annotator made of a rule at compile time.

    Attributes:
        way_in: What can make the rule relevant.
        continuous: The action stays due while the condition holds.
        customer_dependent: The action needs the customer's part.
        agent_intention: The condition is about what the agent is about to do.
        signals: Proposed phrases, added to the author's own.
        anti_signals: Proposed near misses, likewise.
    """

    way_in: WayIn
    continuous: bool = False
    customer_dependent: bool = False
    agent_intention: bool = False
    signals: tuple[str, ...] = ()
    anti_signals: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class CatalogSnapshot:
    """All that one agent may need, as one turn sees it from beginning to end.

    Attributes:
        agent: The agent itself.
        version: Content hash of everything declared; equal content, equal version.
        rules: By id, in declared order.
        relations: In declared order.
        tools: By id.
        canned_responses: By id.
        terms: By id.
        variables: By id.
        bindings: The authors' functions by name; not part of the content.
        annotations: By rule; empty until an annotator has run.
        bypass: The rules that every turn considers.
        outgoing: By subject, the relations it is a source of, itself or through a tag.
        incoming: By subject, the relations it is a target of, itself or through a tag.
        carriers: By tag, the rules, journeys and nodes that carry it.
        consequential: The rules whose match has consequences beyond being read, in any mode.
        journeys: By id, in declared order.
        journey_of: By node, the journey that it is a step of.
        triggered: By rule, the journeys that it is a trigger of.
        guarded: By tool, the rules that are judged before it is called.
    """

    agent: Agent
    version: str
    rules: Mapping[RuleId, Rule]
    relations: tuple[Relation, ...]
    tools: Mapping[ToolId, Tool]
    canned_responses: Mapping[CannedResponseId, CannedResponse]
    terms: Mapping[TermId, Term]
    variables: Mapping[VariableId, Variable]
    bindings: Mapping[str, Binding]
    annotations: Mapping[RuleId, Annotation]
    bypass: tuple[RuleId, ...]
    outgoing: Mapping[Subject, tuple[Relation, ...]]
    incoming: Mapping[Subject, tuple[Relation, ...]]
    carriers: Mapping[TagId, tuple[Subject, ...]]
    consequential: frozenset[RuleId]
    journeys: Mapping[JourneyId, Journey] = attrs.field(factory=dict)
    journey_of: Mapping[NodeId, JourneyId] = attrs.field(factory=dict)
    triggered: Mapping[RuleId, tuple[JourneyId, ...]] = attrs.field(factory=dict)
    guarded: Mapping[ToolId, tuple[RuleId, ...]] = attrs.field(factory=dict)

    def members(self, end: End) -> tuple[Subject, ...]:
        """Return what an end of a relation stands for; unknown ends, and tools, for nothing."""
        if isinstance(end, TagEnd):
            return self.carriers.get(end.tag, ())
        return (end,) if self.knows(end) else ()  # type: ignore[arg-type, return-value]

    def knows(self, subject: Subject) -> bool:
        """Say whether `subject` is a rule, a journey or a node of this catalog."""
        return subject in self.rules or subject in self.journeys or subject in self.journey_of

    def name_of(self, subject: str) -> str:
        """Return what people call a rule, journey, node or tool; the id of anything else."""
        known = (
            self.rules.get(RuleId(subject))
            or self.journeys.get(JourneyId(subject))
            or self.tools.get(ToolId(subject))
        )
        if known is not None:
            return known.name
        journey = self.journeys.get(self.journey_of.get(NodeId(subject), JourneyId("")))
        nodes = journey.nodes if journey is not None else ()
        return next((node.name for node in nodes if node.id == subject), subject)

    def tags_of(self, subject: Subject) -> frozenset[TagId]:
        """Return the tags that a rule, journey or node carries itself."""
        rule = self.rules.get(RuleId(subject))
        if rule is not None:
            return rule.tags
        journey = self.journeys.get(JourneyId(subject))
        if journey is not None:
            return journey.tags
        owner = self.journeys.get(self.journey_of.get(NodeId(subject), JourneyId("")))
        nodes = owner.nodes if owner is not None else ()
        return next((node.tags for node in nodes if node.id == subject), frozenset())

    def needed_by(self, rule: RuleId) -> tuple[RuleId, ...]:
        """Return the rules that `rule` directly depends on, each once, in declared order."""
        found: dict[RuleId, None] = {}
        for relation in self.outgoing.get(rule, ()):
            if relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY):
                for target in self.members(relation.target):
                    if target != rule and target in self.rules:
                        found[RuleId(target)] = None
        return tuple(found)

    def in_doubt(self, rule: RuleId) -> tuple[Subject, ...]:
        """Return what an observation says may be confused, each once, in declared order."""
        found: dict[Subject, None] = {}
        for relation in self.outgoing.get(rule, ()):
            if relation.kind is RelationKind.DISAMBIGUATION:
                found.update(dict.fromkeys(self.members(relation.target)))
        found.pop(rule, None)
        return tuple(found)

    def with_needs(self, rules: Iterable[RuleId]) -> tuple[RuleId, ...]:
        """Return the rules and whatever they depend on or tell apart, directly or not, once."""
        found: dict[RuleId, None] = {}
        waiting = list(reversed(list(rules)))
        while waiting:
            rule = waiting.pop()
            if rule not in found:
                found[rule] = None
                waiting.extend(reversed((*self.needed_by(rule), *self._confusable(rule))))
        return tuple(found)

    def _confusable(self, rule: RuleId) -> Iterable[RuleId]:
        """Yield the rules among which `rule` tells apart; for a journey, its triggers."""
        for subject in self.in_doubt(rule):
            journey = self.journeys.get(JourneyId(subject))
            if journey is not None:
                yield from journey.triggers
            elif subject in self.rules:
                yield RuleId(subject)

    def dependents_of(self, rule: RuleId) -> tuple[RuleId, ...]:
        """Return the rules that directly depend on `rule`, each once, in declared order."""
        found: dict[RuleId, None] = {}
        for relation in self.incoming.get(rule, ()):
            if relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY):
                for source in self.members(relation.source):
                    if source != rule and source in self.rules:
                        found[RuleId(source)] = None
        return tuple(found)

    def tool_named(self, name: str) -> Tool | None:
        """Return the tool called `name`, or `None`."""
        return next((tool for tool in self.tools.values() if tool.name == name), None)
