"""Settings from variables that others have named: a vendor's own, and files that hold secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from poise.app.layers import Key, Layer, Origin, put
from poise.app.shape import annotation_at, decode_text, fields_of, is_secret, model_within
from poise.errors import ConfigError, ContractError

FILE_SUFFIX = "_FILE"
"""What ends the name of a variable that holds the path of a secret instead of the secret."""


def vendor_layer(
    model: type[BaseModel], environ: Mapping[str, str], others: Sequence[Layer]
) -> Layer:
    """Return what vendors' own variables say to the fields that declare them.

    A field declares them by `json_schema_extra={"env": ["ACME_API_KEY", …]}`; the first that is
    set and not empty counts. A secret may also be in a file: `ACME_API_KEY_FILE` holds its path.
    A table that is optional is filled only where another layer has it, too.

    Args:
        model: The settings.
        environ: The environment.
        others: The other layers, which say what tables there are.

    Raises:
        ConfigError: A file that holds a secret can't be read.
        ContractError: A field declares something else than names of variables.
    """
    said = {key for layer in others for key in layer.origins}
    values: dict[str, Any] = {}
    origins: dict[Key, Origin] = {}
    for key, field in _fields(model, (), said):
        if any(key[:length] in said for length in range(1, len(key))):
            continue  # another source has a value where the table belongs, and is told so
        found = _first(_variables(key, field), environ, secret=is_secret(field.annotation))
        if found is not None:
            put(values, key, decode_text(model, key, found[1]))
            origins[key] = Origin("environment", found[0])
    return Layer(values, origins)


def secret_in_file(model: type[BaseModel], key: Key) -> Key | None:
    """Return the key of the secret whose file a variable of that key names, or `None`.

    A field that is itself called `…_file` is one, and names no other's file.
    """
    suffix = FILE_SUFFIX.lower()
    if not key[-1].endswith(suffix) or annotation_at(model, key) is not None:
        return None
    named = (*key[:-1], key[-1].removesuffix(suffix))
    return named if is_secret(annotation_at(model, named)) else None


def read_secret(variable: str, path: str) -> str:
    """Return the secret in a file, without the line end that editors put after it.

    Raises:
        ConfigError: It can't be read, or is empty; names variable and file, never the content.
    """
    try:
        secret = Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as exc:
        raise ConfigError(
            f"{variable}: the file {path!r} can't be read: {exc.strerror or 'no such path'}"
        ) from exc
    except ValueError:
        # Not `from exc`: a decoding error carries what it could not read.
        raise ConfigError(f"{variable}: the file {path!r} is no text in UTF-8") from None
    if not secret:
        raise ConfigError(f"{variable}: the file {path!r} is empty; write the secret into it")
    return secret


def _fields(model: type[BaseModel], above: Key, said: set[Key]) -> Iterator[tuple[Key, FieldInfo]]:
    """Yield every field that a vendor's variable may fill, tables within tables included."""
    for name, field in fields_of(model).items():
        key = (*above, name)
        inner = model_within(field.annotation)
        if inner is None:
            yield key, field
        elif not (field.default is None and not field.is_required()) or any(
            each[: len(key)] == key for each in said
        ):
            yield from _fields(inner, key, said)


def _variables(key: Key, field: FieldInfo) -> Sequence[str]:
    extra = field.json_schema_extra
    named = extra.get("env") if isinstance(extra, Mapping) else None
    if named is None:
        return ()
    if not isinstance(named, list | tuple) or not all(isinstance(each, str) for each in named):
        raise ContractError(
            f"setting {'.'.join(key)}: json_schema_extra['env'] is {named!r}; "
            f"it takes a list of variables' names"
        )
    return [str(each) for each in named]


def _first(
    variables: Sequence[str], environ: Mapping[str, str], *, secret: bool
) -> tuple[str, str] | None:
    """Return the first variable that says something, with what it says."""
    for variable in variables:
        if environ.get(variable):
            return variable, environ[variable]
        file = f"{variable}{FILE_SUFFIX}"
        if secret and environ.get(file):
            return file, read_secret(file, environ[file])
    return None
