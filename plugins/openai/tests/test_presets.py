from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from poise import Cards, ModelProvider, Offers, Sections
from poise.errors import InvalidValueError
from poise.hooks.offers import load
from poise.testing.fake_server import Scripted
from poise_openai import (
    OpenAISettings,
    Preset,
    ServerSettings,
    load_presets,
    plugin,
    preset_provider,
    settings_for,
)
from poise_openai.preset import preset_from

PRESETS = [name for name in load_presets() if name != "openai"]
ACME = Preset("acme", "https://api.acme.example/v1", key_env="ACME_API_KEY")


class Supply:
    """Hands out what factories ask for, as the application does."""

    def __init__(self, *held: object) -> None:
        self._held = held

    def supply(self, kind: type) -> Any:
        for each in self._held:
            if type(each) is kind:
                return each
        raise LookupError(kind)


@pytest.fixture
def offers() -> Offers:
    found = Offers()
    plugin.poise_provide(found)
    return found


@pytest.mark.parametrize("name", ["openai", *PRESETS])
def test_every_preset_is_a_provider_of_its_own_name(name: str, offers: Offers) -> None:
    using = Supply(OpenAISettings(), Cards())

    made = offers.make(ModelProvider, name, using)

    assert made.name == name


def test_a_preset_takes_its_own_table_of_the_settings(offers: Offers) -> None:
    settings = OpenAISettings.model_validate(
        {"concurrency": 9, "presets": {"mistral": {"concurrency": 3}}}
    )

    using = Supply(settings, Cards())

    assert offers.make(ModelProvider, "mistral", using).concurrency == 3
    assert offers.make(ModelProvider, "openai", using).concurrency == 9
    assert offers.make(ModelProvider, "qwen", using).concurrency is None


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_says_where_it_is_and_where_its_key_comes_from(name: str) -> None:
    preset = load_presets()[name]

    assert preset.azure or preset.base_url.startswith(("https://", "http://localhost:"))
    assert preset.needs_key != preset.base_url.startswith("http://localhost:")
    assert preset.key_env


def test_settings_declare_the_vendors_own_variables() -> None:
    presets = OpenAISettings().presets
    found = {
        name: type(getattr(presets, name)).model_fields["api_key"].json_schema_extra
        for name in PRESETS
    }

    assert found["openrouter"] == {"env": ["OPENROUTER_API_KEY"]}
    ollama = type(getattr(presets, "ollama")).model_fields["base_url"]  # noqa: B009
    assert ollama.json_schema_extra == {"env": ["OLLAMA_BASE_URL", "OLLAMA_HOST"]}
    assert all(found.values())


def test_another_plugin_contributes_a_preset_with_a_section() -> None:
    settings = settings_for(ACME)
    offers, sections = Offers("acme"), Sections("acme")
    sections.add("acme", settings)
    offers.add(ModelProvider, "acme", preset_provider(ACME, settings))

    held = settings(api_key=SecretStr("k" * 20), concurrency=4)
    made = offers.make(ModelProvider, "acme", Supply(held, Cards()))

    assert (made.name, made.concurrency) == ("acme", 4)
    assert issubclass(load(settings, "acme"), ServerSettings)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_another_plugin_contributes_a_preset_without_a_section(
    served: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}
    reply = {**recorded("embeddings"), "data": [row]}
    served.server.script("/v2/embeddings", Scripted(body=reply))
    monkeypatch.setenv("ACME_API_KEY", "key-of-acme")
    preset = Preset("acme", f"{served.server.url}/v2", key_env="ACME_API_KEY")
    offers = Offers("acme")
    offers.add(ModelProvider, "acme", preset_provider(preset))

    made = offers.make(ModelProvider, "acme", Supply(Cards()))
    await made.embedder("acme-embed").embed(["hello"])

    assert served.server.received[0].headers["authorization"] == "Bearer key-of-acme"


def test_presets_come_from_a_data_file_of_any_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "poise_acme_data"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "presets.toml").write_text(
        '[acme]\nbase_url = "https://a.example/v1"\nlevels = ["json_object", "prompt"]\n'
    )
    monkeypatch.syspath_prepend(tmp_path)

    presets = load_presets("poise_acme_data")

    assert [level.value for level in presets["acme"].levels] == ["json_object", "prompt"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"base": "x"}, "base is unknown; there are: api, azure"),
        ({"api": "telepathy"}, "telepathy"),
        ({"levels": ["grammar"]}, "grammar"),
        ({"levels": []}, "name one"),
    ],
)
def test_a_wrong_preset_names_the_field(said: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValueError, match=words):
        preset_from("acme", said)


def test_a_preset_whose_name_no_setting_can_have_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="identifier"):
        Preset("acme-cloud")
