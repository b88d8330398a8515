"""What this distribution offers: discovery by signals, and annotations of rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from poise import Annotator, Discoverer, Offers, Sections, hookimpl

if TYPE_CHECKING:
    from poise.hooks.findings import Examination, Finding
    from poise.values.catalog import CatalogSnapshot


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("discovery", "poise_discovery.settings:DiscoverySettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Annotator, "flags", "poise_discovery.annotator:FlagAnnotator")
    offers.add(Annotator, "reading", "poise_discovery.annotator:ReadingAnnotator", default=True)
    offers.add(Discoverer, "signals", "poise_discovery.discoverer:SignalDiscoverer", default=True)


@hookimpl
def poise_lint(catalog: CatalogSnapshot) -> Sequence[Finding]:
    from poise_discovery.lint import findings_of  # reads phrases only when a catalog is checked

    return findings_of(catalog)


@hookimpl
async def poise_examine(examination: Examination) -> Sequence[Finding]:
    from poise_discovery.examining import examine  # numbers load only when a catalog is examined

    return await examine(examination)
