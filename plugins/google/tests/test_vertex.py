"""Vertex AI by Google Cloud's credentials: found at first use, never before, and never shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poise import AuthenticationError, GenerationOptions, Prompt, Section, Stability
from poise.testing.fake_server import FakeModelServer, Scripted
from poise_google.provider import VertexProvider
from poise_google.settings import VertexSettings

Payload = Callable[[str], Any]

PROMPT = Prompt.of(Section("turn", "Hello", Stability.TURN))


@pytest.fixture
def credentials(
    tmp_path: Path, fake_model_server: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service account whose tokens the fake server gives out."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    account = {
        "type": "service_account",
        "project_id": "a-project",
        "private_key_id": "1",
        "private_key": key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
        "client_email": "poise@a-project.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": f"{fake_model_server.url}/token",
    }
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    token = {"access_token": "ya29.a-token", "expires_in": 3600, "token_type": "Bearer"}
    fake_model_server.script("/token", Scripted(body=token))


async def write(provider: VertexProvider) -> str:
    stream = provider.text_generator("gemini-3.8-flash").stream(PROMPT, options=GenerationOptions())
    return "".join([chunk.text async for chunk in stream])


@pytest.mark.anyio
@pytest.mark.usefixtures("credentials")
async def test_credentials_are_found_at_first_use_and_name_the_project(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script("*:streamGenerateContent", Scripted(events=(payload("answer"),)))
    provider = VertexProvider(
        VertexSettings(base_url=fake_model_server.url, location="europe-west4")
    )
    assert not fake_model_server.received

    assert await write(provider) == "It is on its way."

    token, asked = fake_model_server.received
    assert token.path == "/token"
    assert "/projects/a-project/locations/europe-west4/publishers/google/models/" in asked.path
    assert asked.headers["authorization"] == "Bearer ya29.a-token"
    await provider.aclose()


@pytest.mark.anyio
@pytest.mark.usefixtures("credentials")
async def test_credentials_that_are_refused_are_an_authentication_error(
    fake_model_server: FakeModelServer,
) -> None:
    fake_model_server.script("/token", Scripted(400, body={"error": "invalid_grant"}))
    provider = VertexProvider(VertexSettings(base_url=fake_model_server.url))

    with pytest.raises(AuthenticationError, match="GOOGLE_APPLICATION_CREDENTIALS"):
        await write(provider)
    await provider.aclose()


@pytest.mark.anyio
async def test_credentials_that_cannot_be_read_are_an_authentication_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    provider = VertexProvider(VertexSettings(base_url="http://127.0.0.1:9"))

    with pytest.raises(AuthenticationError, match="gcloud auth application-default login"):
        await write(provider)
    await provider.aclose()
