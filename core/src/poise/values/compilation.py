"""From declarations to a catalog: all that is named exists, and no relations form a cycle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from poise.errors import InvalidValueError
from poise.values.agents import Agent
from poise.values.canned import CannedResponse
from poise.values.catalog import Annotation, Binding, CatalogSnapshot
from poise.values.digests import content_digest
from poise.values.ids import CannedResponseId, NodeId, RuleId, Subject, TagId, ToolId
from poise.values.journeys import Journey
from poise.values.relationships import OF_TOOLS, End, Relation, RelationKind, TagEnd
from poise.values.rules import Rule
from poise.values.terms import Term
from poise.values.tools import Tool
from poise.values.variables import Variable

K = TypeVar("K")
V = TypeVar("V")


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
    outgoing, incoming = adjacency(edges, carried)
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


def adjacency(
    relations: Sequence[Relation], carriers: Mapping[TagId, Sequence[Subject]]
) -> tuple[Mapping[Subject, tuple[Relation, ...]], Mapping[Subject, tuple[Relation, ...]]]:
    """Return the relations by what they lead from and by what they lead to, tags spelt out."""
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
