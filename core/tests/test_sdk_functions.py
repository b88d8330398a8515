"""How an author's functions are named, and when two of them are the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from poise.errors import InvalidValueError
from poise.sdk.functions import FunctionNames, same_function


async def matcher(turn: object) -> bool:
    return True


def made(value: object) -> Callable[..., Any]:
    return lambda: value


class Desk:
    async def judge(self, turn: object) -> bool:
        return True

    async def __call__(self, turn: object) -> bool:
        return True


def name(names: FunctionNames, function: object) -> str:
    return names.name("rule", "matcher", function)


def test_name_says_where_the_function_stands() -> None:
    assert name(FunctionNames(), matcher) == f"{__name__}:matcher"


def test_function_keeps_its_name() -> None:
    names = FunctionNames()

    assert name(names, matcher) == name(names, matcher)
    assert len(names.bindings) == 1


def test_functions_that_share_a_place_are_numbered_in_order() -> None:
    names = FunctionNames()

    found = [name(names, made(value)) for value in ("a", "b", "a")]

    assert found == [
        f"{__name__}:made.<locals>.<lambda>",
        f"{__name__}:made.<locals>.<lambda>#2",
        f"{__name__}:made.<locals>.<lambda>",
    ]


@pytest.mark.parametrize("function", [Desk().judge, Desk(), functools.partial(matcher, 1)])
def test_methods_objects_and_partials_have_names(function: object) -> None:
    names = FunctionNames()

    assert name(names, function).startswith(f"{__name__}:")


def test_what_can_not_be_called_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="can't be called"):
        name(FunctionNames(), 3)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (made(1), made(1), True),
        (made(1), made(2), False),
        (made(made(1)), made(made(1)), True),
        (functools.partial(matcher, 1), functools.partial(matcher, 1), True),
        (functools.partial(matcher, 1), functools.partial(matcher, 2), False),
        (Desk().judge, Desk().judge, False),
        (matcher, made(1), False),
    ],
)
def test_functions_are_the_same_when_they_do_the_same(
    one: object, other: object, same: bool
) -> None:
    assert same_function(one, other) is same


def test_functions_that_refer_to_themselves_are_compared_once() -> None:
    def recursive() -> Callable[..., Any]:
        def again() -> Any:
            return again

        return again

    assert same_function(recursive(), recursive())
