"""Providers made from presets: those of this package by name, and those of any other plugin."""

from __future__ import annotations

import os
from collections.abc import Callable

from pydantic import SecretStr

from poise.hooks.cards import Cards
from poise.ports.models import ModelProvider
from poise.ports.stores import ArtifactStore
from poise_openai.preset import Preset, load_presets
from poise_openai.provider import CompatibleProvider
from poise_openai.settings import OpenAISettings, ServerSettings, settings_for


def preset_provider(
    preset: Preset, settings: type[ServerSettings] | None = None
) -> Callable[..., ModelProvider]:
    """Return a factory for `offers.add(ModelProvider, preset.name, factory)`.

    Args:
        preset: What is to be known of the server; see `Preset` and `load_presets`.
        settings: The model of the section that your plugin declares for it, best made by
            `settings_for(preset)`. `None`: there is no section, and key and address come from
            the variables that the preset names.
    """
    model = settings or settings_for(preset)

    def make(
        settings: ServerSettings | None = None,
        cards: Cards | None = None,
        artifacts: ArtifactStore | None = None,
    ) -> ModelProvider:
        found = _from_environment(preset, model) if settings is None else settings
        return CompatibleProvider(preset, found, cards, artifacts=artifacts)

    # The application fills parameters by their types, and this one is known only now.
    make.__annotations__["settings"] = model | None
    make.__name__ = f"make_{preset.name}"
    return make


def __getattr__(name: str) -> Callable[..., ModelProvider]:
    """Return the factory of a preset of this package, as `plugin.py` names it."""
    preset = load_presets().get(name)
    if preset is None or name == "openai":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def make(
        settings: OpenAISettings, cards: Cards, artifacts: ArtifactStore | None = None
    ) -> ModelProvider:
        return CompatibleProvider(preset, settings.of(name), cards, artifacts=artifacts)

    return make


def _from_environment(preset: Preset, model: type[ServerSettings]) -> ServerSettings:
    key, address = (
        next((os.environ[name] for name in names if os.environ.get(name)), None)
        for names in (preset.key_env, preset.base_url_env)
    )
    return model(api_key=SecretStr(key) if key else None, base_url=address)
