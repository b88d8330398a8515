from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from poise import ModelProvider, Offers, Sections
from poise.errors import ConfigError
from poise.turn.models import Capability
from poise_embedded import plugin
from poise_embedded.provider import EmbeddedProvider
from poise_embedded.settings import EmbeddedSettings


def test_is_the_default_provider_and_made_from_its_settings() -> None:
    offers = Offers("embedded")
    sections = Sections("embedded")
    plugin.poise_provide(offers)
    plugin.poise_config(sections)

    made = offers.make(ModelProvider, None, _Supplier())

    assert isinstance(made, EmbeddedProvider)
    assert [section.name for section in sections.all()] == ["embedded"]


def test_names_the_export_only_where_one_is_configured(tmp_path: Path) -> None:
    plain = EmbeddedProvider(EmbeddedSettings())
    configured = EmbeddedProvider(EmbeddedSettings(onnx_path=tmp_path))

    assert plain.models(Capability.EMBED) == ("use",)
    assert configured.models(Capability.EMBED) == ("use", "onnx")
    assert plain.models(Capability.DECIDE) == ("prior",)


def test_the_model_is_in_memory_once() -> None:
    provider = EmbeddedProvider(EmbeddedSettings())

    assert provider.embedder("use") is provider.embedder("use")


def test_the_export_can_not_be_had_unconfigured() -> None:
    with pytest.raises(ConfigError, match="on offer: use"):
        EmbeddedProvider(EmbeddedSettings()).embedder("onnx")


def test_the_band_of_the_decision_model_is_the_operators() -> None:
    provider = EmbeddedProvider(EmbeddedSettings(band=(0.1, 0.9)))

    assert provider.decision_model("prior").band == (0.1, 0.9)


@pytest.mark.parametrize("band", [(0.6, 0.2), (0.5, 0.5), (-0.1, 0.5), (0.5, 1.1)])
def test_a_band_out_of_order_is_refused(band: tuple[float, float]) -> None:
    with pytest.raises(ValidationError, match="the lower one first"):
        EmbeddedSettings(band=band)


def test_a_misspelt_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="onnx_pth"):
        EmbeddedSettings.model_validate({"onnx_pth": "model"})


class _Supplier:
    def supply(self, kind: type) -> object:
        if kind is EmbeddedSettings:
            return EmbeddedSettings()
        raise LookupError(kind)
