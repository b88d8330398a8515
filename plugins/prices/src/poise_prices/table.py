"""Looks prices up in the data that genai-prices carries; nothing is fetched."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from poise import Price, PriceTable
from poise.values.clock import Clock

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

_KNOWN = 10_000
_PER_MILLION = ("input", "output", "cache_read", "cache_write")


class BundledPriceTable(PriceTable):
    """The prices of the installed version of genai-prices, as they stand on the day they are asked.

    Where a vendor's price rises with the length of the prompt, it is that of a short one.

    Args:
        clock: Says which of a model's dated prices holds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._found: dict[tuple[str, str], ModelInfo | None] = {}

    def price(self, provider: str, model: str) -> Price | None:
        key = (provider, model)
        if key not in self._found:
            if len(self._found) >= _KNOWN:
                self._found.clear()
            self._found[key] = self._find(provider, model)
        found = self._found[key]
        return None if found is None else price_of(found.get_prices(self._clock.now()))

    def _find(self, provider: str, model: str) -> ModelInfo | None:
        known = {each.id: each for each in self._snapshot.providers}
        for name in self._names.get(provider, (provider,)):
            if name not in known:
                continue
            found = known[name].find_model(model, all_providers=self._snapshot.providers)
            if found is not None:
                return found
        return None

    @cached_property
    def _snapshot(self) -> DataSnapshot:
        from genai_prices.data_snapshot import get_snapshot

        return get_snapshot()

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        said = resources.files("poise_prices").joinpath("providers.toml").read_text("utf-8")
        return tomllib.loads(said)


def price_of(prices: ModelPrice) -> Price | None:
    """Return what text costs; `None` where text is not what the model is paid for."""
    told = {name: _dollars(getattr(prices, f"{name}_mtok", None)) for name in _PER_MILLION}
    if told["input"] is None:
        return None
    return Price(
        input=told["input"],
        output=told["output"] or 0.0,
        cached=told["cache_read"],
        written=told["cache_write"],
    )


def _dollars(price: Decimal | TieredPrices | None) -> float | None:
    from genai_prices.types import TieredPrices

    if price is None:
        return None
    return float(price.base if isinstance(price, TieredPrices) else price)
