"""What one installed plugin offers that suites can be run on, made as an application would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from poise.app.config import Config, load_config
from poise.app.container import Wiring, build, core_offers
from poise.app.plugins import PluginManager
from poise.app.startup import start
from poise.errors import ConfigError
from poise.hooks.caller import HookCaller
from poise.hooks.offers import Offer
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.ports.stores import ArtifactStore, Stores
from poise.testing.clock import CountingIds
from poise.testing.models import ScriptedModels
from poise.turn.models import Capability, TurnModels
from poise.values.ids import IdSource

Given = Mapping[type, object]
"""What a suite wants a subject to be made of, by type."""

_MODELS: Mapping[type, tuple[Capability, Callable[[ModelProvider], Callable[[str], object]]]] = {
    Embedder: (Capability.EMBED, lambda provider: provider.embedder),
    DecisionModel: (Capability.DECIDE, lambda provider: provider.decision_model),
    TextGenerator: (Capability.TEXT, lambda provider: provider.text_generator),
    StructuredGenerator: (Capability.STRUCTURED, lambda provider: provider.structured_generator),
    Moderator: (Capability.MODERATE, lambda provider: provider.moderator),
}
"""How a provider gives out what has a port."""


@attrs.frozen(eq=False)
class Subject:
    """Something that a suite can be run on.

    Attributes:
        port: What it is.
        name: As settings would write it.
        make: Makes it, of what the suite gives and of what the application has.
    """

    port: type
    name: str
    make: Callable[[Given], object]


@attrs.frozen(eq=False)
class _Supplier:
    """Hands out what a suite gives, then what stands for the world, then the application's."""

    given: Given
    wiring: Wiring

    def supply(self, kind: type) -> Any:  # an instance of `kind`
        return self.given[kind] if kind in self.given else self.wiring.supply(kind)


class PluginSubjects:
    """The subjects of one plugin.

    Providers and their models are made once, of the settings, as in an application. Whatever else
    asks models gets scripted ones. Stores are made of default settings, since their suites write.

    Args:
        plugin: The plugin's name.
        file: The settings file; default: as for every application.
        every_model: Take all models of a provider, rather than the preferred one of a capability.

    Raises:
        ConfigError: Settings are wrong, or there is no such plugin.
    """

    def __init__(self, plugin: str, file: Path | None = None, *, every_model: bool = False) -> None:
        config, manager = start(file=file, strict=False)
        self._manager = manager
        self._every_model = every_model
        core_offers(manager.offers.of_plugin("poise"))
        self._wiring = _wiring(config, manager)
        untouched = load_config(
            manager.sections, environ={"POISE_CONFIG": ""}, unread=manager.unread_sections
        )
        self._untouched = _wiring(untouched, manager)
        self._offers = [each for each in manager.offers.all() if each.plugin == plugin]
        if plugin not in [each.name for each in manager.ordered()]:
            raise ConfigError(f"no plugin {plugin!r} is loaded")
        self._providers: dict[str, ModelProvider] = {}
        self._models: dict[tuple[type, str], object] = {}

    @property
    def offers(self) -> Sequence[Offer]:
        """Whatever the plugin offers."""
        return tuple(self._offers)

    @property
    def providers(self) -> Sequence[ModelProvider]:
        """The providers that were made."""
        return tuple(self._providers.values())

    def of(self, port: type) -> Sequence[Subject]:
        """Return the subjects of a port: what is offered as such, then what providers give out."""
        found = [self._offered(each) for each in self._offers if each.port is port]
        return (*found, *(self._given_out(port) if port in _MODELS else ()))

    def _offered(self, offer: Offer) -> Subject:
        def make(given: Given) -> object:
            if offer.port is ModelProvider:
                return self._provider(offer)
            wiring = self._untouched if offer.port is Stores else self._wiring
            return self._made(offer, given, wiring)

        return Subject(offer.port, offer.name, make)

    def _given_out(self, port: type) -> Iterator[Subject]:
        capability, giver = _MODELS[port]
        for offer in self._offers:
            if offer.port is not ModelProvider:
                continue
            try:
                provider = self._provider(offer)
                names = provider.models(capability)
            except Exception:  # noqa: S112 - the suite of the provider itself says what is wrong
                continue
            for name in names if self._every_model else names[:1]:
                full = f"{offer.name}:{name}"
                yield Subject(port, full, partial(self._model, (port, full), giver(provider), name))

    def _provider(self, offer: Offer) -> ModelProvider:
        made = self._providers.get(offer.name)
        if made is None:
            made = self._providers[offer.name] = self._made(offer, {}, self._wiring)
        return made

    def _model(
        self, key: tuple[type, str], give: Callable[[str], object], name: str, _given: Given
    ) -> object:
        if key not in self._models:
            self._models[key] = give(name)
        return self._models[key]

    def _made(self, offer: Offer, given: Given, wiring: Wiring) -> Any:  # an `offer.port`
        using = _Supplier({**_world(asks_models=offer.port is not ModelProvider), **given}, wiring)
        return self._manager.offers.make(offer.port, offer.name, using)


def _wiring(config: Config, manager: PluginManager) -> Wiring:
    hooks = HookCaller(manager.implementations)
    return build(config, manager.offers, hooks, cards=manager.cards)


def _world(*, asks_models: bool) -> dict[type, object]:
    """Return what stands for the rest of the application: nothing that anyone else can see."""
    world: dict[type, object] = {ArtifactStore: MemoryArtifactStore(), IdSource: CountingIds()}
    if asks_models:
        world[TurnModels] = ScriptedModels()
    return world
