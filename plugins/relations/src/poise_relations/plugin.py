"""What this distribution offers: two resolvers, and checks of relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from poise import Offers, Resolver, hookimpl

if TYPE_CHECKING:
    from poise.hooks.findings import Finding
    from poise.values.catalog import CatalogSnapshot


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Resolver, "default", "poise_relations.resolver:WellFoundedResolver", default=True)
    offers.add(Resolver, "parlant3", "poise_relations.parlant3:Parlant3Resolver")


@hookimpl
def poise_lint(catalog: CatalogSnapshot) -> Sequence[Finding]:
    from poise_relations.lint import findings_of  # follows relations only when one is checked

    return findings_of(catalog)
