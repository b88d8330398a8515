"""What a validation error means to the operator: which source, which key, what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from poise.app.layers import PREFIX, Key, Origin
from poise.app.shape import fields_of, follow, is_secret

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SHOWN = 5  # mistakes; who has more of them mends these first
_SHOWN_TEXT = 60  # characters of a wrong value


def mistakes(error: ValidationError, model: type[BaseModel], origins: Mapping[Key, Origin]) -> str:
    """Return one sentence per mistake, joined: source, key, value (masked if secret), expected."""
    found = error.errors(include_url=False, include_context=False)
    told = list(dict.fromkeys(_told(each, model, origins) for each in found))
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more


def _told(error: ErrorDetails, model: type[BaseModel], origins: Mapping[Key, Origin]) -> str:
    path, table, annotation = follow(model, error["loc"])
    origin = _origin(path, origins)
    source = f"{origin}: " if origin else ""
    if error["type"] == "extra_forbidden" and table is not None:
        return f"{source}unknown key {path!r}{_instead(path, table, error['input'])}"
    if error["type"] == "missing":
        variable = PREFIX + path.upper().replace(".", "__")
        return f"{path} is required: set it in the settings file, or as {variable}"
    message = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{source}{path}{_shown(error['input'], annotation)} {message}".rstrip()


def _origin(path: str, origins: Mapping[Key, Origin]) -> Origin | None:
    """Return the origin of a value, else of the first value below it."""
    plain = path.partition("[")[0]
    exact = {".".join(key): origin for key, origin in origins.items()}
    if plain in exact:
        return exact[plain]
    return next((origin for key, origin in exact.items() if key.startswith(f"{plain}.")), None)


def _instead(path: str, table: type[BaseModel], value: object) -> str:
    name = path.rpartition(".")[2]
    known = fields_of(table)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    if isinstance(value, Mapping) and "." not in path:
        return f": no loaded plugin declares the section [{name}]; is poise-{name} installed?"
    return f"; there are: {', '.join(known)}"


def _shown(value: Any, annotation: object) -> str:  # whatever the source said
    if isinstance(value, Mapping | BaseModel):
        return ":"
    if is_secret(annotation):
        return " (a secret)"
    text = repr(value)
    return f" = {text if len(text) <= _SHOWN_TEXT else text[:_SHOWN_TEXT] + '…'}"
