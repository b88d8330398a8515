"""Writes the reference pages from the code: `python docs/reference/generate.py`.

A test holds the pages to what this program would write.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

HERE = Path(__file__).parent


def main() -> int:
    """Write every page and return 0."""
    for name, text in pages().items():
        (HERE / name).write_text(text)
        sys.stdout.write(f"wrote {name}\n")
    return 0


def pages() -> dict[str, str]:
    """Return the text of every generated page, by file name."""
    return {
        "names.md": "\n".join(_names()) + "\n",
        "hooks.md": "\n".join(_hooks()) + "\n",
        "settings.md": "\n".join(_settings()) + "\n",
    }


def first_line(thing: object) -> str:
    """Return the first sentence of a docstring, on one line."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


def _names() -> Iterator[str]:
    import poise

    yield "# Public names\n"
    yield "Everything that `import poise` gives, with its defaults. Generated; don't edit.\n"
    for name in sorted(poise.__all__):
        thing = getattr(poise, name)
        if inspect.ismodule(thing):
            continue
        yield f"## {name}\n"
        yield (
            f"{first_line(thing)}\n" if inspect.isclass(thing) or callable(thing) else "A value.\n"
        )
        yield from _shape(thing)


def _shape(thing: Any) -> Iterator[str]:  # a class, a function or a constant
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        yield "One of " + ", ".join(f"`{each.name}`" for each in thing) + ".\n"
    elif inspect.isclass(thing) and attrs.has(thing):
        yield "| field | default |\n|---|---|"
        for field in attrs.fields(thing):
            yield f"| `{field.name}` | {_default(field.default)} |"
        yield ""
    elif inspect.isclass(thing):
        public = [
            (name, member)
            for name, member in inspect.getmembers(thing, inspect.isfunction)
            if not name.startswith("_")
        ]
        for name, member in public:
            yield f"- `{name}{_signature(member)}`: {first_line(member)}"
        if public:
            yield ""
    elif inspect.isfunction(thing):
        yield f"`{thing.__name__}{_signature(thing)}`\n"


def _default(value: Any) -> str:  # whatever attrs keeps as a default
    if value is attrs.NOTHING:
        return "required"
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
        made = value.factory
        return "empty" if made in (dict, list, set, frozenset, tuple) else "made anew"
    if isinstance(value, enum.Enum):
        return f"`{value.name}`"
    return f"`{value!r}`".replace("|", "\\|")


def _signature(function: Any) -> str:  # a function or a method
    signature = inspect.signature(function)
    parts: list[str] = []
    starred = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        if parameter.kind is parameter.VAR_POSITIONAL:
            starred = True
            parts.append(f"*{parameter.name}")
        elif parameter.kind is parameter.VAR_KEYWORD:
            parts.append(f"**{parameter.name}")
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            value = parameter.default
            shown = value.name if isinstance(value, enum.Enum) else repr(value)
            parts.append(f"{parameter.name}={shown}")
    return f"({', '.join(parts)})"


def _hooks() -> Iterator[str]:
    from poise.hooks import specs

    yield "# Hooks\n"
    yield "In the order in which a turn meets them. Generated; don't edit.\n"
    for name, function in vars(specs).items():
        if inspect.isfunction(function) and hasattr(function, "poise_spec"):
            kind = "async " if inspect.iscoroutinefunction(function) else ""
            yield f"## {name}\n"
            arguments = ", ".join(
                f"{each.name}: {each.annotation}"
                for each in inspect.signature(function).parameters.values()
            )
            returns = inspect.signature(function).return_annotation
            yield f"`{kind}def {name}({arguments}) -> {returns}`\n"
            yield f"{inspect.getdoc(function)}\n"


def _settings() -> Iterator[str]:
    from poise.app.config import load_config
    from poise.app.plugins import PluginManager

    plugins = PluginManager()
    config = load_config(plugins.sections, environ={}, file=None)
    yield "# Settings and defaults\n"
    yield (
        "Defaults < `poise.toml` < environment (`POISE_ENGINE__TURN_DEADLINE=30`) < arguments. "
        "Generated; don't edit.\n"
    )
    yield "| setting | default | meaning |\n|---|---|---|"
    for row in config.describe():
        meaning = " ".join(row.description.split()).replace("|", "\\|")
        yield f"| `{row.key}` | `{row.value!r}` | {meaning} |"
    agents = importlib.import_module("poise.values.agents")
    rules = importlib.import_module("poise.values.rules")
    yield "\n## Defaults of an agent and of a rule\n"
    yield "| field | default |\n|---|---|"
    for owner in (agents.Agent, rules.Rule):
        for field in attrs.fields(owner):
            if field.default is not attrs.NOTHING:
                yield f"| `{owner.__name__}.{field.name}` | {_default(field.default)} |"


if __name__ == "__main__":
    sys.exit(main())
