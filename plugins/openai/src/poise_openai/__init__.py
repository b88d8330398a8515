"""OpenAI, and every server that speaks its wire, as model providers.

Names load on first use; none of them imports the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise_openai.preset import Preset, load_presets
    from poise_openai.presets import preset_provider
    from poise_openai.provider import CompatibleProvider, OpenAIProvider
    from poise_openai.settings import OpenAISettings, ServerSettings, settings_for

_HOMES = {
    "CompatibleProvider": "provider",
    "OpenAIProvider": "provider",
    "OpenAISettings": "settings",
    "Preset": "preset",
    "ServerSettings": "settings",
    "load_presets": "preset",
    "preset_provider": "presets",
    "settings_for": "settings",
}

__all__ = [
    "CompatibleProvider",
    "OpenAIProvider",
    "OpenAISettings",
    "Preset",
    "ServerSettings",
    "load_presets",
    "preset_provider",
    "settings_for",
]


def __getattr__(name: str) -> Any:  # whatever the name stands for
    """Load a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"poise_openai.{_HOMES[name]}"), name)
