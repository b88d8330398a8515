"""All that this distribution offers: the provider `anthropic`, and what is known of its models."""

from __future__ import annotations

from poise import Cards, ModelProvider, Offers, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("anthropic", "poise_anthropic.settings:AnthropicSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "anthropic", "poise_anthropic.provider:AnthropicProvider")


@hookimpl
def poise_models(cards: Cards) -> None:
    cards.add_file("poise_anthropic")
