"""What this distribution offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from poise import Composer, Offers, Sections, TermFinder, hookimpl

if TYPE_CHECKING:
    from poise.hooks.findings import Finding
    from poise.values.catalog import CatalogSnapshot


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("compose", "poise_compose.settings:ComposeSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Composer, "canned", "poise_compose.canned:CannedComposer")
    offers.add(TermFinder, "lexical", "poise_compose.terms:LexicalTermFinder", default=True)


@hookimpl
def poise_lint(catalog: CatalogSnapshot) -> Sequence[Finding]:
    from poise_compose.lint import findings_of  # the template language loads only when it is used

    return findings_of(catalog)
