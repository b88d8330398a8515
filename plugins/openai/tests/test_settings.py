from __future__ import annotations

import pytest

from poise import Sections
from poise.app.config import Config, load_config
from poise.errors import ConfigError
from poise_openai import OpenAISettings, plugin


def settings(environ: dict[str, str], **overrides: object) -> Config:
    sections = Sections("openai")
    plugin.poise_config(sections)
    return load_config(sections, environ={"POISE_CONFIG": "", **environ}, overrides=overrides)


def test_every_vendors_own_variables_are_read() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-vendor",
        "OPENAI_BASE_URL": "http://box/v1",
        "OPENROUTER_API_KEY": "or-key",
        "OLLAMA_HOST": "gpu-box:11434",
        "AZURE_OPENAI_ENDPOINT": "https://n.example",
        "AZURE_OPENAI_AD_TOKEN": "ad-token",
        "OPENAI_API_VERSION": "2026-01-01",
    }

    found = settings(environ).section(OpenAISettings)

    assert found.api_key is not None
    assert found.api_key.get_secret_value() == "sk-vendor"
    assert found.base_url == "http://box/v1"
    openrouter = found.of("openrouter").api_key
    assert openrouter is not None
    assert openrouter.get_secret_value() == "or-key"
    assert found.of("ollama").base_url == "gpu-box:11434"
    azure = found.of("azure").model_dump()
    assert (azure["endpoint"], azure["api_version"]) == ("https://n.example", "2026-01-01")
    assert azure["ad_token"].get_secret_value() == "ad-token"


def test_settings_of_ones_own_come_before_a_vendors_variable() -> None:
    environ = {"OLLAMA_BASE_URL": "a", "POISE_OPENAI__PRESETS__OLLAMA__BASE_URL": "b"}

    assert settings(environ).section(OpenAISettings).of("ollama").base_url == "b"


def test_no_key_is_shown_among_the_settings() -> None:
    config = settings({"OPENAI_API_KEY": "canary-1", "MISTRAL_API_KEY": "canary-2"})

    told = " ".join(str(row) for row in config.describe())

    assert "OPENAI_API_KEY" in told
    assert "canary" not in told


def test_a_misspelt_preset_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean 'ollama'"):
        settings({}, **{"openai.presets.olama.base_url": "x"})
