"""What the SDK and its transport raise, as errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

import attrs

from poise import (
    AuthenticationError,
    ContextTooLongError,
    InvalidRequestError,
    MalformedReplyError,
    OverQuotaError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RateLimitedError,
    UnknownModelError,
)

PROVIDER = "anthropic"

_QUOTED = 500
_MASK = "[secret]"

_TYPES: Mapping[str, type[ProviderError]] = {
    "invalid_request_error": InvalidRequestError,
    "authentication_error": AuthenticationError,
    "permission_error": AuthenticationError,
    "billing_error": OverQuotaError,
    "not_found_error": UnknownModelError,
    "request_too_large": ContextTooLongError,
    "rate_limit_error": RateLimitedError,
    "timeout_error": ProviderTimeoutError,
    "api_error": ProviderUnavailableError,
    "overloaded_error": ProviderUnavailableError,
}
_STATUSES: Mapping[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: OverQuotaError,
    403: AuthenticationError,
    404: UnknownModelError,
    408: ProviderTimeoutError,
    413: ContextTooLongError,
    429: RateLimitedError,
    504: ProviderTimeoutError,
}
_NO_CREDIT = re.compile(r"credit balance|spend(?:ing)? limit|usage limits?\b", re.IGNORECASE)
_TOO_LONG = re.compile(r"(?:prompt|input) is too long|exceeds? [\w' ]{0,30}context", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,_]*(?![\w-])")


@attrs.frozen
class Place:
    """What an error is to say of where it happened.

    Attributes:
        model: The model's name.
        url: Where requests go, without credentials.
        secrets: What no error may quote.
    """

    model: str
    url: str
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)

    def hidden(self, text: str) -> str:
        """Return `text` without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, _MASK)
        return text


def no_key(model: str) -> AuthenticationError:
    """Return the error for a missing key."""
    return AuthenticationError(
        PROVIDER,
        model,
        "",
        "there is no key; set ANTHROPIC_API_KEY, or the setting anthropic.api_key",
    )


def malformed(model: str, what: str) -> MalformedReplyError:
    """Return the error for an answer that is none of the Messages API."""
    return MalformedReplyError(
        PROVIDER,
        model,
        "",
        f"the answer {what}; check that the setting anthropic.base_url names a server that "
        f"speaks the Messages API",
    )


def cut_short(model: str) -> ProviderUnavailableError:
    """Return the error for a stream that ended without saying why."""
    return ProviderUnavailableError(
        PROVIDER, model, "", "the stream ended before the model was done; try again"
    )


def translated(exc: Exception, place: Place) -> ProviderError:
    """Return the error of ours that says what `exc` does, and what mends it."""
    import anthropic

    if isinstance(exc, anthropic.APIStatusError):
        return _of_status(exc, place)
    if isinstance(exc, anthropic.APIConnectionError) or _is_transport(exc):
        told = place.hidden(_shortened(str(exc.__cause__ or exc)))
        return ProviderUnavailableError(
            PROVIDER,
            place.model,
            "",
            f"the connection to {place.url} failed ({told or type(exc).__name__}); check the "
            f"network and the setting anthropic.base_url",
        )
    if isinstance(exc, ValueError | TypeError | AttributeError | KeyError | anthropic.APIError):
        return malformed(place.model, f"can't be read ({type(exc).__name__})")
    return ProviderUnavailableError(
        PROVIDER, place.model, "", f"the request failed inside the SDK ({type(exc).__name__})"
    )


def quotes_secret(exc: BaseException | None, place: Place) -> bool:
    """Say whether what is printed of an exception and of its causes holds a secret."""
    while exc is not None:
        text = str(exc)
        if place.hidden(text) != text:
            return True
        exc = exc.__cause__ or exc.__context__
    return False


def _of_status(exc: object, place: Place) -> ProviderError:
    status: int = getattr(exc, "status_code", 0)
    message = str(getattr(exc, "api_message", None) or getattr(exc, "message", ""))
    kind = _kind(status, str(getattr(exc, "type", None) or ""), message)
    told = place.hidden(_shortened(message))
    reason = f"{_mend(kind)} ({status}: {told})" if status >= 400 else f"{_mend(kind)} ({told})"
    headers = getattr(getattr(exc, "response", None), "headers", {})
    wait = retry_after(headers)
    if kind is ContextTooLongError:
        sent, limit = _sent_and_limit(message)
        return ContextTooLongError(PROVIDER, place.model, "", reason, wait, sent, limit)
    return kind(PROVIDER, place.model, "", reason, wait)


def _kind(status: int, told: str, message: str) -> type[ProviderError]:
    if _NO_CREDIT.search(message):
        return OverQuotaError
    if _TOO_LONG.search(message):
        return ContextTooLongError
    # An error within a stream comes with the status of the stream, which is 200.
    known = _STATUSES.get(status) or (_TYPES.get(told) if told else None)
    if known:
        return known
    return InvalidRequestError if 400 <= status < 500 else ProviderUnavailableError


def _mend(kind: type[ProviderError]) -> str:
    return {
        AuthenticationError: "the key is refused; check ANTHROPIC_API_KEY, or the setting "
        "anthropic.api_key, and what the key may use",
        OverQuotaError: "the account has no credit left, or is at its limit; raise it with the "
        "vendor",
        UnknownModelError: "there is no such model for this key; check the route's model and the "
        "setting anthropic.base_url",
        ContextTooLongError: "the prompt is too long; lower the setting for history, or give the "
        "route a model with a larger window",
        RateLimitedError: "too many requests; lower the setting anthropic.concurrency, or raise "
        "the limit with the vendor",
        ProviderTimeoutError: "the server gave up waiting; try again",
        ProviderUnavailableError: "the server fails or is overloaded; try again",
        InvalidRequestError: "the request is refused",
    }[kind]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to wait, where it does."""
    told = headers.get("retry-after", "").strip()
    try:
        seconds = float(headers.get("retry-after-ms", "") or "x") / 1000
    except ValueError:
        try:
            seconds = float(told)
        except ValueError:
            return _seconds_until(told, headers.get("date", ""))
    return seconds if 0 <= seconds < float("inf") else None


def _seconds_until(then: str, now: str) -> float | None:
    """Return the seconds between two dates of HTTP, by the server's clock alone."""
    try:
        dates = [parsedate_to_datetime(each) for each in (then, now)]
        aware = [each if each.tzinfo else each.replace(tzinfo=UTC) for each in dates]
    except (TypeError, ValueError):
        return None
    return max(0.0, (aware[0] - aware[1]).total_seconds())


def _sent_and_limit(message: str) -> tuple[int | None, int | None]:
    numbers = [int(re.sub(r"\D", "", each)) for each in _NUMBER.findall(message)]
    if len(numbers) not in (2, 3):
        return None, None
    # Prompt and output stand apart where it is their sum that is too much.
    return sum(numbers[:-1]), numbers[-1]


def _is_transport(exc: Exception) -> bool:
    import httpx2

    return isinstance(exc, httpx2.TransportError | OSError)


def _shortened(text: str) -> str:
    return " ".join(text.split())[:_QUOTED]
