"""What goes wrong at Google's side, as Poise's errors: which one, why, and what mends it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any

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
from poise.values.clock import Clock

_QUOTED = 300
"""Characters of Google's own message that an error repeats."""

_SECRETS = re.compile(r"AIza[\w-]{20,}|ya29\.[\w.-]+|(?<=key=)[^&\s\"']+|(?<=Bearer )[\w.~+/-]+=*")
_TOO_LONG = re.compile(
    r"token count \(?(?P<sent>[\d,]+)\)? exceeds .*?(?P<limit>\d[\d,]+)", re.IGNORECASE | re.DOTALL
)
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


@attrs.frozen
class Call:
    """What is being asked of whom, for the errors that may come of it.

    Attributes:
        provider: The provider's name.
        model: The model's.
        address: Where the service is.
        mend: What to set so that the service accepts us.
        clock: Tells how far off a `Retry-After` date is.
        secret: Never shown.
    """

    provider: str
    model: str
    address: str
    mend: str
    clock: Clock
    secret: str = attrs.field(default="", repr=False)

    def hide(self, text: str) -> str:
        """Return `text` without anything that looks like a key."""
        if self.secret:
            text = text.replace(self.secret, "[secret]")
        return _SECRETS.sub("[secret]", text)


@attrs.frozen
class Refusal:
    """An HTTP error of the service, whichever of the SDK's two families of errors it came in.

    Attributes:
        code: The HTTP status.
        message: Google's words.
        details: The structured part of `google.rpc.Status`.
        headers: Of the response, where there is one.
    """

    code: int
    message: str
    details: tuple[Mapping[str, Any], ...] = ()
    headers: Mapping[str, str] = attrs.field(factory=dict)

    def detail(self, kind: str) -> Mapping[str, Any]:
        """Return the detail of that kind, e.g. `RetryInfo`; empty where there is none."""
        for each in self.details:
            if str(each.get("@type", "")).endswith(f".{kind}"):
                return each
        return {}


@contextmanager
def translated(call: Call) -> Iterator[None]:
    """Turn what the SDK and its libraries raise into Poise's errors.

    Raises:
        ProviderError: The call failed.
    """
    try:
        yield
    except ProviderError:
        raise
    except Exception as exc:
        error = translate(exc, call)
        if error is None:
            raise
        # A service may echo the key; then its own error must not be shown beside ours.
        said = f"{exc}{exc.__cause__ or ''}{exc.__context__ or ''}"
        raise error from (exc if call.hide(said) == said else None)


def translate(exc: Exception, call: Call) -> ProviderError | None:
    """Return Poise's error for one of the SDK's; `None` for what is nobody's fault but ours."""
    refusal = _refusal(exc)
    if refusal is not None:
        return _refused(refusal, call)
    kind = f"{type(exc).__module__}.{type(exc).__name__}"
    why = call.hide(str(exc))[:_QUOTED] or type(exc).__name__
    if kind.startswith("google.auth.exceptions."):
        return _unauthorized(type(exc).__name__, why, call)
    if kind.startswith(("httpx2.", "httpx.")) or "APIConnectionError" in _lineage(exc):
        return ProviderUnavailableError(
            call.provider,
            call.model,
            "",
            f"the connection to {call.address} failed ({type(exc).__name__}: {why}); check the "
            f"network, and base_url if it is set",
        )
    if kind.endswith(".UnknownApiResponseError"):
        return ProviderUnavailableError(
            call.provider, call.model, "", "the answer broke off in the middle; try again"
        )
    unreadable = isinstance(exc, ValueError | TypeError | AttributeError | LookupError)
    if unreadable or "APIResponseValidationError" in _lineage(exc):
        # The SDK checks little of what it receives, and trips over it in many ways.
        return MalformedReplyError(
            call.provider,
            call.model,
            "",
            f"{call.address} did not answer as the API promises ({type(exc).__name__}); if "
            f"base_url is set, check that a Gemini API is there",
        )
    return None


def _lineage(exc: Exception) -> tuple[str, ...]:
    return tuple(kind.__name__ for kind in type(exc).__mro__)


def _refusal(exc: Exception) -> Refusal | None:
    """Read an error of `google.genai.errors`, or of the family that its decisions have."""
    if not type(exc).__module__.startswith("google.genai."):
        return None
    said: Any = exc  # two unrelated families, told apart by what they carry
    code = getattr(said, "code", None) or getattr(said, "status_code", None)
    if not isinstance(code, int) or code < 300:
        return None
    body = getattr(said, "details", None) or getattr(said, "body", None)
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    if not isinstance(error, Mapping):
        error = {"message": str(error)}
    details = error.get("details")
    headers = getattr(getattr(said, "response", None), "headers", None)
    return Refusal(
        code,
        str(error.get("message") or (body if isinstance(body, str) else "") or ""),
        tuple(each for each in details if isinstance(each, Mapping))
        if isinstance(details, list)
        else (),
        dict(headers) if headers is not None else {},
    )


def _refused(refusal: Refusal, call: Call) -> ProviderError:
    provider, model = call.provider, call.model
    said = call.hide(" ".join(refusal.message.split()))[:_QUOTED] or "no reason given"
    if refusal.code in (401, 403) or refusal.detail("ErrorInfo").get("reason") in (
        "API_KEY_INVALID",
        "API_KEY_SERVICE_BLOCKED",
    ):
        return AuthenticationError(provider, model, "", f"{said}; {call.mend}")
    too_long = _TOO_LONG.search(refusal.message)
    if refusal.code in (400, 413) and (too_long or refusal.code == 413):
        return _too_long(said, too_long, call)
    match refusal.code:
        case 402:
            return OverQuotaError(provider, model, "", f"{said}; settle the account's billing")
        case 404:
            return UnknownModelError(
                provider,
                model,
                "",
                f"{said}; check the model's name, that your key may use it, and {provider}."
                f"api_version: previews and `-latest` names are served by v1beta alone",
            )
        case 429:
            return _limited(refusal, said, call)
        case 408 | 504:
            return ProviderTimeoutError(
                provider, model, "", f"{said}; it took too long, ask for less at once"
            )
        case code if code >= 500 or code == 499:
            return ProviderUnavailableError(
                provider,
                model,
                "",
                f"{said} (status {code}); it may pass, try again",
                _retry_after(refusal, call.clock),
            )
        case code:
            return InvalidRequestError(
                provider, model, "", f"{said} (status {code}); the request must be changed"
            )


def _unauthorized(kind: str, why: str, call: Call) -> ProviderError:
    if kind == "TransportError":
        return ProviderUnavailableError(
            call.provider,
            call.model,
            "",
            f"Google's authentication can't be reached ({why}); check the network",
        )
    return AuthenticationError(call.provider, call.model, "", f"{why}; {call.mend}")


def _too_long(said: str, found: re.Match[str] | None, call: Call) -> ContextTooLongError:
    def number(name: str) -> int | None:
        return int(found[name].replace(",", "")) if found else None

    return ContextTooLongError(
        call.provider,
        call.model,
        "",
        f"{said}; shorten the prompt, or use a model with a larger window",
        sent=number("sent"),
        limit=number("limit"),
    )


def _limited(refusal: Refusal, said: str, call: Call) -> ProviderError:
    violations = refusal.detail("QuotaFailure").get("violations", ())
    spent = [
        each
        for each in violations
        if isinstance(each, Mapping)
        and ("PerDay" in str(each.get("quotaId", "")) or str(each.get("quotaValue")) == "0")
    ]
    if spent:
        return OverQuotaError(
            call.provider,
            call.model,
            "",
            f"{said}; the quota {spent[0].get('quotaId', 'of the day')} is used up: raise it, or "
            f"use another model",
        )
    return RateLimitedError(
        call.provider,
        call.model,
        "",
        f"{said}; send fewer requests at once ({call.provider}.concurrency) or raise the quota",
        _retry_after(refusal, call.clock),
    )


def _retry_after(refusal: Refusal, clock: Clock) -> float | None:
    """Return the seconds to wait: of the structured detail, else of the header."""
    delay = _SECONDS.fullmatch(str(refusal.detail("RetryInfo").get("retryDelay", "")))
    if delay is not None:
        return float(delay[1])
    header = next(
        (value for name, value in refusal.headers.items() if name.lower() == "retry-after"), ""
    )
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - clock.now()).total_seconds())
    except (ValueError, TypeError):
        return None
