"""All that this distribution offers: the provider `cassette`, which wraps another."""

from __future__ import annotations

from poise import ModelProvider, Offers, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("cassettes", "poise_cassettes.settings:CassetteSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "cassette", "poise_cassettes.provider:CassetteProvider")
