"""All that this distribution offers: the provider `embedded`, the default one."""

from __future__ import annotations

from poise import Cards, ModelProvider, Offers, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("embedded", "poise_embedded.settings:EmbeddedSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "embedded", "poise_embedded.provider:EmbeddedProvider", default=True)


@hookimpl
def poise_models(cards: Cards) -> None:
    cards.add_file("poise_embedded")
