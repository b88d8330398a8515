"""From the name of a use to the models that serve it, in order, and the way each is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

import attrs

from poise.errors import ConfigError, PoiseError, UnservedRouteError
from poise.hooks.cards import Cards
from poise.hooks.offers import Offers, Supplier
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    PriceTable,
    Providers,
    StructuredGenerator,
    TextGenerator,
)
from poise.turn.cards import ModelCard, Price, SizeClass
from poise.turn.models import Capability
from poise.turn.routes import ROUTES, route_named
from poise.values.agents import Effort

P = TypeVar("P")

PORTS: Mapping[Capability, type] = {
    Capability.EMBED: Embedder,
    Capability.DECIDE: DecisionModel,
    Capability.STRUCTURED: StructuredGenerator,
    Capability.TEXT: TextGenerator,
    Capability.MODERATE: Moderator,
}
"""Which port has which capability."""

WAYS: Mapping[Capability, tuple[Capability, ...]] = {
    Capability.EMBED: (Capability.EMBED,),
    Capability.DECIDE: (Capability.DECIDE, Capability.STRUCTURED, Capability.TEXT),
    Capability.STRUCTURED: (Capability.STRUCTURED, Capability.TEXT),
    Capability.TEXT: (Capability.TEXT,),
    Capability.MODERATE: (Capability.MODERATE,),
}
"""How a capability can be had, the best way first."""

_KEY = re.compile(r"(?P<pattern>[^\[\]]+)(?:\[(?P<qualifiers>[^\[\]]*)\])?")


@attrs.frozen
class Entry:
    """One line of `[models]`: a pattern, what it asks of the turn, and the models in order.

    Attributes:
        key: As settings write it.
        pattern: A route's name, or its beginning and `*`.
        capability: Only for this capability; `None`: for any.
        efforts: Only at these efforts; empty: at any.
        models: `provider:model`, `provider`, `provider:small`, or the name of an offered model.
    """

    key: str
    pattern: str
    capability: Capability | None
    efforts: frozenset[Effort]
    models: tuple[str, ...]

    def matches(self, route: str, capability: Capability, effort: Effort | None) -> bool:
        """Say whether this line is about a request."""
        named = (
            route.startswith(self.pattern[:-1])
            if self.pattern.endswith("*")
            else route == self.pattern
        )
        return (
            named
            and self.capability in (None, capability)
            and (not self.efforts or effort in self.efforts)
        )

    @property
    def specificity(self) -> tuple[bool, int, bool, bool]:
        """The larger is the more specific: the name counts before the qualifiers."""
        is_exact = not self.pattern.endswith("*")
        return (is_exact, len(self.pattern), self.capability is not None, bool(self.efforts))


def entry_of(key: str, models: Sequence[str] | str) -> Entry:
    """Return what one line of `[models]` says, e.g. `matching.*[capability=decision]`.

    Raises:
        ConfigError: The key can't be read, or names an unknown capability, effort or route.
    """
    where = f"models.{key!r}"
    found = _KEY.fullmatch(key.strip())
    pattern = found["pattern"].strip() if found else ""
    if found is None or not pattern or "*" in pattern[:-1]:
        raise ConfigError(
            f"{where}: write a route, a route's beginning and *, or *; with qualifiers in one pair "
            f"of brackets, e.g. 'matching.*[capability=decision, effort=high]'"
        )
    capability: Capability | None = None
    efforts: frozenset[Effort] = frozenset()
    for qualifier in filter(None, map(str.strip, (found["qualifiers"] or "").split(","))):
        name, _, value = (part.strip() for part in qualifier.partition("="))
        if name == "capability":
            capability = _capability(value, where)
        elif name == "effort":
            efforts = frozenset(_effort(each.strip(), where) for each in value.split("|"))
        else:
            raise ConfigError(f"{where}: unknown qualifier {name!r}; there are capability, effort")
    names = [route.name for route in ROUTES]
    if not pattern.endswith("*") and pattern not in names:
        near = get_close_matches(pattern, names, n=1, cutoff=0.85)
        if near:
            raise ConfigError(f"{where}: no route {pattern!r}; did you mean {near[0]!r}?")
    chosen = (models,) if isinstance(models, str) else tuple(models)
    if not chosen:
        raise ConfigError(f"{where}: names no model; write 'provider:model'")
    return Entry(key, pattern, capability, efforts, chosen)


def _capability(value: str, where: str) -> Capability:
    try:
        return Capability(value)
    except ValueError:
        known = ", ".join(each.value for each in Capability)
        raise ConfigError(f"{where}: no capability {value!r}; there are {known}") from None


def _effort(value: str, where: str) -> Effort:
    try:
        return Effort[value.upper()]
    except KeyError:
        known = ", ".join(each.name.lower() for each in Effort)
        raise ConfigError(f"{where}: no effort {value!r}; there are {known}") from None


@attrs.frozen
class Served:
    """A model that serves a route, and how.

    Attributes:
        provider: The provider's name; empty for a model that is offered by itself.
        model: The model's name.
        way: The capability by which it is asked.
        card: What is known of it.
        note: Why not in the best way, where it is not.
    """

    provider: str
    model: str
    way: Capability
    card: ModelCard
    note: str = ""

    @property
    def name(self) -> str:
        """`provider:model`, or the offer's name."""
        return f"{self.provider}:{self.model}" if self.provider else self.model


class ModelRoutes(Providers):
    """The models of one application, each made when it is first needed.

    Args:
        routes: The table `[models]`: by key, the models in order.
        offers: What plugins offer; the default provider serves what settings leave open.
        using: Fills the parameters of what is made.
        cards: What is known of models.
        prices: Knows what cards do not say.
        agents: The same tables per agent, by its name or id: they come before the general one.

    Attributes:
        windows: By model, the tokens that its provider said it takes, where that was found out.

    Raises:
        ConfigError: A key can't be read.
    """

    def __init__(
        self,
        routes: Mapping[str, Sequence[str] | str],
        offers: Offers,
        using: Supplier,
        *,
        cards: Cards | None = None,
        prices: PriceTable | None = None,
        agents: Mapping[str, Mapping[str, Sequence[str] | str]] | None = None,
    ) -> None:
        self._entries = _entries(routes)
        self._of_agents = {agent: _entries(table) for agent, table in (agents or {}).items()}
        self._offers = offers
        self._using = using
        self._cards = cards or Cards()
        self._prices = prices
        self._lacking: set[tuple[str, Capability]] = set()
        self._providers: dict[str, ModelProvider] = {}
        self._made: dict[tuple[Capability, str], object] = {}
        self._chains: dict[object, tuple[Served, ...]] = {}
        self.windows: dict[str, int] = {}

    @property
    def entries(self) -> Sequence[Entry]:
        """The lines of `[models]`, the most specific first."""
        return self._entries

    def check(self) -> None:
        """Make every provider that settings name, so that a wrong name fails at start.

        Raises:
            ConfigError: No plugin offers it.
        """
        for entries in (self._entries, *self._of_agents.values()):
            for entry in entries:
                for name in entry.models:
                    self._exists(name, entry.key)

    def chain(
        self,
        route: str,
        capability: Capability,
        *,
        effort: Effort | None = None,
        agent: Mapping[str, Sequence[str]] | None = None,
        called: Sequence[str] = (),
    ) -> Sequence[Served]:
        """Return the models that serve a route, in the order in which they are asked.

        The most specific line of settings counts, the agent's before the general ones. What none
        of its models can do, the default offer does.

        Args:
            route: The use.
            capability: What is asked for.
            effort: The turn's.
            agent: Routes that the agent brings itself.
            called: The agent's name and id, as settings may write it.

        Raises:
            ConfigError: Settings name a model that is not on offer.
        """
        own = tuple(sorted((agent or {}).items()))
        key = (route, capability, effort, own, tuple(called))
        known = self._chains.get(key)
        if known is None:
            known = self._chains[key] = tuple(self._find(route, capability, effort, own, called))
        return known

    def _find(
        self,
        route: str,
        capability: Capability,
        effort: Effort | None,
        own: tuple[tuple[str, Sequence[str]], ...],
        called: Sequence[str],
    ) -> Sequence[Served]:
        tables = [
            *(self._of_agents[name] for name in called if name in self._of_agents),
            *([_entries(dict(own))] if own else []),
            self._entries,
        ]
        entry = next(
            (
                each
                for entries in tables
                for each in entries
                if each.matches(route, capability, effort)
            ),
            None,
        )
        size = getattr(route_named(route), "size", SizeClass.MEDIUM)
        found: dict[str, Served] = {}
        for name in entry.models if entry else ():
            served = self._served(name, capability, size)
            if served is not None:
                found.setdefault(served.name, served)
        return [*found.values()] or self._default(capability, entry)

    def _default(self, capability: Capability, entry: Entry | None) -> Sequence[Served]:
        note = f"models.{entry.key!r} names nothing that does {capability.value}" if entry else ""
        offer = self._offers.default(PORTS[capability])
        if offer is not None:
            return [Served("", offer.name, capability, ModelCard("", offer.name), note)]
        default = self._offers.default(ModelProvider)
        if default is None:
            return []
        models = self.get(default.name).models(capability)
        if not models:
            return []
        card = self._cards.find(*self.get(default.name).card_of(models[0]))
        return [Served(default.name, models[0], capability, card, note)]

    def _served(self, name: str, capability: Capability, size: SizeClass) -> Served | None:
        provider_name, colon, model = name.partition(":")
        offered = {offer.name for offer in self._offers.of(ModelProvider)}
        if not colon and name not in offered:
            # A model that is offered by itself.
            for way in WAYS[capability]:
                if any(offer.name == name for offer in self._offers.of(PORTS[way])):
                    return Served("", name, way, ModelCard("", name), _why(way, capability))
            self._exists(name, "")
            return None
        provider = self.get(provider_name)
        wanted = next((each for each in SizeClass if each.value == model), None)
        for way in WAYS[capability]:
            chosen = (
                self._preferred(provider, way, wanted or size)
                if not colon or (wanted and model not in provider.models(way))
                else model
            )
            if chosen is None:
                continue
            card = self._cards.find(*provider.card_of(chosen))
            does = card.capabilities or provider.capabilities(chosen)
            if way in does and (f"{provider_name}:{chosen}", way) not in self._lacking:
                return Served(provider_name, chosen, way, card, _why(way, capability))
        return None

    def lacks(self, served: Served, capability: Capability) -> Served | None:
        """Remember that a model turned out not to have a way; return it with the next one.

        Returns:
            `None` when no way of having `capability` is left.
        """
        self._lacking.add((served.name, served.way))
        self._chains.clear()
        if not served.provider:
            return None
        size = served.card.size or SizeClass.MEDIUM
        return self._served(served.name, capability, size)

    def price(self, served: Served) -> Price | None:
        """Return what a model costs, from its card or the price table; `None`: nobody knows."""
        card = served.card
        if card.price is not None or self._prices is None:
            return card.price
        return self._prices.price(card.provider, card.match)

    def _preferred(self, provider: ModelProvider, way: Capability, size: SizeClass) -> str | None:
        of_size = self._cards.of_size(provider.name, size, way)
        if of_size is not None and way in provider.capabilities(of_size):
            return of_size
        return next(iter(provider.models(way)), None)

    def _exists(self, name: str, key: str) -> None:
        provider, colon, _ = name.partition(":")
        if colon or any(offer.name == provider for offer in self._offers.of(ModelProvider)):
            self.get(provider)
            return
        if not any(
            offer.name == name for port in PORTS.values() for offer in self._offers.of(port)
        ):
            offered = [offer.name for offer in self._offers.of(ModelProvider)]
            raise ConfigError(
                f"models.{key!r} names {name!r}, which is no provider and no model on offer; "
                f"providers here: {', '.join(offered) or 'none'}; pip install poise-{name}"
            )

    # -- making --

    def get(self, name: str) -> ModelProvider:
        made = self._providers.get(name)
        if made is None:
            made = self._providers[name] = self._offers.make(ModelProvider, name, self._using)
        return made

    @property
    def providers(self) -> Sequence[ModelProvider]:
        """The providers that were made so far."""
        return tuple(self._providers.values())

    def made(self, served: Served, port: type[P]) -> P:
        """Return the model itself, as a `port`, the same one each time.

        Raises:
            ConfigError: The provider has no such model.
        """
        key = (served.way, served.name)
        model = self._made.get(key)
        if model is None:
            model = self._made[key] = self._make(served)
        if not isinstance(model, port):
            raise ConfigError(f"{served.name!r} is no {port.__name__}")
        return model

    def _make(self, served: Served) -> object:
        if not served.provider:
            return self._offers.make(PORTS[served.way], served.model, self._using)
        provider = self.get(served.provider)
        make = {
            Capability.EMBED: provider.embedder,
            Capability.DECIDE: provider.decision_model,
            Capability.STRUCTURED: provider.structured_generator,
            Capability.TEXT: provider.text_generator,
            Capability.MODERATE: provider.moderator,
        }[served.way]
        return make(served.model)

    def unserved(self, route: str, capability: Capability) -> PoiseError:
        """Return the error for a route that nothing serves."""
        return UnservedRouteError(
            "none",
            "none",
            route,
            f"no model that does {capability.value} serves it; set models.{route!r} = "
            f"'provider:model', or install a provider, e.g. pip install 'poise[standard]'",
        )


def _entries(table: Mapping[str, Sequence[str] | str]) -> tuple[Entry, ...]:
    entries = [entry_of(key, models) for key, models in table.items()]
    return tuple(sorted(entries, key=lambda each: each.specificity, reverse=True))


def _why(way: Capability, capability: Capability) -> str:
    if way is capability:
        return ""
    asked = "for JSON" if way is Capability.STRUCTURED else "in words"
    return f"does no {capability.value}: asked {asked}"
