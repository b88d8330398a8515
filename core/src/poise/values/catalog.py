"""The catalog of one agent: compiled once from declarations, immutable, versioned by content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import attrs

from poise.errors import InvalidValueError
from poise.values.agents import Agent
from poise.values.canned import CannedResponse
from poise.values.digests import content_digest
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
from poise.values.relationships import OF_TOOLS, End, Relation, RelationKind, TagEnd
from poise.values.rules import Rule, WayIn
from poise.values.terms import Term
from poise.values.tools import Tool
from poise.values.variables import Variable

K = TypeVar("K")
V = TypeVar("V")

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


def compile_catalog(
    agent: Agent,
    *,
    rules: Iterable[Rule] = (),
    journeys: Iterable[Journey] = (),
    relations: Iterable[Relation] = (),
    tools: Iterable[Tool] = (),
    canned_responses: Iterable[CannedResponse] = (),
    terms: Iterable[Term] = (),
    variables: Iterable[Variable] = (),
    bindings: Mapping[str, Binding] | None = None,
    annotations: Mapping[RuleId, Annotation] | None = None,
) -> CatalogSnapshot:
    """Return the snapshot of everything declared for `agent`.

    Raises:
        InvalidValueError: Something names what does not exist, or relations form a cycle that has
            no meaning; the message names the place, or the path of the cycle.
    """
    by_id = {rule.id: rule for rule in rules}
    journeys_by_id = {journey.id: journey for journey in journeys}
    edges = tuple(dict.fromkeys(relations))
    tools_by_id = {tool.id: tool for tool in tools}
    canned_by_id = {canned.id: canned for canned in canned_responses}
    terms_by_id = {term.id: term for term in terms}
    variables_by_id = {variable.id: variable for variable in variables}
    functions = dict(bindings or {})
    names = _names(by_id.values(), journeys_by_id.values())
    _check_names(by_id.values(), tools_by_id, canned_by_id, variables_by_id.values())
    _check_journeys(journeys_by_id.values(), by_id)
    _check_relations(edges, names, tools_by_id)

    carried = _carriers(by_id.values(), journeys_by_id.values())
    outgoing, incoming = _adjacency(edges, carried)
    _refuse_cycles(names, edges, carried)
    triggered = _grouped(
        (trigger, journey.id) for journey in journeys_by_id.values() for trigger in journey.triggers
    )

    return CatalogSnapshot(
        agent=agent,
        version=content_digest(
            agent,
            tuple(by_id.values()),
            edges,
            tuple(tools_by_id.values()),
            tuple(canned_by_id.values()),
            tuple(terms_by_id.values()),
            tuple(variables_by_id.values()),
            *((tuple(journeys_by_id.values()),) if journeys_by_id else ()),
        ),
        rules=MappingProxyType(by_id),
        relations=edges,
        tools=MappingProxyType(tools_by_id),
        canned_responses=MappingProxyType(canned_by_id),
        terms=MappingProxyType(terms_by_id),
        variables=MappingProxyType(variables_by_id),
        bindings=MappingProxyType(functions),
        annotations=MappingProxyType(dict(annotations or {})),
        bypass=tuple(
            rule.id for rule in by_id.values() if rule.enabled and rule.bypasses_discovery
        ),
        outgoing=outgoing,
        incoming=incoming,
        carriers=MappingProxyType(carried),
        consequential=frozenset(
            rule.id
            for rule in by_id.values()
            if rule.id in triggered
            or _has_consequences(rule, outgoing.get(rule.id, ()), incoming.get(rule.id, ()))
        ),
        journeys=MappingProxyType(journeys_by_id),
        journey_of=MappingProxyType(
            {node.id: journey.id for journey in journeys_by_id.values() for node in journey.nodes}
        ),
        triggered=triggered,
        guarded=_grouped(
            (tool, rule.id)
            for rule in by_id.values()
            if rule.enabled
            for tool in dict.fromkeys(rule.guards)
        ),
    )


def _names(rules: Iterable[Rule], journeys: Iterable[Journey]) -> Mapping[Subject, str]:
    """Return what people call each thing that can be an end of a relation."""
    found: dict[Subject, str] = {rule.id: rule.name for rule in rules}
    for journey in journeys:
        found[journey.id] = journey.name
        found.update((node.id, node.name) for node in journey.nodes)
    return found


def _carriers(
    rules: Iterable[Rule], journeys: Iterable[Journey]
) -> Mapping[TagId, tuple[Subject, ...]]:
    def pairs() -> Iterable[tuple[TagId, Subject]]:
        for rule in rules:
            yield from ((tag, rule.id) for tag in sorted(rule.tags))
        for journey in journeys:
            yield from ((tag, journey.id) for tag in sorted(journey.tags))
            for node in journey.nodes:
                yield from ((tag, node.id) for tag in sorted(node.tags))

    return _grouped(pairs())


def _grouped(pairs: Iterable[tuple[K, V]]) -> Mapping[K, tuple[V, ...]]:
    found: dict[K, list[V]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return MappingProxyType({key: tuple(values) for key, values in found.items()})


def _check_names(
    rules: Iterable[Rule],
    tools: Mapping[ToolId, Tool],
    canned: Mapping[CannedResponseId, CannedResponse],
    variables: Iterable[Variable],
) -> None:
    for rule in rules:
        thing = f"{rule.kind.value} {rule.name!r}"
        for field in ("tools", "guards"):
            for tool in getattr(rule, field):
                if tool not in tools:
                    raise InvalidValueError(thing, field, f"names the unknown tool {tool!r}")
        for response in rule.canned_responses:
            if response not in canned:
                raise InvalidValueError(
                    thing, "canned_responses", f"names the unknown response {response!r}"
                )
    for variable in variables:
        if variable.tool is not None and variable.tool not in tools:
            raise InvalidValueError(
                f"variable {variable.name!r}", "tool", f"names the unknown tool {variable.tool!r}"
            )


def _check_journeys(journeys: Iterable[Journey], rules: Mapping[RuleId, Rule]) -> None:
    nodes: dict[NodeId, Journey] = {}
    for journey in journeys:
        thing = f"journey {journey.name!r}"
        for trigger in journey.triggers:
            if trigger not in rules:
                raise InvalidValueError(thing, "triggers", f"names the unknown rule {trigger!r}")
        for node in journey.nodes:
            other = nodes.setdefault(node.id, journey)
            if other is not journey:
                raise InvalidValueError(
                    thing, "nodes", f"hold {node.id!r}, which is a node of {other.name!r} too"
                )


def _check_relations(
    relations: Iterable[Relation], names: Mapping[Subject, str], tools: Mapping[ToolId, Tool]
) -> None:
    for relation in relations:
        for field in ("source", "target"):
            end = getattr(relation, field)
            is_tool = relation.kind is RelationKind.OVERLAP or (
                relation.kind is RelationKind.REEVALUATION and field == "target"
            )
            if is_tool and end not in tools:
                raise InvalidValueError(
                    f"{relation.kind.value} relation", field, f"names the unknown tool {end!r}"
                )
            if not is_tool and not isinstance(end, TagEnd) and end not in names:
                raise InvalidValueError(
                    f"{relation.kind.value} relation", field, f"names the unknown rule {end!r}"
                )


def _adjacency(
    relations: Sequence[Relation], carriers: Mapping[TagId, Sequence[Subject]]
) -> tuple[Mapping[Subject, tuple[Relation, ...]], Mapping[Subject, tuple[Relation, ...]]]:
    return (
        _grouped((each, edge) for edge in relations for each in _members(edge.source, carriers)),
        _grouped(
            (each, edge)
            for edge in relations
            if edge.kind not in OF_TOOLS
            for each in _members(edge.target, carriers)
        ),
    )


def _members(end: End, carriers: Mapping[TagId, Sequence[Subject]]) -> Sequence[Subject]:
    return carriers.get(end.tag, ()) if isinstance(end, TagEnd) else (end,)  # type: ignore[return-value]


def _has_consequences(
    rule: Rule, outgoing: Sequence[Relation], incoming: Sequence[Relation]
) -> bool:
    return bool(
        rule.tools
        or outgoing
        or any(
            relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY)
            for relation in incoming
        )
        or rule.effort is not None
        or rule.composition_mode is not None
        or rule.labels
        or rule.guards
        or rule.rank is not None
        or rule.on_selected
        or rule.on_message
        or rule.always_judged
    )


_ACYCLIC = (
    ("dependency", frozenset({RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY})),
    ("priority or exclusion", frozenset({RelationKind.PRIORITY, RelationKind.EXCLUSION})),
)


def _refuse_cycles(
    names: Mapping[Subject, str],
    relations: Sequence[Relation],
    carriers: Mapping[TagId, Sequence[Subject]],
) -> None:
    for what, kinds in _ACYCLIC:
        graph: dict[Subject, list[Subject]] = defaultdict(list)
        for relation in relations:
            if relation.kind in kinds:
                for source in _members(relation.source, carriers):
                    for target in _members(relation.target, carriers):
                        # A rule that carries the tag it points at does not point at itself.
                        if source != target:
                            graph[source].append(target)
        path = find_cycle(graph)
        if path:
            raise InvalidValueError(
                "relations",
                what,
                "form a cycle: " + " → ".join(repr(names[each]) for each in path),
            )


def find_cycle(graph: Mapping[K, Sequence[K]]) -> tuple[K, ...]:
    """Return a cycle of `graph` as a path that ends where it begins, or an empty tuple."""
    done: set[K] = set()
    for start in graph:
        if start in done:
            continue
        path: list[K] = [start]
        on_path = {start}
        branches = [iter(graph[start])]
        while branches:
            following = next(branches[-1], None)
            if following is None:
                branches.pop()
                finished = path.pop()
                on_path.discard(finished)
                done.add(finished)
            elif following in on_path:
                return (*path[path.index(following) :], following)
            elif following not in done:
                path.append(following)
                on_path.add(following)
                branches.append(iter(graph.get(following, ())))
    return ()
