from __future__ import annotations

import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import (
    AuthenticationError,
    ContextTooLongError,
    InvalidRequestError,
    OverQuotaError,
    ProviderError,
    ProviderUnavailableError,
    RateLimitedError,
    UnknownModelError,
)
from poise.testing.fake_server import Scripted
from poise.testing.generation_requests import SCHEMA, layered
from poise.turn.generation import GenerationOptions
from poise_openai.errors import Place, retry_after

CHAT = "/v1/chat/completions"


async def failure(served: Any, status: int, body: Any, preset: str = "together") -> ProviderError:
    served.server.script(CHAT, Scripted(status, body=body))
    generator = served.provider(preset).structured_generator("m")

    with pytest.raises(ProviderError) as caught:
        await generator.generate(layered("Hi"), SCHEMA, options=GenerationOptions())

    return caught.value


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "sent", "limit"),
    [
        (
            {
                "error": {
                    "message": "This model's maximum context length is 4096 tokens. However, you "
                    "requested 5000 tokens (4000 in the messages, 1000 in the completion)."
                }
            },
            5000,
            4096,
        ),
        (
            {
                "error": {
                    "message": "This endpoint's maximum context length is 131,072 tokens. However, "
                    "you requested about 200,000 tokens (199,000 of text input)."
                }
            },
            200_000,
            131_072,
        ),
        (
            {
                "error": {
                    "code": 400,
                    "message": "request (5000 tokens) exceeds the available context size "
                    "(4096 tokens), try increasing it",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 5000,
                    "n_ctx": 4096,
                }
            },
            5000,
            4096,
        ),
        (
            {
                "object": "error",
                "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model "
                "with 32768 maximum context length",
                "type": "invalid_request_error",
                "code": "3051",
            },
            40_000,
            32_768,
        ),
        (
            {
                "error": {
                    "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be "
                    "<= 4097. Given: 5000 `inputs` tokens and 0 `max_new_tokens`"
                }
            },
            5000,
            4097,
        ),
        (
            {
                "error": {
                    "message": "You passed 5000 input tokens and requested 0 output tokens. "
                    "However, the model's context length is only 4096 tokens."
                }
            },
            5000,
            4096,
        ),
        (
            {
                "error": "Trying to keep the first 5000 tokens when context the overflows. "
                "However, the model is loaded with context length of only 4096 tokens"
            },
            5000,
            4096,
        ),
        (
            {"error": {"message": "Too long.", "code": "context_length_exceeded"}},
            None,
            None,
        ),
    ],
)
async def test_a_prompt_too_long_comes_with_the_numbers_of_every_server(
    served: Any, body: Any, sent: int | None, limit: int | None
) -> None:
    error = await failure(served, 400, body)

    assert isinstance(error, ContextTooLongError)
    assert (error.sent, error.limit) == (sent, limit)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "acme/x is not a valid model ID"}}, UnknownModelError),
        (400, {"error": {"message": "Invalid model: x", "code": "1500"}}, UnknownModelError),
        (404, {"error": {"code": "DeploymentNotFound", "message": "no"}}, UnknownModelError),
        (404, {"error": "model 'x' not found, try pulling it first"}, UnknownModelError),
        (402, {"error": {"message": "Insufficient credits"}}, OverQuotaError),
        (429, {"error": {"message": "quota", "type": "insufficient_quota"}}, OverQuotaError),
        (429, {"message": "Too many requests"}, RateLimitedError),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "bad"}]}, InvalidRequestError),
        (503, "overloaded", ProviderUnavailableError),
    ],
)
async def test_what_servers_say_in_their_own_ways_is_understood(
    served: Any, status: int, body: Any, kind: type[ProviderError]
) -> None:
    assert type(await failure(served, status, body)) is kind


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_a_key_that_a_server_quotes_goes_no_further(served: Any, status: int) -> None:
    key = "sk-test-1234567890"
    body = {"error": {"message": f"Incorrect API key provided: {key} (or sk-tes****7890)."}}

    error = await failure(served, status, body)

    told = "".join(traceback.format_exception(error)) + repr(error)
    assert key not in told
    assert "7890" not in told


@pytest.mark.anyio
async def test_a_refused_key_names_the_variable_and_the_setting(served: Any) -> None:
    error = await failure(served, 401, {"error": {"message": "no"}}, "openrouter")

    assert isinstance(error, AuthenticationError)
    assert "OPENROUTER_API_KEY" in error.reason
    assert "openai.presets.openrouter.api_key" in error.reason


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (
            {
                "date": "Tue, 01 Dec 2026 10:00:00 GMT",
                "retry-after": "Tue, 01 Dec 2026 10:00:30 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Tue, 01 Dec 2026 10:00:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
    ],
)
def test_a_server_may_say_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@given(st.text(max_size=60), st.text("abcdef0123", min_size=12, max_size=40), st.text(max_size=60))
def test_a_secret_is_hidden_wherever_it_stands(before: str, secret: str, after: str) -> None:
    place = Place("acme", "m", "ACME_API_KEY", "the setting", (secret,))

    assert secret not in place.hidden(f"{before}{secret}{after}")
    assert place.reveals(f"{before}{secret}{after}")
    assert secret not in repr(place)
