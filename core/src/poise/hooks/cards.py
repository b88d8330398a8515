"""Model cards: what plugins and settings say of models, and how the right one is found."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import attrs

from poise.errors import PluginLoadError
from poise.turn.cards import ModelCard, Price, SizeClass
from poise.turn.models import Capability

_FIELDS = frozenset(field.name for field in attrs.fields(ModelCard))
_DATA = _FIELDS - {"provider", "match"}


class Cards:
    """The model cards of one application. A plugin gets a view that knows its name."""

    def __init__(self, plugin: str = "", kept: list[ModelCard] | None = None) -> None:
        self._plugin = plugin
        self._kept: list[ModelCard] = [] if kept is None else kept

    def of_plugin(self, plugin: str) -> Cards:
        """Return a view through which what is added belongs to `plugin`."""
        return Cards(plugin, self._kept)

    def add(self, card: ModelCard) -> None:
        """Add a card; of two for one model, the more specific counts, then the later."""
        self._kept.append(card)

    def add_file(self, package: str, file: str = "models.toml") -> None:
        """Add the cards in a TOML file of a package.

        The file holds one table `[[model]]` per card, with the fields of `ModelCard`; `provider`
        may stand once at the top. Prices are a table: `price = { input = 1.0, output = 4.0 }`.

        Raises:
            PluginLoadError: The file is missing or says something that no card takes.
        """
        try:
            said = tomllib.loads(resources.files(package).joinpath(file).read_text("utf-8"))
        except (OSError, ModuleNotFoundError, tomllib.TOMLDecodeError) as exc:
            raise PluginLoadError(self._plugin, f"{package}/{file}: {exc}") from exc
        for number, table in enumerate(said.get("model", ()), start=1):
            try:
                self.add(card_from({"provider": said.get("provider"), **table}))
            except (ValueError, TypeError, KeyError) as exc:
                name = table.get("match", f"number {number}")
                raise PluginLoadError(
                    self._plugin, f"{package}/{file}: model {name}: {exc}"
                ) from exc

    def all(self) -> Sequence[ModelCard]:
        """Return every card, in the order in which they were added."""
        return tuple(self._kept)

    def find(self, provider: str, model: str) -> ModelCard:
        """Return what all cards of a model say together; nothing where there is none.

        Field by field the more specific card counts, and of equals the later: settings, which
        come last, change one field of a plugin's card and leave the others.
        """
        fitting = [card for card in self._kept if card.provider == provider and card.fits(model)]
        told: dict[str, Any] = {"quirks": {}}
        for card in sorted(fitting, key=_specific):
            for name in _DATA:
                value = getattr(card, name)
                if value is not None and value != frozenset():
                    told[name] = {**told[name], **value} if name == "quirks" else value
        return ModelCard(provider, model, **told)

    def of_size(self, provider: str, size: SizeClass, capability: Capability) -> str | None:
        """Return the model of a class that was named first: the preferred one."""
        return next(
            (
                card.match
                for card in self._kept
                if card.provider == provider
                and card.size is size
                and not card.match.endswith("*")
                and (not card.capabilities or capability in card.capabilities)
            ),
            None,
        )


def card_from(said: Mapping[str, Any]) -> ModelCard:
    """Return the card that a table of settings or of a data file describes.

    Raises:
        ValueError: A field is unknown or has a value that it can't have.
    """
    unknown = sorted(said.keys() - _FIELDS)
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; there are: {', '.join(sorted(_FIELDS))}")
    values = dict(said)
    for name in ("provider", "match"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise ValueError(f"{name!r} is missing")
    for name in ("context", "max_output", "questions", "dimensions"):
        value = values.get(name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{name!r} is {value!r}, which is no positive whole number")
    if values.get("size") is not None:
        values["size"] = SizeClass(values["size"])
    values["capabilities"] = frozenset(Capability(each) for each in said.get("capabilities", ()))
    if values.get("price") is not None:
        values["price"] = Price(**values["price"])
    if values.get("band") is not None:
        low, high = values["band"]
        if not 0.0 <= low <= high <= 1.0:
            raise ValueError(f"'band' is {low}, {high}; it must rise within 0 to 1")
        values["band"] = (float(low), float(high))
    return ModelCard(**values)


def _specific(card: ModelCard) -> tuple[bool, int]:
    return (not card.match.endswith("*"), len(card.match))
