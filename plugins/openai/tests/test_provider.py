from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pydantic import SecretStr

from poise import Capability, Cards, ModelProvider
from poise.errors import UnknownOfferError
from poise.testing.generation_requests import layered
from poise.turn.cards import ModelCard, SizeClass
from poise_openai import (
    CompatibleProvider,
    OpenAIProvider,
    OpenAISettings,
    ServerSettings,
    load_presets,
)

GENERATING = {Capability.TEXT, Capability.STRUCTURED, Capability.DECIDE}


def cards() -> Cards:
    found = Cards()
    found.add_file("poise_openai")
    return found


@pytest.fixture
def vendor() -> ModelProvider:
    return OpenAIProvider(OpenAISettings(api_key=SecretStr("sk-canary-12345678")), cards())


def local(**said: str) -> CompatibleProvider:
    return CompatibleProvider(load_presets()["ollama"], ServerSettings.model_validate(said))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("a-model-of-tomorrow", GENERATING),
        ("my-org/Fancy-Embed-v9", {Capability.EMBED}),
        ("tomorrows-moderation", {Capability.MODERATE}),
        ("gpt-6-luna", GENERATING),
        ("text-embedding-3-large", {Capability.EMBED}),
        ("", set()),
    ],
)
def test_a_name_that_nobody_knows_is_taken_for_what_it_looks_like(
    vendor: ModelProvider, model: str, expected: set[Capability]
) -> None:
    assert vendor.capabilities(model) == expected


def test_a_server_without_moderation_has_no_moderators() -> None:
    assert Capability.MODERATE not in local().capabilities("my-moderation")


def test_settings_say_what_a_provider_alone_stands_for() -> None:
    provider = local(model="llama3.2", embedding_model="bge-m3")

    assert provider.models(Capability.TEXT) == ("llama3.2",)
    assert provider.models(Capability.EMBED) == ("bge-m3",)
    assert provider.capabilities("bge-m3") == {Capability.EMBED}
    assert local().models(Capability.TEXT) == ()


@pytest.mark.parametrize("capability", list(Capability))
def test_the_vendors_known_models_can_all_be_had(
    vendor: ModelProvider, capability: Capability
) -> None:
    names = vendor.models(capability)

    assert names
    assert all(capability in vendor.capabilities(name) for name in names)


@pytest.mark.parametrize("size", list(SizeClass))
def test_there_is_a_generating_model_of_every_size(size: SizeClass) -> None:
    for capability in (Capability.TEXT, Capability.STRUCTURED):
        assert cards().of_size("openai", size, capability) is not None


def test_a_model_that_gives_no_probabilities_is_no_decision_model(vendor: ModelProvider) -> None:
    assert vendor.models(Capability.DECIDE) == ("gpt-6-luna",)
    assert Capability.DECIDE not in vendor.capabilities("gpt-5.4-mini")
    assert Capability.DECIDE in vendor.capabilities("gpt-4o-mini")


def test_models_for_something_else_are_not_given_out(vendor: ModelProvider) -> None:
    for make, model in (
        (vendor.embedder, "gpt-6-luna"),
        (vendor.text_generator, "text-embedding-3-small"),
        (vendor.structured_generator, "omni-moderation-latest"),
        (vendor.moderator, "gpt-6-luna"),
        (vendor.decision_model, "text-embedding-3-small"),
    ):
        with pytest.raises(UnknownOfferError, match=model):
            make(model)


def test_a_card_decides_what_a_name_is_for() -> None:
    known = Cards()
    known.add(ModelCard("ollama", "odd-name", capabilities=frozenset({Capability.EMBED})))

    provider = CompatibleProvider(load_presets()["ollama"], None, known)

    assert provider.capabilities("odd-name") == {Capability.EMBED}


@pytest.mark.anyio
async def test_tokens_are_counted_where_the_vocabulary_is_known(vendor: ModelProvider) -> None:
    pytest.importorskip("bpe_openai")

    counted = await vendor.count_tokens("gpt-6-luna", layered("Where is my card?"))

    assert counted is not None
    assert 10 < counted < len(layered("Where is my card?").text)
    assert await vendor.count_tokens("a-model-of-tomorrow", layered("Hi")) is None


@pytest.mark.anyio
async def test_tokens_are_estimated_by_others_where_no_vocabulary_is_installed(
    vendor: ModelProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from poise_openai import tokens

    tokens._encoder.cache_clear()
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)

    assert await vendor.count_tokens("gpt-6-luna", layered("Hi")) is None
    tokens._encoder.cache_clear()


def test_settings_and_provider_show_no_key(vendor: ModelProvider) -> None:
    settings = OpenAISettings(
        api_key=SecretStr("sk-canary-12345678"), headers={"X-Key": SecretStr("canary-header")}
    )

    told = f"{settings!r} {settings} {settings.model_dump_json()} {vendor!r} {vars(vendor)!r}"

    assert "canary" not in told


def test_nothing_imports_the_sdk_before_it_is_used() -> None:
    program = """
import sys
import poise_openai.plugin
import poise_openai
for name in poise_openai.__all__:
    getattr(poise_openai, name)
from poise_openai import OpenAIProvider, OpenAISettings
from poise import Cards
provider = OpenAIProvider(OpenAISettings(), Cards())
provider.text_generator("m"), provider.embedder("m-embed"), provider.moderator("m-moderation")
provider.decision_model("m")
print(sorted(name for name in sys.modules if name.split(".")[0] in ("openai", "httpx2", "numpy")))
"""

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OPENAI_API_KEY": ""},
    )

    assert done.stdout.strip() == "[]"


def test_the_plugin_itself_imports_poise_alone() -> None:
    program = (
        "import sys, poise_openai.plugin;"
        "print([n for n in sys.modules if n.startswith('poise_openai.')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "['poise_openai.plugin']"
