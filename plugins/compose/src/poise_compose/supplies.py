"""What could fill the fields of a catalog's templates, as far as the catalog alone can tell."""

from __future__ import annotations

from collections.abc import Iterable

from poise.values.catalog import CatalogSnapshot
from poise.values.rules import Rule
from poise_compose.asking import ASKS_FOR

_STANDARD = frozenset({"std.customer.name", "std.agent.name"}) | ASKS_FOR


class Supplies:
    """Says of a field's name where a value could come from; see `Fields` for where it does."""

    def __init__(self, catalog: CatalogSnapshot) -> None:
        self._catalog = catalog
        self._variables = {variable.name for variable in catalog.variables.values()}
        offered = {tool for rule in catalog.rules.values() if rule.enabled for tool in rule.tools}
        self._is_offering = bool(offered)
        self._arguments = {
            parameter.name for tool in offered for parameter in catalog.tools[tool].parameters
        }

    def has(self, name: str) -> bool:
        """Say whether the catalog names something that supplies the field.

        A name with dots counts by its first part: what a record holds shows only on a turn.
        """
        first, *rest = name.split(".")
        if first == "generic":
            return True  # a language model's part, which is another check's business
        if first == "std":
            by_variable = rest[:1] == ["variables"] and len(rest) > 1
            return name in _STANDARD or (by_variable and rest[1] in self._variables)
        return first in self._variables or first in self._arguments

    def may_come_from_tools(self, name: str) -> bool:
        """Say whether the result of a tool could hold the field, which no catalog tells."""
        return self._is_offering and name.split(".")[0] != "std"

    def has_tools_at_hand(self, rules: Iterable[Rule]) -> bool:
        """Say whether one of `rules`, or a rule that it needs, offers a tool."""
        needed = self._catalog.with_needs(rule.id for rule in rules)
        known = (self._catalog.rules[each] for each in needed)
        return any(rule.enabled and rule.tools for rule in known)
