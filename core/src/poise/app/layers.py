"""Where settings come from: each source as a layer of nested values that know their origin."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from poise.errors import ConfigError

PREFIX = "POISE_"
"""What the name of an environment variable begins with."""

FILE_VARIABLE = "POISE_CONFIG"
"""Names the settings file; set but empty, no file is read."""

DEFAULT_FILE = Path("poise.toml")

Key = tuple[str, ...]


@attrs.frozen
class Origin:
    """Where a value comes from.

    Attributes:
        kind: `default`, `file`, `environment` or `argument`.
        where: The file with its line, or the variable's name.
    """

    kind: str
    where: str = ""

    def __str__(self) -> str:
        return self.where or self.kind


DEFAULT = Origin("default")


@attrs.frozen
class Layer:
    """One source of settings.

    Attributes:
        values: Nested, as the models take them.
        origins: Of every value that is not itself a table.
    """

    values: Mapping[str, Any]
    origins: Mapping[Key, Origin] = attrs.field(factory=dict)


def settings_file(file: Path | None, environ: Mapping[str, str]) -> Path | None:
    """Return the settings file to read, or `None` when there is none.

    Raises:
        ConfigError: A file was named, by argument or by `POISE_CONFIG`, and does not exist.
    """
    named, by = file, "the argument"
    if named is None and FILE_VARIABLE in environ:
        if not environ[FILE_VARIABLE]:
            return None
        named, by = Path(environ[FILE_VARIABLE]), FILE_VARIABLE
    if named is None:
        return DEFAULT_FILE if DEFAULT_FILE.is_file() else None
    if not named.is_file():
        raise ConfigError(f"there is no settings file {named} (named by {by})")
    return named


def file_layer(path: Path) -> Layer:
    """Return what a TOML file says.

    Raises:
        ConfigError: It can't be read, or is not TOML; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
        values = _with_flat_routes(tomllib.loads(text))
    except tomllib.TOMLDecodeError as exc:
        found = re.search(r"\(at line (\d+), column \d+\)", str(exc))
        line = f":{found[1]}" if found else ""
        raise ConfigError(f"{path}{line}: not valid TOML: {exc}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{path}: can't be read: {exc}") from exc
    lines = _lines(text)
    return Layer(
        values, {key: Origin("file", _place(path, key, lines)) for key, _ in leaves(values)}
    )


def environment_layer(
    environ: Mapping[str, str],
    *,
    accepts: Callable[[str, Key], bool],
    decode: Callable[[Key, str], Any],
    secret: Callable[[Key, str], tuple[Key, str] | None] = lambda _key, _name: None,
) -> Layer:
    """Return what the variables `POISE_…` say; `__` goes one level down. Empty ones are unset.

    Args:
        environ: The environment.
        accepts: Says of a variable and its key whether it is a setting at all.
        decode: Turns the text for a key into a value.
        secret: Says of a key and its variable which secret's file it names, with the secret.
    """
    values: dict[str, Any] = {}
    names: dict[Key, str] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name == FILE_VARIABLE or not environ[name]:
            continue
        key = tuple(name[len(PREFIX) :].lower().split("__"))
        filed = secret(key, name)
        if filed is not None and filed[0] in names:
            continue  # the variable of the secret itself sorts before, and counts
        if filed is None and not accepts(name, key):
            continue
        key, text = filed or (key, environ[name])
        decoded = decode(key, text)
        put(values, key, decoded)
        for inner, _ in leaves({key[-1]: decoded}):
            names[(*key[:-1], *inner)] = name
    flat = _with_flat_routes(values)
    by_path = {".".join(key): name for key, name in names.items()}
    return Layer(
        flat,
        {
            key: Origin("environment", by_path[path])
            for key, _ in leaves(flat)
            if (path := ".".join(key)) in by_path
        },
    )


def argument_layer(overrides: Mapping[str, Any]) -> Layer:
    """Return what the program says; nested tables, or dotted keys such as `engine.history`."""
    values: dict[str, Any] = {}
    for name, value in overrides.items():
        put(values, tuple(name.split(".")), value)
    flat = _with_flat_routes(values)
    return Layer(flat, {key: Origin("argument") for key, _ in leaves(flat)})


def merged_origins(layers: Sequence[Layer]) -> Mapping[Key, Origin]:
    """Return the origin of each value once the layers, weakest first, lie on each other."""
    merged: dict[Key, Origin] = {}
    for layer in layers:
        for key, origin in layer.origins.items():
            # A value replaces a table and a table replaces a value, with all below it.
            hidden = [old for old in merged if old[: len(key)] == key or key[: len(old)] == old]
            for old in hidden:
                del merged[old]
            merged[key] = origin
    return merged


def leaves(values: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Yield every value that is no table, with its key."""
    for name, value in values.items():
        key = (*above, str(name))
        if isinstance(value, Mapping):
            yield from leaves(value, key)
        else:
            yield key, value


def put(values: dict[str, Any], key: Key, value: object) -> None:
    """Set the value at a key of nested tables; a table is laid onto the one that is there."""
    table = values
    for name in key[:-1]:
        below = table.get(name)
        table[name] = dict(below) if isinstance(below, Mapping) else {}
        table = table[name]
    known = table.get(key[-1])
    both = isinstance(known, Mapping) and isinstance(value, Mapping)
    table[key[-1]] = {**known, **value} if both else value  # type: ignore[dict-item]  # checked


def _with_flat_routes(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write routes with dots, the general ones and each agent's, however the source nests them."""
    flat = _flat_models(values)
    agents = flat.get("agents")
    if isinstance(agents, Mapping):
        flat["agents"] = {
            name: _flat_models(each) if isinstance(each, Mapping) else each
            for name, each in agents.items()
        }
    return flat


def _flat_models(values: Mapping[str, Any]) -> dict[str, Any]:
    routes = values.get("models")
    if not isinstance(routes, Mapping):
        return dict(values)
    return {**values, "models": {".".join(key): value for key, value in leaves(routes)}}


_HEADER = re.compile(r"^\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")
_ENTRY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[\w.\- ])+?)\s*=""")


def _lines(text: str) -> Mapping[str, int]:
    """Return the line on which each dotted key of a TOML text is written."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            table = _plain(header[1])
            found.setdefault(table, number)
            continue
        entry = _ENTRY.match(line)
        if entry:
            name = _plain(entry[1])
            found.setdefault(f"{table}.{name}" if table else name, number)
    return found


def _plain(name: str) -> str:
    return name.replace('"', "").replace("'", "").replace(" ", "")


def _place(path: Path, key: Key, lines: Mapping[str, int]) -> str:
    parts = _plain(".".join(key)).split(".")
    for length in range(len(parts), 0, -1):
        line = lines.get(".".join(parts[:length]))
        if line is not None:
            return f"{path}:{line}"
    return str(path)
