"""Handlers given to an application, as inline plugins: served by the same caller as any other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from poise.errors import InvalidValueError
from poise.hooks.markers import PROJECT, hookimpl

_MARK = f"{PROJECT}_impl"


def inline_plugins(given: Iterable[object]) -> tuple[object, ...]:
    """Return one plugin per handler, in order.

    Args:
        given: Functions named as the hook that they implement, or objects and modules with
            hookimpls.

    Raises:
        InvalidValueError: Something is neither.
    """
    return tuple(
        _HandlerPlugin(each) if inspect.isroutine(each) else _checked(each) for each in given
    )


class _HandlerPlugin:
    """A plugin of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        marked = getattr(function, "__func__", function)  # a method can't carry the mark itself
        if not hasattr(marked, _MARK):
            hookimpl(marked)
        self.__name__ = f"{function.__module__}:{function.__qualname__}"
        setattr(self, function.__name__, function)


def _checked(given: object) -> object:
    if any(hasattr(getattr(given, name, None), _MARK) for name in dir(given)):
        return given
    raise InvalidValueError(
        "application",
        "hooks",
        f"holds {given!r}, which implements no hook; put @poise.hookimpl above its functions",
    )
