"""All that this distribution offers: the provider `openai`, and one for every preset."""

from __future__ import annotations

import tomllib
from importlib import resources

from poise import Cards, ModelProvider, Offers, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("openai", "poise_openai.settings:OpenAISettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "openai", "poise_openai.provider:OpenAIProvider")
    presets = resources.files("poise_openai").joinpath("presets.toml").read_text("utf-8")
    for name in tomllib.loads(presets):
        if name != "openai":
            offers.add(ModelProvider, name, f"poise_openai.presets:{name}")


@hookimpl
def poise_models(cards: Cards) -> None:
    cards.add_file("poise_openai")
