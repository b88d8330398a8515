from __future__ import annotations

import sys
import types
from typing import Any

import pytest
from pydantic import SecretStr

from poise.errors import AuthenticationError, ConfigError
from poise.testing.fake_server import Scripted
from poise.testing.generation_requests import SCHEMA, layered
from poise.turn.generation import GenerationOptions
from poise_openai import CompatibleProvider, OpenAISettings, ServerSettings, load_presets
from poise_openai.client import Client
from poise_openai.preset import Api
from poise_openai.settings import AzureSettings

PLAIN = GenerationOptions()


def client(preset: str, **said: Any) -> Client:
    kinds: dict[str, type[ServerSettings]] = {"openai": OpenAISettings, "azure": AzureSettings}
    return Client(load_presets()[preset], kinds.get(preset, ServerSettings).model_validate(said))


@pytest.mark.parametrize(
    ("preset", "said", "url"),
    [
        ("openai", {}, "https://api.openai.com/v1"),
        ("openai", {"base_url": "http://box:9/api/"}, "http://box:9/api"),
        ("ollama", {}, "http://localhost:11434/v1"),
        ("ollama", {"base_url": "gpu-box"}, "http://gpu-box:11434/v1"),
        ("ollama", {"base_url": "0.0.0.0:5000"}, "http://127.0.0.1:5000/v1"),
        ("ollama", {"base_url": "https://models.example"}, "https://models.example/v1"),
        ("ollama", {"base_url": "http://[::1]:11434"}, "http://[::1]:11434/v1"),
        ("vllm", {"base_url": "http://box:8000"}, "http://box:8000/v1"),
        ("vllm", {"base_url": "http://box:8000/other/v2/"}, "http://box:8000/other/v2"),
        ("azure", {"endpoint": "https://n.example/"}, "https://n.example/openai/v1"),
        (
            "azure",
            {"endpoint": "https://n.example", "api_version": "2026-01-01"},
            "https://n.example/openai",
        ),
    ],
)
def test_an_address_is_completed_by_what_the_preset_knows(
    preset: str, said: dict[str, Any], url: str
) -> None:
    assert client(preset, **said).base_url == url


@pytest.mark.parametrize(
    ("preset", "said", "api"),
    [
        ("openai", {}, Api.RESPONSES),
        ("openai", {"base_url": "https://api.openai.com/v1"}, Api.RESPONSES),
        ("openai", {"base_url": "http://box/v1"}, Api.CHAT),
        ("openai", {"base_url": "http://box/v1", "api": "responses"}, Api.RESPONSES),
        ("openai", {"api": "chat"}, Api.CHAT),
        ("azure", {}, Api.CHAT),
        ("vllm", {}, Api.CHAT),
    ],
)
def test_the_endpoint_is_the_vendors_own_at_the_vendor_alone(
    preset: str, said: dict[str, Any], api: Api
) -> None:
    assert client(preset, **said).api is api


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("preset", "variable", "setting"),
    [
        ("openai", "OPENAI_API_KEY", "openai.api_key"),
        ("mistral", "MISTRAL_API_KEY", "openai.presets.mistral.api_key"),
        ("azure", "AZURE_OPENAI_API_KEY", "openai.presets.azure.api_key"),
    ],
)
async def test_a_missing_key_names_what_to_set(
    preset: str, variable: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-process")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "of-the-process")
    said = {"endpoint": "https://n.example"} if preset == "azure" else {}

    with pytest.raises(AuthenticationError) as caught:
        await client(preset, **said).sdk("m")

    assert variable in caught.value.reason
    assert setting in caught.value.reason


@pytest.mark.anyio
async def test_a_resource_without_an_address_names_what_to_set() -> None:
    with pytest.raises(ConfigError, match=r"AZURE_OPENAI_ENDPOINT.*presets\.azure\.endpoint"):
        await client("azure", api_key=SecretStr("k" * 20)).sdk()


@pytest.mark.anyio
async def test_the_vendors_secrets_go_to_no_other_server(
    served: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "OPENAI_API_KEY": "sk-of-the-vendor",
        "OPENAI_ADMIN_KEY": "sk-admin-of-the-vendor",
        "OPENAI_ORG_ID": "org-of-the-vendor",
        "OPENAI_PROJECT_ID": "proj-of-the-vendor",
        "OPENAI_CUSTOM_HEADERS": "X-Secret: header-of-the-vendor",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    served.server.script("/v1/chat/completions", Scripted(body=recorded("chat_completion")))
    settings = ServerSettings(base_url=f"{served.server.url}/v1")
    provider = CompatibleProvider(load_presets()["vllm"], settings)

    await provider.text_generator("m").warm(layered("Hi"), options=PLAIN)

    told = str(served.server.received[0].headers)
    assert "of-the-vendor" not in told


@pytest.mark.anyio
async def test_headers_organization_and_project_are_sent(served: Any, recorded: Any) -> None:
    served.server.script("/v1/chat/completions", Scripted(body=recorded("chat_completion")))
    headers = {"X-Team": SecretStr("support")}
    provider = served.provider("openai", headers=headers, organization="org-1", project="proj-1")

    await provider.structured_generator("m").generate(layered("Hi"), SCHEMA, options=PLAIN)

    sent = served.server.received[0].headers
    assert sent["x-team"] == "support"
    assert (sent["openai-organization"], sent["openai-project"]) == ("org-1", "proj-1")


@pytest.mark.anyio
async def test_one_address_governs_every_kind_of_call(
    served: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.server.script("/v1/chat/completions", Scripted(body=recorded("chat_completion")))
    row = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}
    served.server.script("/v1/embeddings", Scripted(body={**recorded("embeddings"), "data": [row]}))
    settings = ServerSettings(base_url=served.server.url)
    provider = CompatibleProvider(load_presets()["ollama"], settings)

    await provider.text_generator("llama3.2").warm(layered("Hi"), options=PLAIN)
    await provider.embedder("some-embed").embed(["hello"])

    assert [request.path for request in served.server.received] == [
        "/v1/chat/completions",
        "/v1/embeddings",
    ]


# -- Azure --

AZURE_CHAT = "/openai/deployments/m/chat/completions"


@pytest.fixture
def azure(served: Any, recorded: Any) -> Any:
    served.server.script("*", Scripted(body=recorded("chat_completion")))

    async def ask(**said: Any) -> Any:
        settings = AzureSettings.model_validate({"endpoint": served.server.url, **said})
        provider = CompatibleProvider(load_presets()["azure"], settings)
        await provider.text_generator("m").warm(layered("Hi"), options=PLAIN)
        return served.server.received[-1]

    return ask


@pytest.mark.anyio
async def test_azure_takes_a_key_and_a_version(azure: Any) -> None:
    sent = await azure(api_key=SecretStr("key-of-azure"), api_version="2026-01-01")

    assert sent.path == AZURE_CHAT
    assert sent.query == {"api-version": "2026-01-01"}
    assert sent.headers["api-key"] == "key-of-azure"
    assert "authorization" not in sent.headers


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2026-01-01", None])
async def test_azure_takes_a_token(azure: Any, version: str | None) -> None:
    sent = await azure(ad_token=SecretStr("token-of-azure"), api_version=version)

    assert sent.path == (AZURE_CHAT if version else "/openai/v1/chat/completions")
    assert sent.headers["authorization"] == "Bearer token-of-azure"


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2026-01-01", None])
@pytest.mark.parametrize("function", ["token", "token_later"])
async def test_azure_takes_a_token_provider_asked_every_time(
    azure: Any, version: str | None, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("tokens_of_a_company")
    count = iter(range(10))

    def token() -> str:
        return f"token-{next(count)}"

    async def token_later() -> str:
        return token()

    vars(module).update(token=token, token_later=token_later)
    monkeypatch.setitem(sys.modules, module.__name__, module)

    sent = await azure(ad_token_provider=f"{module.__name__}:{function}", api_version=version)

    assert sent.headers["authorization"] == "Bearer token-0"


@pytest.mark.anyio
async def test_a_token_provider_that_is_not_there_names_the_setting(azure: Any) -> None:
    with pytest.raises(ConfigError, match="ad_token_provider"):
        await azure(ad_token_provider="nowhere.at:all")


@pytest.mark.anyio
async def test_azure_embeds_by_deployment(served: Any, recorded: Any) -> None:
    row = {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}
    served.server.script("*", Scripted(body={**recorded("embeddings"), "data": [row]}))
    settings = AzureSettings(
        endpoint=served.server.url, api_key=SecretStr("k" * 20), api_version="2026-01-01"
    )
    provider = CompatibleProvider(load_presets()["azure"], settings)

    await provider.embedder("my-embed").embed(["hello"])

    assert served.server.received[0].path == "/openai/deployments/my-embed/embeddings"
