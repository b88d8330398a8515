"""Reads what an author wrote: texts, lists, choices, and what may be said under several names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import TypeVar

from poise.errors import InvalidValueError

T = TypeVar("T")
C = TypeVar("C", bound=Enum)


def one(thing: str, **given: T | None) -> T | None:
    """Return what was given under one of several names that mean the same; `None` is absent.

    Raises:
        InvalidValueError: Two of the names were given, with different content.
    """
    present = {name: value for name, value in given.items() if value is not None}
    names = list(present)
    for name in names[1:]:
        if present[name] != present[names[0]]:
            raise InvalidValueError(
                thing,
                name,
                f"means the same as {names[0]}, and says something else; give one of them",
            )
    return present[names[0]] if names else None


def text(thing: str, field: str, value: object) -> str:
    """Return a text that every model and every store can take, otherwise verbatim.

    Raises:
        InvalidValueError: It is no text, or holds a null byte or half a character.
    """
    if not isinstance(value, str):
        raise InvalidValueError(thing, field, f"must be a text, not {_called(value)}")
    if "\0" in value:
        raise InvalidValueError(thing, field, "holds a null byte; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise InvalidValueError(
            thing, field, f"holds half a character at position {exc.start}; remove it"
        ) from None
    return value


def optional_text(thing: str, field: str, value: object) -> str | None:
    """Return a text, or `None` where none was given; an empty one was given.

    Raises:
        InvalidValueError: As `text`.
    """
    return None if value is None else text(thing, field, value)


def texts(thing: str, field: str, value: object) -> tuple[str, ...]:
    """Return a list of texts, each once, in order.

    Raises:
        InvalidValueError: It is one text instead of a list, or one of them is none.
    """
    return tuple(dict.fromkeys(text(thing, field, each) for each in listed(thing, field, value)))


def listed(thing: str, field: str, value: object) -> tuple[object, ...]:
    """Return the entries of a list; `None` is the empty one.

    Raises:
        InvalidValueError: It is no list.
    """
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidValueError(thing, field, f"must be a list, not {_called(value)}")
    return tuple(value)


def alternatives(thing: str, **given: object) -> str | None:
    """Return a condition given under one of several names; a list joins as `a; or b`.

    Raises:
        InvalidValueError: Two names say different things, or one holds no text.
    """
    joined: dict[str, str | None] = {}
    for name, value in given.items():
        if value is None or isinstance(value, str):
            joined[name] = optional_text(thing, name, value)
            continue
        several = texts(thing, name, value)
        if not several:
            raise InvalidValueError(thing, name, "is an empty list; leave it out instead")
        if any(not each.strip() for each in several):
            raise InvalidValueError(thing, name, "holds an empty condition")
        joined[name] = "; or ".join(several)
    return one(thing, **joined)


def choice(thing: str, field: str, value: object, kind: type[C]) -> C:
    """Return a member of an enum, given as itself or by its name in any case.

    Raises:
        InvalidValueError: There is no such member; the message lists them.
    """
    if isinstance(value, kind):
        return value
    name = value.strip().upper().replace("-", "_") if isinstance(value, str) else ""
    if name in kind.__members__:
        return kind[name]
    names = ", ".join(each.lower() for each in kind.__members__)
    raise InvalidValueError(thing, field, f"is {value!r}; it is one of {names}")


def whole(thing: str, field: str, value: object) -> int:
    """Return a whole number.

    Raises:
        InvalidValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidValueError(thing, field, f"must be a whole number, not {_called(value)}")
    return value


def flag(thing: str, field: str, value: object) -> bool:
    """Return a yes or no.

    Raises:
        InvalidValueError: It is neither.
    """
    if not isinstance(value, bool):
        raise InvalidValueError(thing, field, f"must be True or False, not {_called(value)}")
    return value


def text_mapping(thing: str, field: str, value: object) -> Mapping[str, str]:
    """Return a mapping from texts to texts; `None` is the empty one.

    Raises:
        InvalidValueError: It is no mapping, or a key or value is no text.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidValueError(thing, field, f"must be a mapping, not {_called(value)}")
    return {text(thing, field, key): text(thing, field, each) for key, each in value.items()}


def routes(thing: str, field: str, value: object) -> Mapping[str, tuple[str, ...]]:
    """Return the models of each route in order, given as one name or as a list of them.

    Raises:
        InvalidValueError: It is no mapping from texts to texts or lists of texts.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidValueError(thing, field, f"must be a mapping, not {_called(value)}")
    return {
        text(thing, field, route): texts(thing, field, [named] if isinstance(named, str) else named)
        for route, named in value.items()
    }


def refuse_unknown(call: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse keyword arguments that a call does not have.

    Raises:
        TypeError: There is one; the message names the nearest that exists.
    """
    names = sorted(known)
    for name in given:
        if name not in names:
            near = get_close_matches(name, names, n=1)
            mend = f"; did you mean {near[0]!r}?" if near else f"; it takes {', '.join(names)}"
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}{mend}")


def _called(value: object) -> str:
    return "one text" if isinstance(value, str) else type(value).__name__
