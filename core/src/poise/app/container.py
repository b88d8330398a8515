"""The composition root: the only place where a container is made and filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lagom import ExplicitContainer, Singleton
from lagom.exceptions import LagomException

from poise.app.config import Config
from poise.engine.catalogs import Catalogs
from poise.engine.door import RoutedModels
from poise.engine.engine import DefaultEngine
from poise.engine.gate import ToolGate
from poise.engine.parts import Parts
from poise.engine.routing import ModelRoutes
from poise.engine.settings import EngineLimits
from poise.hooks.caller import HookCaller
from poise.hooks.cards import Cards
from poise.hooks.offers import Offers
from poise.ports.composition import Composer, TermFinder
from poise.ports.discovery import Annotator, Discoverer
from poise.ports.matching import Matcher, Planner, Resolver
from poise.ports.models import PriceTable, Providers
from poise.ports.runtime import Bus, ConversationEngine, Dispatcher
from poise.ports.stores import ArtifactStore, Stores
from poise.ports.tools import Extractor, ToolCaller, ToolService
from poise.turn.context import TurnContext
from poise.turn.control import Bail
from poise.turn.models import TurnModels
from poise.values.clock import Clock, SystemClock
from poise.values.ids import IdSource, SortableIds
from poise.values.tools import ToolCall

Overrides = Mapping[type, object]
"""Instances to use in place of what would be made, by the type they stand for."""


class Wiring:
    """A filled container: hands out one instance per type, and supplies factories of offers."""

    def __init__(self, container: ExplicitContainer, sections: Mapping[type, object]) -> None:
        self._container = container
        self._sections = sections

    def supply(self, kind: type) -> Any:  # an instance of `kind`
        """Return the application's instance of `kind`.

        Raises:
            LookupError: The application has none.
        """
        if kind in self._sections:
            return self._sections[kind]
        try:
            return self._container[kind]
        except LagomException as exc:
            raise LookupError(kind.__name__) from exc


def core_offers(offers: Offers) -> None:
    """Add what core itself implements: the stores, the bus and the dispatcher of one process."""
    offers.add(Stores, "memory", "poise.memory.stores:MemoryStores")
    offers.add(Bus, "memory", "poise.memory.bus:MemoryBus", default=True)
    offers.add(
        Dispatcher, "in_process", "poise.memory.dispatcher:InProcessDispatcher", default=True
    )


def build(
    config: Config,
    offers: Offers,
    hooks: HookCaller,
    *,
    cards: Cards | None = None,
    overrides: Overrides | None = None,
) -> Wiring:
    """Return the wiring of one application; nothing is made before it is asked for.

    Args:
        config: Settings, read and checked.
        offers: What the plugins offer.
        hooks: The caller of turn hooks.
        cards: What plugins say of models.
        overrides: Instances to use instead.
    """
    container = ExplicitContainer()
    wiring = Wiring(container, config.sections())
    replaced = dict(overrides or {})

    def choose(port: type, name: str | None) -> None:
        if port in replaced:
            container[port] = replaced[port]
        else:
            container[port] = Singleton(lambda: offers.make(port, name, wiring))

    container[Clock] = Singleton(lambda: replaced.get(Clock) or SystemClock())  # type: ignore[type-abstract]
    container[IdSource] = Singleton(  # type: ignore[type-abstract]
        lambda c: replaced.get(IdSource) or SortableIds(c[Clock])
    )
    container[Config] = config
    container[Offers] = offers
    container[HookCaller] = hooks
    known = cards or Cards()
    for name, card in config.model_cards.items():
        known.add(card.card(name))
    container[Cards] = known
    container[EngineLimits] = config.limits()
    choose(Stores, config.stores)
    choose(Annotator, config.annotator)
    choose(Discoverer, config.discoverer)
    choose(Resolver, config.resolver)
    choose(Planner, config.planner)
    choose(ToolCaller, config.tool_caller)
    choose(TermFinder, config.term_finder)
    choose(Extractor, config.extractor)
    choose(Bus, config.bus)
    choose(Dispatcher, config.dispatcher)
    container[ArtifactStore] = Singleton(lambda c: c[Stores].artifacts)  # type: ignore[type-abstract]
    container[ModelRoutes] = Singleton(
        lambda: ModelRoutes(
            config.models,
            offers,
            wiring,
            cards=known,
            prices=offers.make(PriceTable, None, wiring) if offers.default(PriceTable) else None,
            agents={name: each.models for name, each in config.agents.items()},
        )
    )
    container[Providers] = Singleton(lambda c: c[ModelRoutes])  # type: ignore[type-abstract]
    container[RoutedModels] = Singleton(
        lambda c: RoutedModels(c[ModelRoutes], hooks, c[EngineLimits])
    )
    container[TurnModels] = Singleton(lambda c: c[RoutedModels])  # type: ignore[type-abstract]
    container[Catalogs] = Singleton(lambda c: Catalogs(c[Annotator], c[Discoverer], hooks))
    container[ToolGate] = Singleton(
        lambda c: ToolGate(
            {name: offers.make(ToolService, name, wiring) for name in config.tool_services},
            authorize=_authorize(hooks),
            clock=c[Clock],
            timeout=c[EngineLimits].tool_timeout,
        )
    )
    container[Parts] = Singleton(
        lambda c: Parts(
            stores=c[Stores],
            catalogs=c[Catalogs],
            discoverer=c[Discoverer],
            matchers=tuple(offers.make(Matcher, name, wiring) for name in config.matchers),
            resolver=c[Resolver],
            planner=c[Planner],
            tool_caller=c[ToolCaller],
            gate=c[ToolGate],
            composers=tuple(offers.make(Composer, name, wiring) for name in config.composers),
            term_finder=c[TermFinder],
            models=c[RoutedModels],
            hooks=hooks,
            bus=c[Bus],
            may_instruct=frozenset(config.may_instruct),
            clock=c[Clock],
            ids=c[IdSource],
            limits=c[EngineLimits],
        )
    )
    if config.engine_name is None:
        container[ConversationEngine] = Singleton(lambda c: DefaultEngine(c[Parts]))  # type: ignore[type-abstract]
    else:
        choose(ConversationEngine, config.engine_name)
    return wiring


def _authorize(hooks: HookCaller) -> Any:  # the gate's callable
    async def authorize(call: ToolCall, turn: TurnContext) -> ToolCall | Bail | None:
        return await hooks.fold("on_tool_call", "call", call, turn=turn)

    return authorize
