"""Offers: which implementations of a port plugins have, by name, and how the chosen one is made."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

import attrs

from poise.errors import (
    ConfigError,
    ContractError,
    DuplicateOfferError,
    PluginLoadError,
    UnknownOfferError,
)

Factory = str | Callable[..., Any]
"""A class or function, or where to import it from: `package.module:Name`."""


class Supplier(Protocol):
    """Whatever hands out what factories ask for, by type."""

    def supply(self, kind: type) -> Any:  # an instance of `kind`
        """Return the application's instance of `kind`.

        Raises:
            LookupError: The application has none.
        """
        ...


@attrs.frozen
class Offer:
    """One implementation of a port."""

    port: type
    name: str
    factory: Factory
    plugin: str
    is_default: bool = False


class Offers:
    """What the plugins of one application offer. A plugin gets a view that knows its name."""

    def __init__(
        self, plugin: str = "", registry: dict[tuple[type, str], Offer] | None = None
    ) -> None:
        self._plugin = plugin
        self._registry: dict[tuple[type, str], Offer] = {} if registry is None else registry

    def of_plugin(self, plugin: str) -> Offers:
        """Return a view through which what is added belongs to `plugin`."""
        return Offers(plugin, self._registry)

    def add(self, port: type, name: str, factory: Factory, *, default: bool = False) -> None:
        """Offer an implementation of `port` under `name`.

        Args:
            port: The abstract class, as a plain `type`.
            name: As settings choose it.
            factory: A class or function, best as `package.module:Name`, so that it is imported
                only when it is chosen. Its parameters are filled by their annotated types.
            default: Taken where settings name none; one per port.

        Raises:
            DuplicateOfferError: Another plugin offers this name, or another default.
        """
        known = self._registry.get((port, name))
        if known is not None:
            raise DuplicateOfferError(port.__name__, name, known.plugin, self._plugin)
        if default:
            other = self.default(port)
            if other is not None:
                raise DuplicateOfferError(
                    f"default {port.__name__}", name, other.plugin, self._plugin
                )
        self._registry[port, name] = Offer(port, name, factory, self._plugin, default)

    def of(self, port: type) -> tuple[Offer, ...]:
        """Return every offer for `port`, by name."""
        found = [offer for (kind, _), offer in self._registry.items() if kind is port]
        return tuple(sorted(found, key=lambda offer: offer.name))

    def all(self) -> tuple[Offer, ...]:
        """Return every offer, by port and name."""
        return tuple(
            sorted(self._registry.values(), key=lambda offer: (offer.port.__name__, offer.name))
        )

    def default(self, port: type) -> Offer | None:
        """Return the offer to take where settings name none, or `None`."""
        return next((offer for offer in self.of(port) if offer.is_default), None)

    def choose(self, port: type, name: str | None) -> Offer:
        """Return the offer called `name`, or the default one.

        Raises:
            UnknownOfferError: Nothing of that name is on offer.
        """
        offer = self.default(port) if name is None else self._registry.get((port, name))
        if offer is None:
            offered = tuple(each.name for each in self.of(port))
            raise UnknownOfferError(
                port.__name__,
                name,
                offered,
                install="'poise[standard]'" if name in (None, "default") else f"poise-{name}",
            )
        return offer

    def make(self, port: type, name: str | None, using: Supplier) -> Any:  # a `port`
        """Return an instance of the offer called `name`, its parameters filled from `using`.

        Raises:
            UnknownOfferError: Nothing of that name is on offer.
            PluginLoadError: Its factory can't be imported.
            ConfigError: A parameter asks for something that the application does not have.
            ContractError: What the factory made is not a `port`.
        """
        offer = self.choose(port, name)
        factory = load(offer.factory, offer.plugin)
        made = factory(**_arguments(factory, offer, using))
        if not isinstance(made, port):
            raise ContractError(
                f"{port.__name__} {offer.name!r} of plugin {offer.plugin!r}: "
                f"its factory made a {type(made).__name__}, which is no {port.__name__}"
            )
        return made


def load(factory: Factory, plugin: str) -> Callable[..., Any]:
    """Return what `package.module:Name` names; a callable is returned as it is.

    Raises:
        PluginLoadError: It can't be imported.
    """
    if not isinstance(factory, str):
        return factory
    module, _, name = factory.partition(":")
    try:
        return typing.cast("Callable[..., Any]", getattr(import_module(module), name))
    except (ImportError, AttributeError, ValueError) as exc:
        raise PluginLoadError(plugin, f"{factory}: {exc}") from exc


def _arguments(factory: Callable[..., Any], offer: Offer, using: Supplier) -> Mapping[str, Any]:
    described = factory.__init__ if inspect.isclass(factory) else factory
    if described is object.__init__:
        return {}
    where = f"{offer.port.__name__} {offer.name!r} of plugin {offer.plugin!r}"
    try:
        hints = typing.get_type_hints(described)
    except NameError as exc:
        raise ConfigError(
            f"{where}: {exc}; import what the factory's annotations name at run time"
        ) from exc
    arguments: dict[str, Any] = {}
    parameters = list(inspect.signature(described).parameters.values())
    for parameter in parameters[1:] if inspect.isclass(factory) else parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        kind = _wanted(hints.get(parameter.name))
        try:
            if not isinstance(kind, type):
                raise LookupError(parameter.name)
            arguments[parameter.name] = using.supply(kind)
        except LookupError:
            if parameter.default is parameter.empty:
                wanted = getattr(kind, "__name__", str(kind))
                raise ConfigError(
                    f"{where}: nothing in the application fits its parameter "
                    f"{parameter.name!r} of type {wanted}"
                ) from None
    return arguments


def _wanted(hint: object) -> object:
    """Return the type that a parameter asks for: `T` of `T | None`, which asks for it if it is."""
    named = [each for each in typing.get_args(hint) if each is not type(None)]
    optional = len(named) == 1 and type(None) in typing.get_args(hint)
    return named[0] if optional else hint


@attrs.frozen
class Section:
    """A plugin's section of the settings: a pydantic model, imported when settings are read."""

    name: str
    model: Factory
    plugin: str


class Sections:
    """The settings sections that plugins declare."""

    def __init__(self, plugin: str = "", registry: dict[str, Section] | None = None) -> None:
        self._plugin = plugin
        self._registry: dict[str, Section] = {} if registry is None else registry

    def of_plugin(self, plugin: str) -> Sections:
        """Return a view through which what is added belongs to `plugin`."""
        return Sections(plugin, self._registry)

    def add(self, name: str, model: Factory) -> None:
        """Declare the section `name`, read into the pydantic model `package.module:Name`.

        Raises:
            DuplicateOfferError: Another plugin declares the same section.
        """
        known = self._registry.get(name)
        if known is not None:
            raise DuplicateOfferError("settings section", name, known.plugin, self._plugin)
        self._registry[name] = Section(name, model, self._plugin)

    def all(self) -> tuple[Section, ...]:
        """Return every section, by name."""
        return tuple(self._registry[name] for name in sorted(self._registry))
