"""Every error that Poise raises on purpose; each branch belongs to the reader who can act.

```
PoiseError
├── ConfigError          the operator
├── InvalidValueError    the author of a rule, a template, a tool
├── ContractError        the author of a plugin
├── StoreError           whoever calls a store
└── ProviderError        the world outside
```
"""

from __future__ import annotations

from typing import ClassVar

import attrs


class PoiseError(Exception):
    """The root: catch it to catch whatever Poise raises on purpose."""


# -- the operator --


class ConfigError(PoiseError):
    """Settings, plugins or wiring are wrong; the message says where and what to write instead."""


@attrs.define
class PluginLoadError(ConfigError):
    """A plugin that is installed or named can't be imported or registered."""

    plugin: str
    reason: str

    def __str__(self) -> str:
        return (
            f"plugin {self.plugin!r} can't be loaded: {self.reason}; "
            f"mend or uninstall it, or block it with plugins.blocked = [{self.plugin!r}]"
        )


@attrs.define
class DuplicateOfferError(ConfigError):
    """Two plugins offer one name for the same port, or two defaults."""

    port: str
    name: str
    first: str
    second: str

    def __str__(self) -> str:
        return (
            f"{self.port} {self.name!r} is offered by both {self.first!r} and {self.second!r}; "
            f"block one with plugins.blocked"
        )


@attrs.define
class UnknownOfferError(ConfigError, LookupError):
    """Settings name an implementation that no installed plugin offers."""

    port: str
    name: str | None
    offered: tuple[str, ...] = ()
    install: str | None = None

    def __str__(self) -> str:
        mend = f"; pip install {self.install}" if self.install else ""
        missing = f"no {self.port} named {self.name!r}" if self.name else f"no default {self.port}"
        return f"{missing}; on offer: {', '.join(self.offered) or 'none'}{mend}"


# -- the author of a rule, a template, a tool --


@attrs.define
class InvalidValueError(PoiseError, ValueError):
    """A declared value breaks one of its own invariants."""

    thing: str
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.thing}: {self.field} {self.reason}"


@attrs.define
class DuplicateKeyError(InvalidValueError):
    """One key was declared twice with different content."""

    first_at: str = "?"
    second_at: str = "?"

    def __str__(self) -> str:
        return (
            f"{self.thing}: {self.field} {self.reason}; first declared at {self.first_at}, "
            f"again at {self.second_at}; give one of them an id of its own"
        )


# -- the author of a plugin --


class ContractError(PoiseError):
    """A plugin broke a promise of its port or hook; the message names both."""


@attrs.define
class HookError(ContractError):
    """A hook implementation raised, is misspelt, or returned what its specification forbids."""

    hook: str
    plugin: str
    reason: str

    def __str__(self) -> str:
        return f"hook {self.hook} of plugin {self.plugin!r}: {self.reason}"


@attrs.define
class InvalidVerdictError(ContractError):
    """A matcher concluded something other than exactly one verdict per candidate."""

    matcher: str
    reason: str

    def __str__(self) -> str:
        return f"matcher {self.matcher!r}: {self.reason}"


# -- whoever calls a store --


class StoreError(PoiseError):
    """A store refused what it was asked."""


@attrs.define
class NotFoundError(StoreError, LookupError):
    """Nothing by that id exists in this scope."""

    kind: str
    id: str

    def __str__(self) -> str:
        return f"no {self.kind} {self.id!r} in this scope"


@attrs.define
class ConflictError(StoreError):
    """Something was appended or changed since the caller last looked."""

    what: str
    expected: int | None
    actual: int

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.actual}; read again and retry"


@attrs.define
class StaleFenceError(StoreError):
    """The turn's lease was taken over by another owner, so its writes are refused."""

    session: str

    def __str__(self) -> str:
        return f"session {self.session!r}: the lease of this turn has been taken over"


# -- the world outside --


@attrs.define
class ProviderError(PoiseError):
    """A model provider failed; says which one, for which route, and what mends it.

    Attributes:
        provider: The provider's name.
        model: The model's.
        route: What it was asked for; a provider leaves it empty, the router fills it in.
        reason: What went wrong, and the mend; never holds a key.
        retry_after: Seconds that the provider asked to wait, where it did.
    """

    is_retryable: ClassVar[bool] = False
    """Whether the same request may succeed a moment later."""

    provider: str
    model: str
    route: str
    reason: str
    retry_after: float | None = None

    def __str__(self) -> str:
        on = f" on route {self.route}" if self.route else ""
        return f"{self.provider}:{self.model}{on}: {self.reason}"


@attrs.define
class ProviderTimeoutError(ProviderError):
    """The provider did not answer before the deadline."""

    is_retryable: ClassVar[bool] = True


@attrs.define
class ProviderUnavailableError(ProviderError):
    """The provider can't be reached, is overloaded, failed inside, or hung up midway."""

    is_retryable: ClassVar[bool] = True


@attrs.define
class RateLimitedError(ProviderError):
    """The provider wants fewer requests; `retry_after` says when, where it says so."""

    is_retryable: ClassVar[bool] = True


@attrs.define
class OverQuotaError(ProviderError):
    """The account is out of credit or over its quota: waiting does not help."""


@attrs.define
class AuthenticationError(ProviderError):
    """The provider refuses the key, or there is none."""


@attrs.define
class UnknownModelError(ProviderError):
    """The provider has no such model, or this key may not use it."""


@attrs.define
class InvalidRequestError(ProviderError):
    """The provider refuses the request as it is."""


@attrs.define
class UnsupportedError(ProviderError):
    """The model turns out not to do what it was asked for, e.g. to give no probabilities.

    The router remembers it, and asks the same model in the next way of having it.
    """


@attrs.define
class ContextTooLongError(ProviderError):
    """The prompt does not fit the model's window.

    Attributes:
        sent: Tokens that it had, where known.
        limit: Tokens that the model takes, where known.
    """

    sent: int | None = None
    limit: int | None = None


@attrs.define
class RefusedError(ProviderError):
    """The model declined to answer; `reason` quotes it."""


@attrs.define
class TruncatedError(ProviderError):
    """The answer did not fit the output limit."""


@attrs.define
class MalformedReplyError(ProviderError):
    """The provider answered with something that its contract forbids."""


@attrs.define
class SpendingLimitError(ProviderError):
    """A limit on spending is reached: models that cost nothing are the only ones asked."""


@attrs.define
class UnservedRouteError(ProviderError):
    """No model is configured for a route that was asked for."""
