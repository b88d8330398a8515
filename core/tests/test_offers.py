"""Offers: who implements what, and how the chosen one is made."""

from __future__ import annotations

from typing import Any

import pytest

from poise.errors import (
    ConfigError,
    ContractError,
    DuplicateOfferError,
    PluginLoadError,
    UnknownOfferError,
)
from poise.hooks.offers import Offers
from poise.ports.models import Embedder
from poise.testing.clock import FrozenClock
from poise.values.clock import Clock


class Fixed(Embedder):
    identity = "fixed"
    dimensions = 1

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    async def embed(self, texts: Any) -> Any:
        raise AssertionError(texts)


class Supply:
    def __init__(self, **known: Any) -> None:
        self._known = dict(known.values())

    def supply(self, kind: type) -> Any:
        return self._known[kind]


def test_chosen_one_is_made_with_what_it_asks_for() -> None:
    offers, clock = Offers(), FrozenClock()
    offers.of_plugin("p").add(Embedder, "fixed", Fixed)

    made = offers.make(Embedder, "fixed", Supply(clock=(Clock, clock)))

    assert made.clock is clock


def test_unknown_name_says_what_is_on_offer_and_what_to_install() -> None:
    """B-092: one line says what is missing and how to get it."""
    offers = Offers()
    offers.of_plugin("p").add(Embedder, "fixed", Fixed)

    with pytest.raises(UnknownOfferError, match=r"on offer: fixed; pip install poise-other"):
        offers.choose(Embedder, "other")


def test_missing_default_points_at_the_standard_set() -> None:
    with pytest.raises(UnknownOfferError, match=r"poise\[standard\]"):
        Offers().choose(Embedder, None)


def test_one_name_offered_twice_names_both_plugins() -> None:
    offers = Offers()
    offers.of_plugin("first").add(Embedder, "fixed", Fixed)

    with pytest.raises(DuplicateOfferError, match="'first' and 'second'"):
        offers.of_plugin("second").add(Embedder, "fixed", Fixed)


def test_two_defaults_name_both_plugins() -> None:
    offers = Offers()
    offers.of_plugin("first").add(Embedder, "one", Fixed, default=True)

    with pytest.raises(DuplicateOfferError, match="default Embedder"):
        offers.of_plugin("second").add(Embedder, "two", Fixed, default=True)


def test_parameter_that_nothing_fits_is_named() -> None:
    offers = Offers()
    offers.of_plugin("p").add(Embedder, "fixed", Fixed)

    with pytest.raises(ConfigError, match="parameter 'clock' of type Clock"):
        offers.make(Embedder, "fixed", Supply())


def test_factory_that_can_not_be_imported_names_its_plugin() -> None:
    offers = Offers()
    offers.of_plugin("broken").add(Embedder, "gone", "no_such_module:Thing")

    with pytest.raises(PluginLoadError, match="plugin 'broken' can't be loaded: no_such_module"):
        offers.make(Embedder, "gone", Supply())


def test_factory_that_makes_something_else_breaks_its_contract() -> None:
    offers = Offers()
    offers.of_plugin("odd").add(Embedder, "odd", lambda: object())

    with pytest.raises(ContractError, match="which is no Embedder"):
        offers.make(Embedder, "odd", Supply())
