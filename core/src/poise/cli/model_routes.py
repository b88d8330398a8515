"""Which models serve which route here, and what is known of each: the rows of `poise models`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from poise.app.config import Config
from poise.engine.routing import Entry, ModelRoutes, Served, entry_of
from poise.turn.cards import Price
from poise.turn.models import Capability
from poise.turn.routes import ROUTES, route_named
from poise.values.agents import Effort

_GUESSED = (
    Capability.TEXT,
    Capability.STRUCTURED,
    Capability.DECIDE,
    Capability.EMBED,
    Capability.MODERATE,
)
"""What a plugin's own route asks for where settings don't say: the first that its models do."""


@attrs.frozen
class RouteRow:
    """A route, and what serves it.

    Attributes:
        route: Its name.
        capability: What it asks for.
        size: The class that it takes where settings name a provider alone; empty: not known.
        purpose: What it is for.
        served: The models in order; empty: nothing serves it.
        when: For which effort or agent, as a qualifier; empty: always.
    """

    route: str
    capability: Capability
    size: str
    purpose: str
    served: tuple[Served, ...]
    when: str = ""

    @property
    def how(self) -> str:
        """How the first model is asked, as ledgers say it; else how one would be asked."""
        way = self.served[0].way if self.served else self.capability
        return how_asked(self.capability, way)

    @property
    def fallbacks(self) -> Sequence[tuple[str, str]]:
        """Who is asked when the first one fails, in order, and how each is asked."""
        return [(each.name, how_asked(self.capability, each.way)) for each in self.served[1:]]

    def plain(self) -> Mapping[str, Any]:  # JSON
        """Return it as JSON values."""
        return {
            "route": self.route,
            "when": self.when,
            "capability": self.capability.value,
            "size": self.size,
            "purpose": self.purpose,
            "served": [
                {
                    "model": each.name,
                    "how": how_asked(self.capability, each.way),
                    "note": each.note,
                }
                for each in self.served
            ],
        }


@attrs.frozen
class ModelRow:
    """What is known of a model.

    Attributes:
        name: `provider:model`, or the name under which it is offered by itself.
        capabilities: What it can be asked for.
        size: Its class, or empty.
        context: Tokens that it reads and writes together, where known.
        max_output: Tokens that it writes, where known.
        price: What it costs, where known.
    """

    name: str
    capabilities: tuple[str, ...]
    size: str
    context: int | None
    max_output: int | None
    price: Price | None

    def plain(self) -> Mapping[str, Any]:  # JSON
        """Return it as JSON values."""
        price = attrs.asdict(self.price) if self.price else None
        return {**attrs.asdict(self, recurse=False), "price": price}


def how_asked(capability: Capability, way: Capability) -> str:
    """Return the word for asking a model that has `way` for a `capability`, as ledgers have it."""
    return "prompted" if way is not capability and way is Capability.TEXT else way.value


def route_rows(config: Config, routes: ModelRoutes) -> Sequence[RouteRow]:
    """Return a row per route, and one more for each effort or agent that has other models.

    Raises:
        ConfigError: Settings name a model that is not on offer.
    """
    known = [(route.name, route.capability) for route in ROUTES]
    keys = [*config.models, *(key for each in config.agents.values() for key in each.models)]
    entries = [entry_of(key, "-") for key in keys]
    more = {each.pattern: each for each in entries if _is_of_a_plugin(each)}
    known += [(name, _guessed(entry, routes)) for name, entry in more.items()]
    return [row for name, capability in known for row in _rows(name, capability, config, routes)]


def _is_of_a_plugin(entry: Entry) -> bool:
    return not entry.pattern.endswith("*") and route_named(entry.pattern) is None


def _guessed(entry: Entry, routes: ModelRoutes) -> Capability:
    if entry.capability is not None:
        return entry.capability
    for capability in _GUESSED:
        chain = routes.chain(entry.pattern, capability)
        if chain and not chain[0].note:
            return capability
    return Capability.TEXT


def _rows(
    name: str, capability: Capability, config: Config, routes: ModelRoutes
) -> Iterator[RouteRow]:
    route = route_named(name)
    size = route.size.value if route else ""
    purpose = route.purpose if route else "A plugin's own."
    always = tuple(routes.chain(name, capability))
    yield RouteRow(name, capability, size, purpose, always)
    for effort in Effort:
        served = tuple(routes.chain(name, capability, effort=effort))
        if served != always:
            when = f"effort={effort.name.lower()}"
            yield RouteRow(name, capability, size, purpose, served, when)
    for agent in config.agents:
        served = tuple(routes.chain(name, capability, called=(agent,)))
        if served != always:
            yield RouteRow(name, capability, size, purpose, served, f"agent={agent}")


def model_rows(rows: Sequence[RouteRow], routes: ModelRoutes) -> Sequence[ModelRow]:
    """Return what is known of each model that serves something, in the order of the routes."""
    found: dict[str, list[Served]] = {}
    for row in rows:
        for served in row.served:
            found.setdefault(served.name, []).append(served)
    return [_model_row(several, routes) for several in found.values()]


def _model_row(several: Sequence[Served], routes: ModelRoutes) -> ModelRow:
    served = several[0]
    card = served.card
    # What is offered by itself has no provider to ask: it can do what it is used for.
    able = card.capabilities or (
        routes.get(served.provider).capabilities(served.model)
        if served.provider
        else frozenset(each.way for each in several)
    )
    return ModelRow(
        served.name,
        tuple(each.value for each in Capability if each in able),
        card.size.value if card.size else "",
        card.context,
        card.max_output,
        routes.price(served),
    )
