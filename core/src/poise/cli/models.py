"""`poise models`: which model serves each route, what is known of it, and whether it answers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from poise.cli.main import EXIT_ENVIRONMENT
from poise.cli.output import json_option, write_json
from poise.cli.tables import faint, one_line, table, write
from poise.errors import ConfigError

if TYPE_CHECKING:
    from poise.cli.model_checks import Check
    from poise.cli.model_routes import ModelRow, RouteRow
    from poise.turn.cards import Price

_file_option = click.option(
    "--file", type=click.Path(path_type=Path), help="The settings file to read."
)
_RIGHT = frozenset({"context", "output", "ms", "tokens", "$"})


@click.group(invoke_without_command=True)
@_file_option
@json_option
@click.pass_context
def models(context: click.Context, file: Path | None, as_json: bool) -> None:
    """List the routes, which model serves each, and what is known of the models.

    No model is asked. Prices are in US dollars per million tokens, input / output.
    """
    if context.invoked_subcommand is not None:
        return
    import anyio

    anyio.run(_list, file, as_json)


@models.command()
@click.argument("routes", nargs=-1, metavar="[ROUTE]...")
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    help="Seconds that one model may take; default: 30.",
)
@_file_option
@json_option
def check(routes: tuple[str, ...], deadline: float, file: Path | None, as_json: bool) -> None:
    """Ask each model one tiny thing, and say what works. Ends with 3 when one fails.

    ROUTE is a name, or its beginning and *; left out, all routes are checked. A model that serves
    several routes in one way is asked once; fallbacks are asked, too. It may cost a fraction of a
    cent.
    """
    import anyio

    if not anyio.run(_check, routes, deadline, file, as_json):
        sys.exit(EXIT_ENVIRONMENT)


async def _list(file: Path | None, as_json: bool) -> None:
    from poise.cli.model_checks import remembered
    from poise.cli.model_routes import model_rows, route_rows
    from poise.cli.opening import opened_models

    async with opened_models(file) as opened:
        rows = route_rows(opened.config, opened.routes)
        known = model_rows(rows, opened.routes)
        found = await remembered(opened.artifacts)
    if as_json:
        write_json(
            {
                "routes": [row.plain() for row in rows],
                "models": [{**row.plain(), "found": found.get(row.name, {})} for row in known],
            }
        )
        return
    write(_routes_text(rows))
    if known:
        write(f"\n{_models_text(known, found)}")
    unserved = [row.route for row in rows if not row.served]
    if unserved:
        write(
            faint(
                f"\nNothing serves {len(unserved)} of the routes: what needs them is left out or "
                f'done in another way.\nTo have one served: [models] "{unserved[0]}" = '
                f'"provider:model" in poise.toml.'
            )
        )


async def _check(wanted: Sequence[str], deadline: float, file: Path | None, as_json: bool) -> bool:
    from poise.cli.model_checks import check_models
    from poise.cli.model_routes import route_rows
    from poise.cli.opening import opened_models

    async with opened_models(file) as opened:
        rows = _wanted(route_rows(opened.config, opened.routes), wanted)
        checks = await check_models(opened, rows, deadline)
    if as_json:
        write_json([attrs.asdict(each) for each in checks])
    else:
        write(_checks_text(checks) if checks else "no model serves any route; nothing was asked")
    return all(each.ok for each in checks)


def _wanted(rows: Sequence[RouteRow], wanted: Sequence[str]) -> Sequence[RouteRow]:
    """Return the rows of the routes that were named, or all.

    Raises:
        ConfigError: There is no such route, or nothing serves it.
    """
    chosen: list[RouteRow] = []
    for name in wanted:
        found = [row for row in rows if _is_named(row.route, name)]
        if not found:
            near = get_close_matches(name, [row.route for row in rows], n=1)
            mend = f"did you mean {near[0]!r}?" if near else "`poise models` lists them"
            raise ConfigError(f"no route {name!r}; {mend}")
        if not any(row.served for row in found):
            raise ConfigError(
                f"nothing serves {name!r}; set models.{name!r} = 'provider:model' in poise.toml"
            )
        chosen += found
    return chosen if wanted else rows


def _is_named(route: str, name: str) -> bool:
    return route.startswith(name[:-1]) if name.endswith("*") else route == name


def _routes_text(rows: Sequence[RouteRow]) -> str:
    return table(
        ("route", "served by", "how", "purpose"),
        [line for row in rows for line in _route_lines(row)],
    )


def _route_lines(row: RouteRow) -> Sequence[tuple[str, str, str, str]]:
    """Return a line for the model that is asked first, and one for each fallback."""
    name = f"{row.route}[{row.when}]" if row.when else row.route
    first = row.served[0].name if row.served else "-"
    fallbacks = [("", f"then {served}", how, "") for served, how in row.fallbacks]
    return [(name, first, row.how, row.purpose), *fallbacks]


def _models_text(rows: Sequence[ModelRow], found: Mapping[str, Mapping[str, str]]) -> str:
    return table(
        ("model", "size", "context", "output", "$ per M", "can do", "found out"),
        [
            (
                row.name,
                row.size,
                _tokens(row.context),
                _tokens(row.max_output),
                _price(row.price),
                ", ".join(row.capabilities),
                _found(found.get(row.name, {})),
            )
            for row in rows
        ],
        right=_RIGHT,
    )


def _checks_text(checks: Sequence[Check]) -> str:
    lines = [
        table(
            ("model", "asked for", "how", "result", "ms", "tokens", "$", "said", "serves"),
            [
                (
                    each.model,
                    each.asked,
                    each.how if each.how != each.asked else "",
                    "ok" if each.ok else "failed",
                    f"{each.milliseconds:.0f}",
                    each.tokens,
                    _cost(each.cost),
                    each.said if each.ok else each.error,
                    _and_more(each.routes),
                )
                for each in checks
            ],
            right=_RIGHT,
        )
    ]
    for name, found in {each.model: each.found for each in checks if each.found}.items():
        lines.append(one_line(f"{name}: {_found(found)}"))
    lines += [f"! {one_line(each.said)}" for each in checks if not each.ok]
    return "\n".join(lines)


def _found(topics: Mapping[str, str]) -> str:
    return "; ".join(f"{topic}: {said}" for topic, said in topics.items())


def _and_more(routes: Sequence[str]) -> str:
    first, *others = routes
    return f"{first} and {len(others)} more" if others else first


def _cost(dollars: float | None) -> str | None:
    return None if dollars is None else f"{dollars:.6f}".rstrip("0").rstrip(".")


def _tokens(count: int | None) -> str | None:
    if count is None or count < 1000:
        return None if count is None else str(count)
    return f"{count / 1_000_000:.3g}M" if count >= 1_000_000 else f"{count / 1000:.3g}k"


def _price(price: Price | None) -> str | None:
    if price is None:
        return None
    return f"{price.input:g} / {price.output:g}" if price.input or price.output else "free"
