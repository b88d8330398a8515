"""What the SDK raises, as errors that say what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import attrs

from poise.errors import (
    AuthenticationError,
    ContextTooLongError,
    InvalidRequestError,
    MalformedReplyError,
    OverQuotaError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RateLimitedError,
    RefusedError,
    UnknownModelError,
)

if TYPE_CHECKING:
    from openai import APIError

_QUOTED = 500
_MASK = "[secret]"
_KEYS = re.compile(r"\b(?:sk|pk|gsk)[-_][\w*.-]{6,}|\bBearer\s+\S+|\b\w{0,12}\*{4,}\w*")

_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"context (?:length|window|size)(?: of this model)?(?: is| of)?(?: only)? \(?(\d+)",
        r"with (\d+) maximum context",
        r"must be <= (\d+)",
        r"\blimit(?: is|:| of)? (\d+)",
    )
)
_SENT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:resulted in|you requested(?: about)?|you passed|prompt contains) (\d+)",
        r"(?:request|prompt|input) (?:\(|has |of )?(\d+) (?:input )?tokens",
        r"given: (\d+)",
        r"the first (\d+) tokens",
        r"too many tokens: (\d+)",
    )
)
_TOO_LONG = re.compile(
    r"context.{0,12}(?:length|window|size)|too (?:long|large) for model|too many tokens"
    r"|maximum (?:input|prompt) length|tokens.{0,40}must be <=|input is too (?:long|large)",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    r"(?:model|deployment)\b.{0,80}(?:does not exist|not found|not a valid)|invalid model"
    r"|no such model|not a valid model",
    re.IGNORECASE | re.DOTALL,
)
_CODES_OF_REFUSAL = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "invalid_prompt",
        "bio_policy",
        "misalignment_policy_violation",
        "responsibleaipolicyviolation",
    }
)
_CODES: Mapping[str, type[ProviderError]] = {
    "insufficient_quota": OverQuotaError,
    "billing_hard_limit_reached": OverQuotaError,
    "invalid_api_key": AuthenticationError,
    "model_not_found": UnknownModelError,
    "deploymentnotfound": UnknownModelError,
    "context_length_exceeded": ContextTooLongError,
    "exceed_context_size_error": ContextTooLongError,
    "rate_limit_exceeded": RateLimitedError,
    "server_error": ProviderUnavailableError,
    "overloaded_error": ProviderUnavailableError,
}
_STATUSES: Mapping[int, type[ProviderError]] = {
    401: AuthenticationError,
    402: OverQuotaError,
    403: AuthenticationError,
    404: UnknownModelError,
    408: ProviderTimeoutError,
    413: InvalidRequestError,
    429: RateLimitedError,
}


@attrs.frozen
class Place:
    """Where a request went and what mends it, for the words of an error.

    Attributes:
        provider: The provider's name.
        model: The model's.
        key: Which variable or setting holds the key.
        address: Which setting holds the address.
        secrets: What must appear nowhere.
    """

    provider: str
    model: str
    key: str
    address: str
    secrets: tuple[str, ...] = attrs.field(default=(), repr=False)

    def reveals(self, text: str) -> bool:
        """Say whether `text` holds a secret, or what looks like one."""
        return any(secret in text for secret in self.secrets) or bool(_KEYS.search(text))

    def hidden(self, text: str) -> str:
        """Return `text`, cut to a readable length, without a secret or what looks like one."""
        for secret in self.secrets:
            text = text.replace(secret, _MASK)
        plain = _KEYS.sub(_MASK, " ".join(text.split()))
        return plain if len(plain) <= _QUOTED else plain[:_QUOTED] + "…"


def translated(exc: Exception, place: Place) -> ProviderError:
    """Return the typed error for what the SDK raised. A policy block is a `RefusedError`."""
    import openai

    if isinstance(exc, openai.APITimeoutError):
        return ProviderTimeoutError(
            place.provider, place.model, "", f"no connection in time; is {place.address} right?"
        )
    if isinstance(exc, openai.APIConnectionError):
        return ProviderUnavailableError(
            place.provider,
            place.model,
            "",
            f"the server can't be reached or hung up ({type(exc.__cause__ or exc).__name__}); "
            f"is it running, and is {place.address} right?",
        )
    if isinstance(exc, openai.APIStatusError):
        return _of_status(exc, exc.status_code, place)
    if isinstance(exc, openai.APIError):  # an error event within a stream: there is no status
        code = exc.code or ""
        return _of_status(exc, int(code) if code.isdecimal() else None, place)
    if isinstance(exc, json.JSONDecodeError | UnicodeDecodeError):
        return ProviderUnavailableError(
            place.provider, place.model, "", "the answer broke off or is no JSON; try again"
        )
    return MalformedReplyError(
        place.provider,
        place.model,
        "",
        f"the answer is not what this wire promises ({type(exc).__name__}); "
        f"is {place.address} the address of a compatible server?",
    )


def failed(code: str, message: str, place: Place) -> ProviderError:
    """Return the error for a failure that was reported inside a well-formed answer."""
    return _error(code, code, message, None, place)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a server asks to wait, where it does."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            return max(0.0, float(said) / unit)
        except ValueError:
            pass
        try:
            # The server's own clock is the one that its date was made from.
            until, now = parsedate_to_datetime(said), parsedate_to_datetime(headers["date"])
            return max(0.0, (until - now).total_seconds())
        except (ValueError, TypeError, KeyError):
            return None
    return None


def _of_status(exc: APIError, status: int | None, place: Place) -> ProviderError:
    import openai

    headers = exc.response.headers if isinstance(exc, openai.APIStatusError) else {}
    code = exc.code or _inner_code(exc.body) or ""
    error = _error(code, exc.type or "", _message(exc), status, place)
    if isinstance(error, ContextTooLongError):
        body = exc.body if isinstance(exc.body, Mapping) else {}
        error.sent = _whole(body.get("n_prompt_tokens")) or error.sent
        error.limit = _whole(body.get("n_ctx")) or error.limit
    error.retry_after = retry_after(headers)
    return error


def _error(code: str, kind: str, message: str, status: int | None, place: Place) -> ProviderError:
    names = (code.lower(), kind.lower())
    where = (place.provider, place.model, "")
    if any(name in _CODES_OF_REFUSAL for name in names):
        return RefusedError(*where, place.hidden(message))
    chosen = next((_CODES[name] for name in names if name in _CODES), None)
    if chosen is None and status is not None:
        chosen = _STATUSES.get(status)
        if chosen is None:
            chosen = ProviderUnavailableError if status >= 500 else InvalidRequestError
    if status in (400, 413, 422, None) and chosen in (InvalidRequestError, None):
        if _TOO_LONG.search(message):
            chosen = ContextTooLongError
        elif _NO_MODEL.search(message):
            chosen = UnknownModelError
    chosen = chosen or ProviderUnavailableError
    reason = _reason(chosen, place, message, status)
    if chosen is ContextTooLongError:
        return ContextTooLongError(
            *where, reason, sent=_number(_SENT, message), limit=_number(_LIMITS, message)
        )
    return chosen(*where, reason)


def _reason(kind: type[ProviderError], place: Place, message: str, status: int | None) -> str:
    said = place.hidden(message)
    if kind is AuthenticationError:
        # What the server says of a key may quote it.
        return f"the server refuses the key (status {status or 401}); check {place.key}"
    mends = {
        OverQuotaError: "the account is out of credit or over its quota; add credit, or use "
        f"another key in {place.key}",
        UnknownModelError: "there is no such model, or this key may not use it; check the "
        f"route's model and {place.address}",
        ContextTooLongError: "the prompt does not fit; give the model's card its `context`",
        RateLimitedError: "too many requests; lower the provider's `concurrency`",
        ProviderUnavailableError: f"the server failed (status {status or 'unknown'}); try again",
    }
    mend = mends.get(kind, f"the server refuses the request (status {status or 'unknown'})")
    return f"{mend}: {said}" if said else mend


def _message(exc: APIError) -> str:
    body = exc.body
    if isinstance(body, Mapping):
        for key in ("message", "detail", "error"):
            if isinstance(body.get(key), str):
                return str(body[key])
        return json.dumps(body, default=str)
    return str(body) if isinstance(body, str) else exc.message


def _inner_code(body: object) -> str:
    """Return the code that Azure puts one level down."""
    inner = body.get("innererror") if isinstance(body, Mapping) else None
    return str(inner.get("code", "")) if isinstance(inner, Mapping) else ""


def _number(patterns: Iterable[re.Pattern[str]], message: str) -> int | None:
    plain = re.sub(r"(?<=\d)[,_](?=\d{3})", "", message)
    return next((int(found[1]) for each in patterns if (found := each.search(plain))), None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
