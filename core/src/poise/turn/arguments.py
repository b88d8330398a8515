"""Arguments of tool calls, checked against the tool's parameters and turned into Python values.

The check is a strict pydantic model per tool, built once and kept; pydantic is imported with the
first call.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from poise.errors import InvalidValueError
from poise.values.tools import Parameter, ParameterKind, Tool

if TYPE_CHECKING:
    from pydantic import BaseModel

_KEPT_MODELS = 512
_FIELD = "poise_argument_"
_SHOWN = 60  # characters of a refused value that an error quotes
_EXACT_INTEGERS = 2**53  # beyond it a float no longer stands for one whole number


@attrs.define
class ArgumentError(InvalidValueError):
    """A call's arguments do not fit the tool's parameters.

    Attributes:
        problems: For each offending parameter, by its path (`address.city`), what is wrong.
    """

    problems: Mapping[str, str] = attrs.field(factory=dict)

    def __str__(self) -> str:
        found = "; ".join(f"{name} {reason}" for name, reason in self.problems.items())
        return f"{self.thing}: {found}"


def validate_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the call's arguments as normalised JSON values, in declared order.

    Dates become ISO text, and a moment without an offset is taken as UTC. A NUMBER may be whole; a
    BOOLEAN is never a number. What is absent and optional takes its default, in records too.

    Raises:
        ArgumentError: Something is missing, unknown or of another kind; it names every offender.
        InvalidValueError: The tool itself declares a pattern that is no regular expression.
    """
    from pydantic import ValidationError

    try:
        read = _model_of(_Shape(tool)).model_validate(dict(arguments))
    except ValidationError as exc:
        problems: dict[str, str] = {}
        for error in exc.errors(include_url=False, include_context=False):
            path = _path(error["loc"], tool.parameters)
            problems.setdefault(path, _reason(error["type"], error["msg"], error["input"]))
        raise ArgumentError(
            f"tool {tool.name!r}", "arguments", "do not fit", problems=problems
        ) from None
    return read.model_dump(by_alias=True)


def python_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return checked arguments as Python values: ISO text of dates becomes dates and datetimes.

    Args:
        tool: Whose parameters they are.
        arguments: What `validate_arguments` returned.
    """
    return _python_record(tool.parameters, arguments)


def _python_record(parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in parameters}
    return {
        name: _python(known[name], value) if name in known else value
        for name, value in values.items()
    }


def _python(parameter: Parameter, value: Any) -> Any:  # JSON in, Python out
    if value is None:
        return None
    if parameter.kind is ParameterKind.DATE:
        return date.fromisoformat(value)
    if parameter.kind is ParameterKind.DATETIME:
        return datetime.fromisoformat(value)
    if parameter.kind is ParameterKind.LIST and parameter.items is not None:
        return [_python(parameter.items, each) for each in value]
    if parameter.kind is ParameterKind.RECORD and parameter.fields:
        return _python_record(parameter.fields, value)
    return value


# -- the model of a tool --


class _Shape:
    """A tool as a key: equal by value, hashed without its defaults, which may be unhashable."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def __hash__(self) -> int:
        return hash((self.tool.id, tuple(each.name for each in self.tool.parameters)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shape) and (self.tool is other.tool or self.tool == other.tool)


@lru_cache(maxsize=_KEPT_MODELS)
def _model_of(shape: _Shape) -> type[BaseModel]:
    tool = shape.tool
    return _record_model(f"tool {tool.name!r}", tool.parameters)


def _record_model(thing: str, parameters: tuple[Parameter, ...]) -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    # Fields have names of our own, since a parameter may be called what pydantic reserves.
    fields: dict[str, Any] = {}  # annotation and field, as pydantic takes them
    for place, parameter in enumerate(parameters):
        annotation = _annotation(thing, parameter)
        if _accepts_none(parameter):
            annotation = annotation | None if isinstance(annotation, type) else _or_none(annotation)
        if parameter.required:
            field = Field(alias=parameter.name)
        else:
            field = Field(alias=parameter.name, default_factory=_copies_of(parameter.default))
        fields[f"{_FIELD}{place}"] = (annotation, field)
    model: type[BaseModel] = create_model(
        "Arguments",
        __config__=ConfigDict(extra="forbid", strict=True, validate_default=True),
        **fields,
    )
    return model


def _accepts_none(parameter: Parameter) -> bool:
    # Models write an explicit null for an optional argument that they leave out.
    return parameter.nullable or (not parameter.required and parameter.default is None)


def _or_none(annotation: Any) -> Any:  # a typing construct
    from typing import Optional

    return Optional[annotation]  # noqa: UP045 - `|` is not defined for every construct


def _copies_of(default: Any) -> Callable[[], Any]:  # any JSON
    return lambda: copy.deepcopy(default)


def _annotation(thing: str, parameter: Parameter) -> Any:  # a typing construct for pydantic
    from pydantic import AfterValidator, BeforeValidator, PlainValidator

    kind = parameter.kind
    checks: list[Any] = []
    annotation: Any
    if kind is ParameterKind.STRING:
        annotation = str
    elif kind is ParameterKind.INTEGER:
        annotation = int
    elif kind is ParameterKind.BOOLEAN:
        annotation = bool
    elif kind is ParameterKind.NUMBER:
        annotation = Annotated[Any, PlainValidator(_number)]
    elif kind is ParameterKind.DATE:
        annotation = Annotated[Any, PlainValidator(_iso_date)]
    elif kind is ParameterKind.DATETIME:
        annotation = Annotated[Any, PlainValidator(_iso_datetime)]
    elif kind is ParameterKind.LIST:
        item = Any if parameter.items is None else _annotation(thing, parameter.items)
        if parameter.items is not None and parameter.items.nullable:
            item = _or_none(item)
        annotation = Annotated[list[item], BeforeValidator(_list)]  # type: ignore[valid-type]
    else:
        annotation = _record_model(thing, parameter.fields) if parameter.fields else dict[str, Any]
    if parameter.pattern is not None:
        checks.append(AfterValidator(_matches(thing, parameter)))
    if parameter.choices:
        checks.append(AfterValidator(_is_chosen(parameter)))
    for check in checks:
        annotation = Annotated[annotation, check]
    return annotation


def _number(value: Any) -> int | float:  # whatever the call holds
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("must be a finite number")
        if value.is_integer() and abs(value) < _EXACT_INTEGERS:
            return int(value)  # 5 and 5.0 are one argument, so they make one key
    return value


def _iso_date(value: Any) -> str:  # whatever the call holds
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
    raise ValueError("must be a date such as 2026-03-05")


def _iso_datetime(value: Any) -> str:  # whatever the call holds
    moment: datetime | None = value if isinstance(value, datetime) else None
    if isinstance(value, str) and len(value) > len("2026-03-05"):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
    if moment is None:
        raise ValueError("must be a date and time such as 2026-03-05T14:30:00+00:00")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _list(value: Any) -> Any:  # a tuple is as good as a list; pydantic judges the rest
    return list(value) if isinstance(value, tuple) else value


def _matches(thing: str, parameter: Parameter) -> Callable[[Any], Any]:
    try:
        pattern = re.compile(parameter.pattern or "")
    except re.error as exc:
        raise InvalidValueError(
            thing,
            f"parameter {parameter.name!r}",
            f"has the pattern {parameter.pattern!r}, which is no regular expression: {exc}",
        ) from exc

    def check(value: Any) -> Any:  # a text, or something for which a pattern means nothing
        if isinstance(value, str) and pattern.fullmatch(value) is None:
            raise ValueError(f"must match {parameter.pattern}")
        return value

    return check


def _is_chosen(parameter: Parameter) -> Callable[[Any], Any]:
    allowed = ", ".join(str(choice) for choice in parameter.choices)

    def check(value: Any) -> Any:  # a scalar, or a list of them
        for each in value if isinstance(value, list) else [value]:
            if each not in parameter.choices:
                raise ValueError(f"must be one of {allowed}")
        return value

    return check


# -- what an error says --


def _path(steps: tuple[int | str, ...], parameters: tuple[Parameter, ...]) -> str:
    """Return where an error is; pydantic calls a field by our own name where a default is wrong."""
    first, *rest = (str(step) for step in steps)
    if first.startswith(_FIELD) and first.removeprefix(_FIELD).isdigit():
        first = parameters[int(first.removeprefix(_FIELD))].name
    return ".".join([first, *rest])


_REASONS = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a record",
    "model_type": "must be a record",
    "model_attributes_type": "must be a record",
}


def _reason(kind: str, message: str, value: Any) -> str:  # what was given
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no parameter of the tool"
    wanted = _REASONS.get(kind) or message.removeprefix("Value error, ")
    return f"{wanted}, not {_shown(value)}"


def _shown(value: Any) -> str:  # what was given
    if isinstance(value, str):
        return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…")
    if value is None or isinstance(value, bool | int | float):
        text = repr(value) if not isinstance(value, int) or abs(value) < 10**_SHOWN else "a number"
        return text
    return f"a {type(value).__name__}"
