"""All that this distribution offers: the providers `google` and `vertex`, and model data."""

from __future__ import annotations

from poise import Cards, ModelProvider, Offers, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("google", "poise_google.settings:GoogleSettings")
    sections.add("vertex", "poise_google.settings:VertexSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "google", "poise_google.provider:GoogleProvider")
    offers.add(ModelProvider, "vertex", "poise_google.provider:VertexProvider")


@hookimpl
def poise_models(cards: Cards) -> None:
    cards.add_file("poise_google")
    cards.add_file("poise_google", "vertex.toml")
