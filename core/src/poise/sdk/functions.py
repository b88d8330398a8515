"""Names for the functions that authors give: one per function, the same on every run."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from poise.errors import InvalidValueError

Function = Callable[..., Any]
"""What an author gives: its signature is checked by whoever calls it."""


class FunctionNames:
    """The functions of one agent by name.

    A name is `module:qualname`. Functions that share one (lambdas, closures made in a loop) are
    numbered in the order in which they were first given, so a program names them alike on every
    run. A function that is made again with the same code over the same values is the same one.
    """

    def __init__(self, named: Mapping[str, Function] | None = None) -> None:
        self._named: dict[str, Function] = dict(named or {})

    @property
    def bindings(self) -> Mapping[str, Function]:
        """Every function by its name."""
        return dict(self._named)

    def name(self, thing: str, field: str, function: object) -> str:
        """Return the name of `function`; one that is not known yet gets one.

        Raises:
            InvalidValueError: It can't be called.
        """
        if not callable(function):
            raise InvalidValueError(thing, field, f"is {function!r}, which can't be called")
        plain = _plain_name(function)
        name, count = plain, 1
        while name in self._named:
            if same_function(self._named[name], function):
                return name
            count += 1
            name = f"{plain}#{count}"
        self._named[name] = function
        return name


def same_function(one: object, other: object) -> bool:
    """Say whether two functions do the same: equal, or one code over equal values."""
    return _same(one, other, set())


def _same(one: object, other: object, compared: set[tuple[int, int]]) -> bool:
    pair = (id(one), id(other))
    if one is other or pair in compared:
        return True
    compared.add(pair)  # a function that refers to itself is compared once
    if isinstance(one, functools.partial) and isinstance(other, functools.partial):
        return (
            _same(one.func, other.func, compared)
            and _all_same(one.args, other.args, compared)
            and one.keywords == other.keywords
        )
    if isinstance(one, types.FunctionType) and isinstance(other, types.FunctionType):
        return (
            one.__code__ == other.__code__
            and one.__module__ == other.__module__
            and _all_same(one.__defaults__ or (), other.__defaults__ or (), compared)
            and one.__kwdefaults__ == other.__kwdefaults__
            and _all_same(_enclosed(one), _enclosed(other), compared)
        )
    try:
        return bool(one == other)
    except Exception:
        return False  # values that can't be compared are not known to be the same


def _all_same(
    one: tuple[object, ...], other: tuple[object, ...], compared: set[tuple[int, int]]
) -> bool:
    return len(one) == len(other) and all(
        _same(left, right, compared) for left, right in zip(one, other, strict=True)
    )


def _enclosed(function: types.FunctionType) -> tuple[object, ...]:
    values: list[object] = []
    for cell in function.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:
            values.append(cell)  # not filled yet: the same only as itself
    return tuple(values)


def _plain_name(function: Function) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    named: Any = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"
