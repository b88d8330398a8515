"""What this distribution offers: the default resolver."""

from __future__ import annotations

from poise import Offers, Resolver, hookimpl


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Resolver, "default", "poise_relations.resolver:WellFoundedResolver", default=True)
