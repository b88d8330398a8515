"""Writes the reference pages from the code: `python docs/reference/generate.py`.

A test holds the pages to what this program would write.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import click

HERE = Path(__file__).parent


NAMES = ("commands.md", "hooks.md", "names.md", "settings.md", "telemetry.md")
"""The generated pages."""


def main() -> int:
    """Write every page and return 0."""
    for name in NAMES:
        (HERE / name).write_text(page(name), encoding="utf-8")
        sys.stdout.write(f"wrote {name}\n")
    return 0


def page(name: str) -> str:
    """Return the text of a generated page, by its file name."""
    makers = {
        "commands.md": _commands,
        "hooks.md": _hooks,
        "names.md": _names,
        "settings.md": _settings,
        "telemetry.md": _telemetry,
    }
    return "\n".join(makers[name]()).rstrip() + "\n"


# -- names --


def _names() -> Iterator[str]:
    import poise

    yield "# Public names\n"
    yield "Everything that `import poise` gives, with its defaults. Generated; don't edit.\n"
    for name in sorted(poise.__all__):
        thing = getattr(poise, name)
        yield f"## {name}\n"
        if isinstance(thing, str):
            yield f"The value `{thing!r}`.\n"
            continue
        yield f"{_first_line(thing)}\n"
        yield from _shape(thing)
        if name == "Agent":
            yield from _rule_options()


def _rule_options() -> Iterator[str]:
    from poise.sdk import options

    yield "### What may be said of a rule\n"
    yield "The `options` of `create_policy`, `create_guideline` and `create_observation`.\n"
    for kinds, owner in (
        ("any rule", options.RuleOptions),
        ("policies and guidelines", options.ActingOptions),
        ("policies", options.PolicyOptions),
        ("guidelines", options.GuidelineOptions),
        ("observations", options.ObservationOptions),
    ):
        yield f"| of {kinds} | meaning |\n|---|---|"
        for name, meaning in _entries(owner, "Attributes").items():
            yield f"| `{name}` | {_cell(meaning)} |"
        yield ""


def _shape(thing: Any) -> Iterator[str]:  # a class or a function
    if inspect.isclass(thing) and issubclass(thing, enum.Enum):
        yield "One of " + ", ".join(f"`{each.name}`" for each in thing) + ".\n"
        return
    if inspect.isfunction(thing):
        yield f"`{thing.__name__}{_signature(thing)}`\n"
        return
    if not inspect.isclass(thing):
        return
    meanings = _entries(thing, "Attributes")
    if attrs.has(thing):
        yield "| field | default | meaning |\n|---|---|---|"
        for field in attrs.fields(thing):
            if not field.name.startswith("_"):
                meaning = _cell(meanings.get(field.name, ""))
                yield f"| `{field.name}` | {_default(field.default)} | {meaning} |"
        yield ""
    public = [
        f"- {_member(name, member)}: {_first_line(member)}"
        for name, member in inspect.getmembers(thing)
        if not name.startswith("_") and _is_ours(member)
    ]
    yield from public
    if public:
        yield ""


def _is_ours(member: Any) -> bool:  # a method, a property, or what a class holds besides
    code = member.fget if isinstance(member, property) else member
    module = str(getattr(code, "__module__", ""))  # what is built in may have none
    return inspect.isroutine(code) and module.startswith("poise.")


def _member(name: str, member: Any) -> str:  # a method or a property
    return f"`{name}`" if isinstance(member, property) else f"`{name}{_signature(member)}`"


def _default(value: Any) -> str:  # whatever attrs keeps as a default
    if value is attrs.NOTHING:
        return "required"
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]  # a class at run time
        made = value.factory
        return "empty" if made in (dict, list, set, frozenset, tuple) else "made anew"
    if isinstance(value, enum.Enum):
        return f"`{value.name}`"
    if isinstance(value, tuple | frozenset) and not value:
        return "empty"
    return _cell(f"`{value!r}`")


def _signature(function: Any) -> str:  # a function or a method
    parts: list[str] = []
    starred = False
    for parameter in inspect.signature(function).parameters.values():
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


# -- hooks --


def _hooks() -> Iterator[str]:
    from poise.hooks import specs
    from poise.hooks.markers import PROJECT

    yield "# Hooks\n"
    yield "In the order in which a turn meets them. Generated; don't edit.\n"
    for name, function in vars(specs).items():
        if not inspect.isfunction(function) or not hasattr(function, f"{PROJECT}_spec"):
            continue
        signature = inspect.signature(function)
        kind = "async " if inspect.iscoroutinefunction(function) else ""
        arguments = ", ".join(
            f"{each.name}: {each.annotation}" for each in signature.parameters.values()
        )
        yield f"## {name}\n"
        yield f"`{kind}def {name}({arguments}) -> {signature.return_annotation}`\n"
        for paragraph in (inspect.getdoc(function) or "").split("\n\n"):
            title, _, rest = paragraph.partition("\n")
            if title == "Args:":
                yield from (
                    f"- `{argument}`: {meaning}"
                    for argument, meaning in _entries(function, "Args").items()
                )
                yield ""
            elif title == "Returns:":
                yield f"Returns: {_one_line(rest)}\n"
            else:
                yield f"{_one_line(paragraph)}\n"


# -- settings --


def _settings() -> Iterator[str]:
    from poise.app.config import load_config
    from poise.app.container import core_offers
    from poise.app.plugins import PluginManager
    from poise.values import agents, rules

    plugins = PluginManager()
    config = load_config(plugins.sections, environ={"POISE_CONFIG": ""})
    yield "# Settings and defaults\n"
    yield (
        "Defaults < `poise.toml` < environment (`POISE_ENGINE__TURN_DEADLINE=30`) < arguments. "
        "Generated; don't edit.\n"
    )
    yield "| setting | default | meaning |\n|---|---|---|"
    for row in config.describe():
        shown = "not set" if row.value is None else f"`{json.dumps(row.value)}`"
        yield f"| `{row.key}` | {_cell(shown)} | {_cell(row.description)} |"
    core_offers(plugins.offers.of_plugin("poise"))
    yield "\n## What is on offer\n"
    yield "The names that settings may choose, of the distributions of this repository.\n"
    yield "| port | name | brought by |\n|---|---|---|"
    for offer in plugins.offers.all():
        name = f"`{offer.name}`" + (", the default" if offer.is_default else "")
        yield f"| `{offer.port.__name__}` | {name} | {offer.plugin or 'poise'} |"
    yield "\n## Defaults of an agent and of a rule\n"
    yield "| field | default |\n|---|---|"
    for owner in (agents.Agent, rules.Rule):
        for field in attrs.fields(owner):
            if field.default is not attrs.NOTHING:
                yield f"| `{owner.__name__}.{field.name}` | {_default(field.default)} |"


# -- commands --


def _commands() -> Iterator[str]:
    from poise.cli.main import main

    yield "# Commands\n"
    yield "What the command `poise` can do. Generated; don't edit.\n"
    context = click.Context(main, info_name="poise")
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if command is not None:
            yield from _command(command, click.Context(command, context, name))
    yield "## Exit codes\n"
    yield (
        "0: done. 1: a check found something. 2: the call, the settings or the program is wrong. "
        "3: something outside is missing or fails. 70: a fault of Poise or of a plugin. "
        "130: interrupted."
    )


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    yield f"## {context.command_path}\n"
    yield f"`{usage}`\n"
    yield from (
        f"{_one_line(each)}\n" for each in inspect.cleandoc(command.help or "").split("\n\n")
    )
    records = [
        parameter.get_help_record(context)
        for parameter in command.params
        if isinstance(parameter, click.Option)
    ]
    if records:
        yield "| option | meaning |\n|---|---|"
        yield from (f"| {_cell(f'`{each[0]}`')} | {_cell(each[1])} |" for each in records if each)
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _command(inner, click.Context(inner, context, name))


# -- telemetry --


def _telemetry() -> Iterator[str]:
    from poise.engine.spans import ATTRIBUTES, METRICS, SPANS

    yield "# Telemetry\n"
    yield (
        "Every span, attribute and metric, through the API of OpenTelemetry; without an SDK they "
        "cost next to nothing. Generated; don't edit.\n"
    )
    yield (
        "Names of `gen_ai.*` are OpenTelemetry's. No span or metric holds what a customer said, "
        "unless `engine.capture_content` lets prompts in. Metrics have no ids among their "
        "attributes, so the number of their series does not grow with sessions.\n"
    )
    yield "## Spans\n"
    yield "| span | what it covers | attributes |"
    yield "|---|---|---|"
    for span in SPANS:
        told = " ".join(f"`{name}`" for name in span.attributes)
        yield f"| `{span.name}` | {_cell(span.meaning)} | {told} |"
    yield "\n## Metrics\n"
    yield "| metric | kind | unit | what it measures | attributes |"
    yield "|---|---|---|---|---|"
    for metric in METRICS:
        told = " ".join(f"`{name}`" for name in metric.attributes)
        kind = "histogram" if metric.boundaries else "counter"
        yield f"| `{metric.name}` | {kind} | `{metric.unit}` | {_cell(metric.meaning)} | {told} |"
    yield "\n## Attributes\n"
    yield "| attribute | what it says |"
    yield "|---|---|"
    for name, meaning in sorted(ATTRIBUTES.items()):
        yield f"| `{name}` | {_cell(meaning)} |"


# -- docstrings --


def _first_line(thing: object) -> str:
    """Return the first sentence of a docstring, on one line."""
    return _one_line((inspect.getdoc(thing) or "").split("\n\n")[0])


def _entries(thing: object, section: str) -> Mapping[str, str]:
    """Return what a docstring says under `Args:` or `Attributes:`, by name."""
    found = re.search(
        rf"^{section}:\n((?:    .*\n?|\n(?=    ))+)", inspect.getdoc(thing) or "", re.MULTILINE
    )
    entries: dict[str, str] = {}
    name = ""
    for line in (found[1] if found else "").splitlines():
        entry = re.match(r"    (\w+): (.*)", line)
        if entry:
            name = entry[1]
            entries[name] = entry[2]
        elif name:
            entries[name] += f" {line.strip()}"
    return {name: text.strip() for name, text in entries.items()}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
