import typing

import pytest
from pydantic import SecretStr

from poise import Capability, Cards, ModelCard, ModelProvider, Offers, Sections, SizeClass
from poise_anthropic import plugin
from poise_anthropic.provider import AnthropicProvider
from poise_anthropic.quirks import quirks_of
from poise_anthropic.settings import AnthropicSettings


def known() -> Cards:
    cards = Cards("anthropic")
    plugin.poise_models(cards)
    return cards


def test_offers_the_provider_its_settings_and_its_cards() -> None:
    offers, sections = Offers("anthropic"), Sections("anthropic")

    plugin.poise_provide(offers)
    plugin.poise_config(sections)

    (offer,) = offers.of(ModelProvider)
    assert (offer.name, offer.is_default) == ("anthropic", False)
    assert [section.name for section in sections.all()] == ["anthropic"]


def test_a_factory_gets_the_applications_cards() -> None:
    offers = Offers("anthropic")
    plugin.poise_provide(offers)
    cards = Cards("settings")
    cards.add(ModelCard("anthropic", "mine", quirks={"structured": "words"}))

    class Supply:
        def supply(self, kind: type) -> object:
            return {AnthropicSettings: AnthropicSettings(), Cards: cards}[kind]

    provider = offers.make(ModelProvider, "anthropic", Supply())

    assert provider.models(Capability.TEXT) == ("mine",)
    assert provider.models(Capability.STRUCTURED) == ()
    assert provider.capabilities("mine") == {Capability.TEXT}


def test_every_model_that_the_sdk_names_has_a_card() -> None:
    from anthropic.types.model_param import ModelParam

    named = typing.get_args(typing.get_args(ModelParam)[0])
    cards = known()

    for model in named:
        card = cards.find("anthropic", model)
        assert card.context, model
        assert card.max_output, model
        assert card.price, model
    assert set(AnthropicProvider(AnthropicSettings()).models(Capability.TEXT)) == set(named)


def test_every_card_has_quirks_and_a_price_that_make_sense() -> None:
    for card in known().all():
        quirks = quirks_of(card)
        assert not (quirks.thinking_off == "low_effort" and not quirks.effort), card.match
        if card.match.endswith("*"):
            continue
        price = card.price
        assert price is not None, card.match
        assert price.cached is not None
        assert price.written is not None
        assert price.cached < price.input < price.written < price.output, card.match


@pytest.mark.parametrize("size", SizeClass)
def test_every_size_has_a_preferred_model(size: SizeClass) -> None:
    assert known().of_size("anthropic", size, Capability.STRUCTURED)


def test_any_name_is_served_with_words_and_json_and_nothing_else() -> None:
    provider = AnthropicProvider(AnthropicSettings())

    assert provider.capabilities("claude-of-tomorrow") == {Capability.TEXT, Capability.STRUCTURED}
    assert provider.text_generator("claude-of-tomorrow")
    assert provider.structured_generator("claude-of-tomorrow")
    for capability in (Capability.EMBED, Capability.DECIDE, Capability.MODERATE):
        assert provider.models(capability) == ()


def test_a_model_of_tomorrow_is_asked_as_those_of_today_are() -> None:
    card = known().find("anthropic", "claude-of-tomorrow")

    assert quirks_of(card).thinking == "adaptive"
    assert not quirks_of(card).forced_tools


def test_no_repr_tells_a_secret() -> None:
    settings = AnthropicSettings(
        api_key=SecretStr("sk-ant-1"),
        auth_token=SecretStr("tok-2"),
        headers={"X-Gate": SecretStr("gate-3")},
    )

    told = f"{settings!r} {settings} {settings.model_dump()} {AnthropicProvider(settings)!r}"

    assert not [secret for secret in ("sk-ant-1", "tok-2", "gate-3") if secret in told]
