"""Google's errors: the right kind, when to come back, and never a key."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from poise import (
    AuthenticationError,
    ContextTooLongError,
    GenerationOptions,
    OverQuotaError,
    Prompt,
    ProviderError,
    ProviderTimeoutError,
    RateLimitedError,
    Section,
    Stability,
)
from poise.testing.clock import FrozenClock
from poise.testing.fake_server import FakeModelServer, Scripted
from poise_google.provider import GoogleProvider
from poise_google.settings import GoogleSettings

Payload = Callable[[str], Any]

KEY = "AIzaSyD-a-key-that-must-stay-secret-0"


async def failure(server: FakeModelServer, scripted: Scripted) -> ProviderError:
    server.script("*:streamGenerateContent", scripted)
    provider = GoogleProvider(
        GoogleSettings(base_url=server.url, api_key=SecretStr(KEY)), clock=FrozenClock()
    )
    prompt = Prompt.of(Section("turn", "Hello", Stability.TURN))
    stream = provider.text_generator("gemini-3.8-flash").stream(prompt, options=GenerationOptions())
    with pytest.raises(ProviderError) as caught:
        async for _ in stream:
            pass
    await provider.aclose()
    return caught.value


@pytest.mark.anyio
async def test_a_wrong_key_is_told_from_other_bad_requests(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    error = await failure(fake_model_server, Scripted(400, body=payload("error_bad_key")))

    assert isinstance(error, AuthenticationError)
    assert "GEMINI_API_KEY" in error.reason


@pytest.mark.anyio
async def test_the_structured_delay_says_when_to_come_back(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    error = await failure(fake_model_server, Scripted(429, body=payload("error_quota_minute")))

    assert isinstance(error, RateLimitedError)
    assert error.retry_after == 22.4


@pytest.mark.anyio
async def test_a_date_says_when_to_come_back(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    said = Scripted(429, {"Retry-After": "Mon, 05 Jan 2026 09:00:30 GMT"}, body=payload("error"))

    error = await failure(fake_model_server, said)

    assert error.retry_after == 30.0


@pytest.mark.anyio
async def test_a_quota_of_the_day_is_not_waited_for(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    error = await failure(fake_model_server, Scripted(429, body=payload("error_quota_day")))

    assert isinstance(error, OverQuotaError)
    assert "PerDay" in error.reason


@pytest.mark.anyio
async def test_too_many_tokens_come_with_the_numbers(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    error = await failure(fake_model_server, Scripted(400, body=payload("error_too_long")))

    assert isinstance(error, ContextTooLongError)
    assert (error.sent, error.limit) == (1_200_345, 1_048_576)


@pytest.mark.anyio
async def test_googles_own_deadline_is_a_timeout(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    error = await failure(fake_model_server, Scripted(504, body=payload("error")))

    assert isinstance(error, ProviderTimeoutError)


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
async def test_a_key_that_the_server_echoes_is_not_shown(
    fake_model_server: FakeModelServer, payload: Payload, status: int
) -> None:
    body = payload("error")
    body["error"]["message"] = f"GET /v1/models?key={KEY} with x-goog-api-key: {KEY} failed"

    error = await failure(fake_model_server, Scripted(status, body=body))

    shown = "".join(traceback.format_exception(error)) + repr(error)
    assert KEY not in shown
    assert "[secret]" in error.reason
