from typing import Any

import pytest

from poise_anthropic.errors import Place, retry_after, translated

anthropic = pytest.importorskip("anthropic")
httpx2 = pytest.importorskip("httpx2")


def error_of(status: int, body: Any, **headers: str) -> Any:
    request = httpx2.Request("POST", "http://vendor.test/v1/messages")
    response = httpx2.Response(status, json=body, headers=headers, request=request)
    raised = anthropic.APIStatusError("failed", response=response, body=body)
    return translated(raised, Place("a-model", "http://vendor.test", ("hush-hush",)))


@pytest.mark.parametrize(
    ("message", "sent", "limit"),
    [
        ("prompt is too long: 208310 tokens > 200000 maximum", 208_310, 200_000),
        (
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, "
            "decrease input length or `max_tokens` and try again",
            209_573,
            200_000,
        ),
        (
            "request (5008 tokens) exceeds the available context size (4096 tokens), try to "
            "increase it",
            5008,
            4096,
        ),
        ("input exceeds the model's context window of claude-4-5", None, None),
        ("prompt is too long", None, None),
    ],
)
def test_what_is_too_long_comes_with_the_numbers_that_the_server_tells(
    message: str, sent: int | None, limit: int | None
) -> None:
    error = error_of(400, {"error": {"type": "invalid_request_error", "message": message}})

    assert (error.sent, error.limit) == (sent, limit)


def test_a_secret_in_the_servers_words_is_masked() -> None:
    error = error_of(400, {"error": {"message": "what is hush-hush?"}})

    assert "hush-hush" not in error.reason
    assert "[secret]" in error.reason


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            30.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_by_the_servers_own_clock(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds
