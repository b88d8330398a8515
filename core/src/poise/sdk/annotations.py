"""Python annotations as the neutral parameters of a tool."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

import attrs

from poise.errors import InvalidValueError
from poise.values.conversion import (
    LISTS,
    is_pydantic,
    is_record,
    members_of,
    optional_keys,
    record_types,
    stripped,
    to_json,
)
from poise.values.tools import ArgumentSource, Parameter, ParameterKind

_MISSING: Any = object()  # no default at all, where `None` is one
_DEEPEST = 5

_SCALARS = {
    str: ParameterKind.STRING,
    bool: ParameterKind.BOOLEAN,
    int: ParameterKind.INTEGER,
    float: ParameterKind.NUMBER,
    Decimal: ParameterKind.NUMBER,
    date: ParameterKind.DATE,
    datetime: ParameterKind.DATETIME,
}


def _tuple(value: Iterable[str | int | float]) -> tuple[str | int | float, ...]:
    return tuple(value)


@attrs.frozen
class ToolParameter:
    """What `Annotated[T, ToolParameter(...)]` adds to a parameter beyond its type.

    Attributes:
        description: What it means; wins over the docstring.
        pattern: A regular expression that a text matches as a whole; ids are found by it.
        source: Where the argument may come from; default ANY.
        precedence: Lower numbers are asked for first.
        question: What the agent asks when the argument is missing.
        choices: The only values allowed.
    """

    description: str = ""
    pattern: str | None = None
    source: ArgumentSource = ArgumentSource.ANY
    precedence: int = 0
    question: str | None = None
    choices: tuple[str | int | float, ...] = attrs.field(default=(), converter=_tuple)


def parameter_of(
    name: str,
    annotation: Any,
    *,
    where: str,
    default: Any = _MISSING,
    description: str = "",
    depth: int = 0,
) -> Parameter:
    """Return the parameter that `annotation` describes.

    `T | None` without a default is required and may be `None`; with one it is optional.

    Args:
        name: The parameter's name.
        annotation: Resolved, `Annotated` kept.
        where: What errors call the place, e.g. `tool 'freeze_card'`.
        default: The function's own default; left out when there is none.
        description: What the docstring says.
        depth: How many records are around it.

    Raises:
        InvalidValueError: No neutral type fits; it names the place, the parameter and the mend.
    """
    field = f"parameter {name!r}"
    options = _options(annotation)
    kind = stripped(annotation)
    members = [stripped(each) for each in members_of(kind)]
    nullable = type(None) in members
    members = [each for each in members if each is not type(None)]
    if len(members) == 1 and get_origin(members[0]) is Literal:
        literals = get_args(members[0])
        nullable = nullable or None in literals
        members = [Literal[tuple(each for each in literals if each is not None)]]
    if set(members) <= {int, float} and len(members) > 1:
        members = [float]
    if len(members) != 1:
        raise InvalidValueError(
            where, field, f"has the type {_named(annotation)}; only `T | None` can be a union"
        )
    made = _of_kind(members[0], field, where, depth)
    if options.choices:
        made = attrs.evolve(made, choices=options.choices)
    required = default is _MISSING
    plain = None if required else to_json(default)
    _check(made, options, plain, field=field, where=where)
    return attrs.evolve(
        made,
        name=name,
        description=options.description or description,
        required=required,
        nullable=nullable,
        default=plain,
        pattern=options.pattern,
        source=options.source,
        precedence=options.precedence,
        question=options.question,
    )


def _options(annotation: Any) -> ToolParameter:  # any annotation
    while get_origin(annotation) is Annotated:
        for extra in get_args(annotation)[1:]:
            if isinstance(extra, ToolParameter):
                return extra
        annotation = get_args(annotation)[0]
    return ToolParameter()


def _of_kind(kind: Any, field: str, where: str, depth: int) -> Parameter:  # any annotation
    origin = get_origin(kind) or kind
    if kind in _SCALARS:
        return Parameter("", _SCALARS[kind])
    if origin is Literal:
        return _chosen(get_args(kind), field, where)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _chosen([each.value for each in kind], field, where)
    if origin in LISTS:
        return _list(kind, field, where, depth)
    if is_record(kind) or is_pydantic(kind):
        if depth >= _DEEPEST:
            raise InvalidValueError(
                where, field, f"nests records more than {_DEEPEST} deep; flatten {_named(kind)}"
            )
        return Parameter("", ParameterKind.RECORD, fields=_fields(kind, where, depth))
    raise InvalidValueError(
        where,
        field,
        f"has the type {_named(kind)}, which no tool call can carry; use str, int, float, bool, "
        f"Decimal, date, datetime, an Enum, a Literal, a list of these, or a dataclass, attrs "
        f"class, TypedDict or pydantic model",
    )


def _chosen(values: Iterable[Any], field: str, where: str) -> Parameter:
    choices = tuple(values)
    kinds = {type(each) for each in choices}
    if kinds == {str}:
        return Parameter("", ParameterKind.STRING, choices=choices)
    if kinds == {int}:
        return Parameter("", ParameterKind.INTEGER, choices=choices)
    if kinds and kinds <= {int, float}:
        return Parameter("", ParameterKind.NUMBER, choices=choices)
    raise InvalidValueError(
        where, field, "has choices of several types; make them all texts or all numbers"
    )


def _list(kind: Any, field: str, where: str, depth: int) -> Parameter:  # a list's annotation
    arguments = get_args(kind)
    fixed = get_origin(kind) is tuple and (len(arguments) != 2 or arguments[1] is not Ellipsis)
    if not arguments or fixed:
        raise InvalidValueError(
            where, field, f"has the type {_named(kind)}; say of what, e.g. list[str]"
        )
    item = parameter_of("item", arguments[0], where=f"{where}: {field}", depth=depth)
    return Parameter("", ParameterKind.LIST, items=item)


def _fields(record: Any, where: str, depth: int) -> tuple[Parameter, ...]:  # a record's class
    place = f"{where}: {record.__name__}"
    found: list[Parameter] = []
    for name, annotation, default, description in _declared(record, place):
        found.append(
            parameter_of(
                name,
                annotation,
                where=place,
                default=default,
                description=description,
                depth=depth + 1,
            )
        )
    return tuple(found)


def _declared(record: Any, place: str) -> list[tuple[str, Any, Any, str]]:
    """Return each field's name as an argument, its annotation, its default and its description."""
    if is_pydantic(record):
        return [
            (
                field.alias or name,
                Annotated[(field.annotation, *field.metadata)]
                if field.metadata
                else field.annotation,
                _MISSING if field.is_required() else field.get_default(call_default_factory=True),
                field.description or "",
            )
            for name, field in record.model_fields.items()
        ]
    try:
        hints = record_types(record)
    except NameError as exc:
        raise InvalidValueError(
            place, "fields", f"can't be read: {exc}; import it at run time, at module level"
        ) from exc
    defaults = _defaults(record)
    return [
        (name, annotation, defaults.get(name, _MISSING), "") for name, annotation in hints.items()
    ]


def _defaults(record: Any) -> dict[str, Any]:  # a dataclass, attrs class or TypedDict
    found: dict[str, Any] = {}
    if attrs.has(record):
        for field in attrs.fields(record):
            name = field.alias or field.name
            if isinstance(field.default, attrs.Factory) and not field.default.takes_self:  # type: ignore[arg-type]  # stubs call the class a function
                found[name] = field.default.factory()
            elif field.default is not attrs.NOTHING:
                found[name] = field.default
    elif dataclasses.is_dataclass(record):
        for each in dataclasses.fields(record):
            if each.default is not dataclasses.MISSING:
                found[each.name] = each.default
            elif each.default_factory is not dataclasses.MISSING:
                found[each.name] = each.default_factory()
    else:
        found = dict.fromkeys(optional_keys(record))
    return found


def _check(
    made: Parameter, options: ToolParameter, default: Any, *, field: str, where: str
) -> None:
    if options.pattern is not None:
        if made.kind is not ParameterKind.STRING:
            raise InvalidValueError(where, field, "has a pattern, which is for texts alone")
        try:
            re.compile(options.pattern)
        except re.error as exc:
            raise InvalidValueError(
                where,
                field,
                f"has the pattern {options.pattern!r}, which is no regular expression: {exc}",
            ) from exc
    if made.choices and default is not None and default not in made.choices:
        raise InvalidValueError(
            where, field, f"defaults to {default!r}, which is not one of its choices"
        )


def _named(annotation: Any) -> str:  # any annotation
    return inspect.formatannotation(annotation)
