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
from poise.values.ids import CannedResponseId, RuleId, TagId, TermId, ToolId, VariableId
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
    """

    way_in: WayIn
    continuous: bool = False
    customer_dependent: bool = False
    agent_intention: bool = False
    signals: tuple[str, ...] = ()


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
        outgoing: By rule, the relations it is a source of, itself or through a tag.
        incoming: By rule, the relations it is a target of, itself or through a tag.
        carriers: By tag, the rules that carry it.
        consequential: The rules whose match has consequences beyond being read, in any mode.
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
    outgoing: Mapping[RuleId, tuple[Relation, ...]]
    incoming: Mapping[RuleId, tuple[Relation, ...]]
    carriers: Mapping[TagId, tuple[RuleId, ...]]
    consequential: frozenset[RuleId]

    def members(self, end: End) -> tuple[RuleId, ...]:
        """Return the rules that an end of a relation stands for; unknown ends stand for none."""
        if isinstance(end, TagEnd):
            return self.carriers.get(end.tag, ())
        return (end,) if end in self.rules else ()

    def needed_by(self, rule: RuleId) -> tuple[RuleId, ...]:
        """Return the rules that `rule` directly depends on, each once, in declared order."""
        found: dict[RuleId, None] = {}
        for relation in self.outgoing.get(rule, ()):
            if relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY):
                for target in self.members(relation.target):
                    if target != rule:
                        found[target] = None
        return tuple(found)

    def with_needs(self, rules: Iterable[RuleId]) -> tuple[RuleId, ...]:
        """Return the rules and whatever they depend on, directly or not, each once."""
        found: dict[RuleId, None] = {}
        waiting = list(reversed(list(rules)))
        while waiting:
            rule = waiting.pop()
            if rule not in found:
                found[rule] = None
                waiting.extend(reversed(self.needed_by(rule)))
        return tuple(found)

    def dependents_of(self, rule: RuleId) -> tuple[RuleId, ...]:
        """Return the rules that directly depend on `rule`, each once, in declared order."""
        found: dict[RuleId, None] = {}
        for relation in self.incoming.get(rule, ()):
            if relation.kind in (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY):
                for source in self.members(relation.source):
                    if source != rule:
                        found[source] = None
        return tuple(found)

    def tool_named(self, name: str) -> Tool | None:
        """Return the tool called `name`, or `None`."""
        return next((tool for tool in self.tools.values() if tool.name == name), None)


def compile_catalog(
    agent: Agent,
    *,
    rules: Iterable[Rule] = (),
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
    edges = tuple(dict.fromkeys(relations))
    tools_by_id = {tool.id: tool for tool in tools}
    canned_by_id = {canned.id: canned for canned in canned_responses}
    terms_by_id = {term.id: term for term in terms}
    variables_by_id = {variable.id: variable for variable in variables}
    functions = dict(bindings or {})
    _check_names(by_id.values(), edges, tools_by_id, canned_by_id, variables_by_id.values())

    carriers: dict[TagId, list[RuleId]] = defaultdict(list)
    for rule in by_id.values():
        for tag in sorted(rule.tags):
            carriers[tag].append(rule.id)
    carried = {tag: tuple(found) for tag, found in carriers.items()}
    outgoing, incoming = _adjacency(edges, carried)
    _refuse_cycles(by_id, edges, carried)

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
            if _has_consequences(rule, outgoing.get(rule.id, ()), incoming.get(rule.id, ()))
        ),
    )


def _check_names(
    rules: Iterable[Rule],
    relations: Iterable[Relation],
    tools: Mapping[ToolId, Tool],
    canned: Mapping[CannedResponseId, CannedResponse],
    variables: Iterable[Variable],
) -> None:
    known: set[str] = set()
    for rule in rules:
        known.add(rule.id)
        thing = f"{rule.kind.value} {rule.name!r}"
        for tool in rule.tools:
            if tool not in tools:
                raise InvalidValueError(thing, "tools", f"names the unknown tool {tool!r}")
        for response in rule.canned_responses:
            if response not in canned:
                raise InvalidValueError(
                    thing, "canned_responses", f"names the unknown response {response!r}"
                )
    for relation in relations:
        for field in ("source", "target"):
            end = getattr(relation, field)
            if not isinstance(end, TagEnd) and end not in known:
                raise InvalidValueError(
                    f"{relation.kind.value} relation", field, f"names the unknown rule {end!r}"
                )
    for variable in variables:
        if variable.tool is not None and variable.tool not in tools:
            raise InvalidValueError(
                f"variable {variable.name!r}", "tool", f"names the unknown tool {variable.tool!r}"
            )


K = TypeVar("K")


def _adjacency(
    relations: Sequence[Relation], carriers: Mapping[TagId, Sequence[RuleId]]
) -> tuple[Mapping[RuleId, tuple[Relation, ...]], Mapping[RuleId, tuple[Relation, ...]]]:
    outgoing: dict[RuleId, list[Relation]] = defaultdict(list)
    incoming: dict[RuleId, list[Relation]] = defaultdict(list)
    for relation in relations:
        for rule in _members(relation.source, carriers):
            outgoing[rule].append(relation)
        for rule in _members(relation.target, carriers):
            incoming[rule].append(relation)
    return (
        MappingProxyType({rule: tuple(found) for rule, found in outgoing.items()}),
        MappingProxyType({rule: tuple(found) for rule, found in incoming.items()}),
    )


def _members(end: End, carriers: Mapping[TagId, Sequence[RuleId]]) -> Sequence[RuleId]:
    return carriers.get(end.tag, ()) if isinstance(end, TagEnd) else (end,)


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
        or rule.on_selected
        or rule.on_message
        or rule.always_judged
    )


_ACYCLIC = (
    ("dependency", frozenset({RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY})),
    ("priority or exclusion", frozenset({RelationKind.PRIORITY, RelationKind.EXCLUSION})),
)


def _refuse_cycles(
    rules: Mapping[RuleId, Rule],
    relations: Sequence[Relation],
    carriers: Mapping[TagId, Sequence[RuleId]],
) -> None:
    for what, kinds in _ACYCLIC:
        graph: dict[RuleId, list[RuleId]] = defaultdict(list)
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
                "form a cycle: " + " → ".join(repr(rules[rule].name) for rule in path),
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
