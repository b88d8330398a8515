"""A network of gates with negation, and its well-founded model.

A gate is true when every one (or any one) of its inputs is; an input may be negated. Gates may
feed each other in circles, so a network is a normal logic program: its well-founded model (Van
Gelder, Ross, Schlipf 1991) is computed by the alternating fixpoint (Van Gelder 1993), one strongly
connected component after the other, inputs first. A component without a circle through a negation
takes time linear in its size; the others at most quadratic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

FALSE, UNDEFINED, TRUE = 0, 1, 2
"""Truth values, ordered so that min, max and `TRUE - value` are and, or and not."""

NEVER, ALWAYS = 0, 1
"""The gates that every network has: one that is false, and one that is true."""


class Network:
    """Gates, numbered from 0 in the order in which they are added.

    An input is the number of a gate, or its complement (`~gate`) for the negation.
    """

    def __init__(self) -> None:
        self._every: list[bool] = [False, True]
        self._inputs: list[tuple[int, ...]] = [(), ()]

    def any_of(self, inputs: Iterable[int]) -> int:
        """Return a gate that is true when one of `inputs` is; without any it never is."""
        found = tuple(inputs)
        if not found:
            return NEVER
        if len(found) == 1 and found[0] >= 0:
            return found[0]
        return self._add(found, every=False)

    def all_of(self, inputs: Iterable[int]) -> int:
        """Return a gate that is true when all of `inputs` are; without any it always is."""
        found = tuple(inputs)
        if not found:
            return ALWAYS
        if len(found) == 1 and found[0] >= 0:
            return found[0]
        return self._add(found, every=True)

    def reserve(self) -> int:
        """Return a gate whose inputs are given later, so that gates can feed each other."""
        return self._add((), every=True)

    def connect(self, gate: int, inputs: Iterable[int]) -> None:
        """Make a reserved gate true when all of `inputs` are."""
        self._inputs[gate] = tuple(inputs)

    def _add(self, inputs: tuple[int, ...], *, every: bool) -> int:
        self._every.append(every)
        self._inputs.append(inputs)
        return len(self._inputs) - 1

    def solve(self) -> Sequence[int]:
        """Return the truth value of every gate in the well-founded model."""
        values = [FALSE] * len(self._inputs)
        sources = [_gates(inputs) for inputs in self._inputs]
        for component in components(sources):
            gate = component[0]
            if len(component) == 1 and gate not in sources[gate]:
                values[gate] = self._evaluate(gate, values)
            else:
                self._alternate(component, values)
        return values

    def _evaluate(self, gate: int, values: Sequence[int]) -> int:
        known = [_read(literal, values) for literal in self._inputs[gate]]
        if self._every[gate]:
            return min(known, default=TRUE)
        return max(known, default=FALSE)

    def _alternate(self, component: Sequence[int], values: list[int]) -> None:
        """Settle gates that feed each other, from below and from above until they stand still."""
        members = frozenset(component)
        negates_itself = any(
            literal < 0 and ~literal in members
            for gate in component
            for literal in self._inputs[gate]
        )
        certain: Collection[int] = frozenset()
        while True:
            possible = self._least(members, certain, UNDEFINED, values)
            found = self._least(members, possible, TRUE, values)
            if not negates_itself or len(found) == len(certain):
                break
            certain = found
        for gate in component:
            values[gate] = TRUE if gate in found else UNDEFINED if gate in possible else FALSE

    def _least(
        self, members: frozenset[int], assumed: Collection[int], enough: int, values: Sequence[int]
    ) -> Collection[int]:
        """Return the gates that must be true when, of `members`, negation sees `assumed` alone.

        Args:
            members: The gates to settle.
            assumed: Those that count as true where they are negated.
            enough: The least value of a gate outside that counts as true.
            values: Of the gates outside, which are settled already.
        """
        waiting_for: dict[int, int] = {}
        users: dict[int, list[int]] = {}
        true: set[int] = set()
        fresh: list[int] = []
        for gate in members:
            every = self._every[gate]
            open_inputs: list[int] = []
            decided = every  # an `every` gate with nothing open is true, an `any` gate false
            for literal in self._inputs[gate]:
                source = literal if literal >= 0 else ~literal
                if source not in members:
                    holds = _read(literal, values) >= enough
                elif literal < 0:
                    holds = source not in assumed
                else:
                    open_inputs.append(source)
                    continue
                if holds is not every:
                    decided = holds
                    open_inputs.clear()
                    break
            if open_inputs:
                waiting_for[gate] = len(open_inputs) if every else 1
                for source in open_inputs:
                    users.setdefault(source, []).append(gate)
            elif decided:
                true.add(gate)
                fresh.append(gate)
        while fresh:
            for user in users.get(fresh.pop(), ()):
                waiting_for[user] -= 1
                if waiting_for[user] == 0:
                    true.add(user)
                    fresh.append(user)
        return true


def _read(literal: int, values: Sequence[int]) -> int:
    return values[literal] if literal >= 0 else TRUE - values[~literal]


def _gates(literals: Iterable[int]) -> list[int]:
    return [literal if literal >= 0 else ~literal for literal in literals]


def components(following: Sequence[Sequence[int]]) -> Iterable[list[int]]:
    """Yield the strongly connected components of a graph, each after all that it leads to.

    Tarjan's algorithm (1972), with its own stack: no depth of a chain is too great.

    Args:
        following: By node, the nodes that it leads to.
    """
    seen = [0] * len(following)  # 0 for a node not met yet, else its place in the order met
    lowest = [0] * len(following)
    is_open = [False] * len(following)
    opened: list[int] = []
    met = 0
    for root in range(len(following)):
        if seen[root]:
            continue
        path = [(root, iter(following[root]))]
        met += 1
        seen[root] = lowest[root] = met
        opened.append(root)
        is_open[root] = True
        while path:
            node, rest = path[-1]
            for other in rest:
                if not seen[other]:
                    met += 1
                    seen[other] = lowest[other] = met
                    opened.append(other)
                    is_open[other] = True
                    path.append((other, iter(following[other])))
                    break
                if is_open[other]:
                    lowest[node] = min(lowest[node], seen[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == seen[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(opened.pop())
                        is_open[component[-1]] = False
                    yield component
