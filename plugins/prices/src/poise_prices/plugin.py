"""All that this distribution offers: the price table `bundled`, the default one."""

from __future__ import annotations

from poise import Offers, PriceTable, hookimpl


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(PriceTable, "bundled", "poise_prices.table:BundledPriceTable", default=True)
