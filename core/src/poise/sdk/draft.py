"""What has been declared for one agent so far, and its compilation into a catalog."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import attrs

from poise.errors import DuplicateKeyError, InvalidValueError
from poise.sdk.cycles import Edges
from poise.sdk.functions import Function, FunctionNames, same_function
from poise.values.agents import Agent
from poise.values.canned import CannedResponse
from poise.values.catalog import CatalogSnapshot
from poise.values.compilation import compile_catalog
from poise.values.ids import Subject
from poise.values.relationships import Relation
from poise.values.rules import Rule
from poise.values.terms import Term
from poise.values.tools import Tool
from poise.values.variables import Variable

Entity = Rule | Tool | CannedResponse | Term | Variable
"""What a draft holds."""

E = TypeVar("E", bound=Entity)


@attrs.frozen
class Declaration:
    """Something to be declared.

    Attributes:
        key: What the author calls it, for messages.
        value: The entity; its id follows from its key.
        needs: Relations that are given with a rule.
        function: What is behind a tool.
    """

    key: str
    value: Entity
    needs: tuple[Relation, ...] = ()
    function: Function | None = attrs.field(default=None, eq=False)


@attrs.frozen
class _Kept:
    """A declaration, and where the author wrote it."""

    declaration: Declaration
    place: str


@attrs.frozen
class Mark:
    """What a draft held at a moment."""

    revision: int
    kept: Mapping[str, _Kept]
    relations: tuple[Relation, ...]
    functions: Mapping[str, Function]


class Draft:
    """Collects what is declared for one agent; declaring the same twice changes nothing.

    Attributes:
        agent: Whose.
        place: Where the agent was declared.
        revision: Grows with every change.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.place = author_place()
        self.revision = 1
        self._kept: dict[str, _Kept] = {}
        self._relations: dict[Relation, None] = {}
        self._edges = Edges()
        self._functions = FunctionNames()

    def add(self, *declarations: Declaration) -> None:
        """Add declarations: all of them, or none.

        Raises:
            DuplicateKeyError: A key was declared before, with different content.
            InvalidValueError: A relation names a rule that is not here.
        """
        place = author_place()
        new: dict[str, _Kept] = {}
        for each in declarations:
            known = new.get(each.value.id) or self._kept.get(each.value.id)
            if known is None:
                new[each.value.id] = _Kept(each, place)
                continue
            difference = _difference(known.declaration, each)
            if difference:
                raise self._duplicate(each, difference, first_at=known.place, second_at=place)
        needs = [need for kept in new.values() for need in kept.declaration.needs]
        self._check_ends(needs, new)
        self._kept.update(new)
        # Nothing points at a rule that is new, so what it needs closes no cycle.
        self._relations.update(dict.fromkeys(needs))
        for need in needs:
            self._edges.add(need)
        self.revision += len(new)

    def bind(self, thing: str, field: str, function: object) -> str:
        """Return the name under which the catalog knows `function`.

        Raises:
            InvalidValueError: It can't be called.
        """
        return self._functions.name(thing, field, function)

    def relate(self, *relations: Relation) -> None:
        """Add relations: all of them, or none.

        Raises:
            InvalidValueError: Dependencies, or priorities and exclusions, would form a cycle; or
                an end is no rule of this agent.
        """
        new = [each for each in dict.fromkeys(relations) if each not in self._relations]
        self._check_ends(new, self._kept)
        for each in new:
            path = self._edges.cycle_closed_by(each)
            if path:
                self._edges = Edges(self._relations)
                names = " → ".join(repr(self._rule_name(rule)) for rule in path)
                raise InvalidValueError(
                    f"agent {self.agent.name!r}",
                    f"{each.kind.value} relations",
                    f"form a cycle: {names}",
                )
            self._edges.add(each)
        self._relations.update(dict.fromkeys(new))
        self.revision += len(new)

    def find(self, kind: type[E], wanted: str) -> E | None:
        """Return the entity of that id, or `None`."""
        kept = self._kept.get(wanted)
        value = kept.declaration.value if kept else None
        return value if isinstance(value, kind) else None

    def place_of(self, wanted: str) -> str:
        """Return `file:line` where the entity of that id, or the agent, was declared."""
        if wanted == self.agent.id:
            return self.place
        kept = self._kept.get(wanted)
        return kept.place if kept else ""

    def compile(self) -> CatalogSnapshot:
        """Return the catalog of everything declared: the same draft, the same version.

        Raises:
            InvalidValueError: Something names what does not exist, or tags close a cycle.
        """
        return self.compilation()()

    def compilation(self) -> Callable[[], CatalogSnapshot]:
        """Return the compilation of what is declared now; a thread may do it while more is."""
        return functools.partial(
            compile_catalog,
            self.agent,
            rules=self._all(Rule),
            relations=tuple(self._relations),
            tools=self._all(Tool),
            canned_responses=self._all(CannedResponse),
            terms=self._all(Term),
            variables=self._all(Variable),
            bindings={**self._functions.bindings, **self._tool_functions()},
        )

    def mark(self) -> Mark:
        """Return what the draft holds now, for `restore`."""
        return Mark(
            self.revision, dict(self._kept), tuple(self._relations), self._functions.bindings
        )

    def restore(self, mark: Mark) -> None:
        """Hold again what was held when `mark` was made."""
        self.revision = mark.revision
        self._kept = dict(mark.kept)
        self._relations = dict.fromkeys(mark.relations)
        self._edges = Edges(mark.relations)
        self._functions = FunctionNames(mark.functions)

    def _all(self, kind: type[E]) -> list[E]:
        values = (kept.declaration.value for kept in self._kept.values())
        return [value for value in values if isinstance(value, kind)]

    def _tool_functions(self) -> Mapping[str, Function]:
        return {
            kept.declaration.value.id: kept.declaration.function
            for kept in self._kept.values()
            if kept.declaration.function is not None
        }

    def _rule_name(self, rule: Subject) -> str:
        known = self.find(Rule, rule)
        return known.name if known else rule

    def _check_ends(self, relations: Iterable[Relation], new: Mapping[str, _Kept]) -> None:
        for relation in relations:
            for field in ("source", "target"):
                end = getattr(relation, field)
                if isinstance(end, str) and end not in new and end not in self._kept:
                    raise InvalidValueError(
                        f"{relation.kind.value} relation",
                        field,
                        f"names {end!r}, which is no rule of agent {self.agent.name!r}",
                    )

    def _duplicate(
        self, again: Declaration, difference: str, *, first_at: str, second_at: str
    ) -> DuplicateKeyError:
        value = again.value
        kind = value.kind.value if isinstance(value, Rule) else _NAMES[type(value)]
        return DuplicateKeyError(
            f"agent {self.agent.name!r}",
            f"{kind} {again.key!r}",
            f"was declared before with another {difference}",
            first_at=first_at,
            second_at=second_at,
        )


_NAMES = {
    Tool: "tool",
    CannedResponse: "canned response",
    Term: "term",
    Variable: "variable",
}


def _difference(known: Declaration, again: Declaration) -> str:
    """Return the names of the fields in which a second declaration differs, or nothing."""
    fields = [
        field.name
        for field in attrs.fields(type(again.value))
        if getattr(known.value, field.name) != getattr(again.value, field.name)
    ]
    if set(known.needs) != set(again.needs):
        fields.append("dependencies")
    if not same_function(known.function, again.function):
        fields.append("function")
    return " and ".join(fields)


def author_place() -> str:
    """Return `file:line` of the innermost code that is not the SDK's own."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("poise.sdk.") and frame.f_back:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
