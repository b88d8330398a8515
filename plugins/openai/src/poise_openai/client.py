"""The connection to one server: made on first use, shared by everything that asks it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import anyio

from poise.errors import AuthenticationError, ConfigError, PoiseError
from poise_openai.adapting import Refusals
from poise_openai.errors import Place, translated
from poise_openai.preset import Api, Preset
from poise_openai.settings import AzureSettings, ServerSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

R = TypeVar("R")

_VENDOR = "https://api.openai.com/v1"
_NO_KEY = "no-key"
_TYPED = ("model", "messages", "input", "stream")
"""Parameters that the SDK wants as arguments of their own."""


class Client:
    """One server with its key. Making a client does no I/O and imports no SDK.

    Attributes:
        preset: What is known of the server.
        settings: What the operator says of it.
        refusals: What its models were seen to refuse.
    """

    def __init__(self, preset: Preset, settings: ServerSettings | None = None) -> None:
        self.preset = preset
        self.settings = settings or ServerSettings()
        self.refusals = Refusals()
        self._sdk: AsyncOpenAI | None = None
        self._making = anyio.Lock()

    @property
    def provider(self) -> str:
        """The provider's name, as routes write it."""
        return self.preset.name

    @property
    def base_url(self) -> str:
        """Where every request goes.

        Raises:
            ConfigError: Nothing says where the server is.
        """
        settings = self.settings
        if settings.base_url:
            return _completed(settings.base_url, self.preset)
        if isinstance(settings, AzureSettings) and settings.endpoint:
            version = "" if settings.api_version else "/v1"
            return f"{settings.endpoint.rstrip('/')}/openai{version}"
        if self.preset.azure:
            raise ConfigError(
                f"nothing says where the resource is; set AZURE_OPENAI_ENDPOINT, "
                f"or {self._setting('endpoint')}"
            )
        return self.preset.base_url or _VENDOR

    @property
    def is_vendor(self) -> bool:
        """Whether requests go to the vendor itself, not to a server that speaks as it does."""
        return urlsplit(self.base_url).hostname == urlsplit(_VENDOR).hostname

    @property
    def api(self) -> Api:
        """The endpoint that generates."""
        if self.settings.api is not None:
            return self.settings.api
        if self.preset.api is Api.RESPONSES and not self.is_vendor:
            return Api.CHAT
        return self.preset.api

    async def sdk(self, model: str = "") -> AsyncOpenAI:
        """Return the SDK's client, made on the first call, in a worker thread.

        Args:
            model: For the words of an error.

        Raises:
            AuthenticationError: There is no key and the server wants one.
            ConfigError: Nothing says where the server is.
        """
        if self._sdk is not None:
            return self._sdk
        async with self._making:
            if self._sdk is None:
                self._sdk = await anyio.to_thread.run_sync(self._made, model)
            return self._sdk

    async def send(
        self, model: str, call: Callable[..., Awaitable[R]], params: Mapping[str, Any]
    ) -> R:
        """Return what `call(**params)` does, without what `model` refuses, errors translated.

        Raises:
            ProviderError: The subclass says whether a retry may help.
        """
        with self.translating(model):
            return await self.refusals.send(model, call, params)

    @contextmanager
    def translating(self, model: str) -> Iterator[None]:
        """Turn what the SDK raises within into errors that say what to do."""
        try:
            yield
        except PoiseError:
            raise
        except Exception as exc:
            place = self.place(model)
            error = translated(exc, place)
            if _tells(exc, place):
                # The cause is printed beside the error, and this one quotes a key.
                raise error from None
            raise error from exc

    def place(self, model: str) -> Place:
        """Return what an error about `model` is to say."""
        variables = self.preset.key_env
        key = (
            f"{variables[0]} or {self._setting('api_key')}"
            if variables
            else (self._setting("api_key"))
        )
        parts = urlsplit(self.base_url)
        address = f"{self._setting('base_url')} ({parts.hostname}:{parts.port})"
        return Place(self.provider, model, key, address, self._secrets())

    async def aclose(self) -> None:
        """Close the connections; the next request would open new ones."""
        async with self._making:
            sdk, self._sdk = self._sdk, None
            if sdk is not None:
                await sdk.close()

    def _made(self, model: str) -> AsyncOpenAI:
        import openai

        settings = self.settings
        common: dict[str, Any] = {
            "max_retries": 0,
            "timeout": openai.Timeout(None, connect=settings.connect_timeout),
            # Set, or the SDK reads the vendor's key from the environment for other servers, too.
            "admin_api_key": "",
        }
        headers = {
            **self.preset.headers,
            **{name: value.get_secret_value() for name, value in settings.headers.items()},
        }
        if isinstance(settings, AzureSettings) and settings.api_version:
            sdk: AsyncOpenAI = openai.AsyncAzureOpenAI(
                base_url=self.base_url,
                api_version=settings.api_version,
                default_headers=headers,
                **self._azure_credentials(settings, model),
                **common,
            )
        else:
            sdk = openai.AsyncOpenAI(
                base_url=self.base_url, api_key=self._key(model), default_headers=headers, **common
            )
        sdk.organization = getattr(settings, "organization", None)
        sdk.project = getattr(settings, "project", None)
        # The SDK adds OPENAI_CUSTOM_HEADERS to whatever server it talks to; they may hold a key.
        if not self.is_vendor:
            sdk._custom_headers = headers
        return sdk

    def _key(self, model: str) -> str | Callable[[], Awaitable[str]]:
        settings = self.settings
        if isinstance(settings, AzureSettings):
            credentials = self._azure_credentials(settings, model)
            provider = credentials.get("azure_ad_token_provider")
            return provider or str(credentials.get("api_key") or credentials["azure_ad_token"])
        if settings.api_key is not None:
            return settings.api_key.get_secret_value()
        # A server of one's own may stand in the vendor's place, and has keys only if it was told.
        if self.preset.needs_key and (self.preset.base_url or self.is_vendor):
            raise self._no_key(model)
        return _NO_KEY

    def _azure_credentials(self, settings: AzureSettings, model: str) -> dict[str, Any]:
        if settings.ad_token_provider is not None:
            return {"azure_ad_token_provider": _token_provider(settings.ad_token_provider)}
        if settings.ad_token is not None:
            return {"azure_ad_token": settings.ad_token.get_secret_value()}
        if settings.api_key is not None:
            return {"api_key": settings.api_key.get_secret_value()}
        raise self._no_key(model)

    def _no_key(self, model: str) -> AuthenticationError:
        return AuthenticationError(
            self.provider, model, "", f"there is no key; set {self.place(model).key}"
        )

    def _setting(self, field: str) -> str:
        owner = "openai" if self.provider == "openai" else f"openai.presets.{self.provider}"
        return f"the setting {owner}.{field}"

    def _secrets(self) -> tuple[str, ...]:
        settings = self.settings
        held = [settings.api_key, *settings.headers.values()]
        if isinstance(settings, AzureSettings):
            held.append(settings.ad_token)
        return tuple(each.get_secret_value() for each in held if each and len(each) > 3)


def lean(create: Callable[..., Awaitable[R]]) -> Callable[..., Awaitable[R]]:
    """Return the SDK's `create` without its walk through parameters that are wire-ready already.

    The walk compares each value, those of a schema too, with the SDK's types: a millisecond or
    two of every request. What goes in by `extra_body` is sent as it is.
    """

    def send(**params: Any) -> Awaitable[R]:  # JSON
        own = {name: params.pop(name) for name in _TYPED if name in params}
        return create(**own, extra_body=params)

    return send


def _completed(url: str, preset: Preset) -> str:
    """Return an address with scheme, port and path, where the preset knows them."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    host = parts.hostname or "localhost"
    host = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - what a server listens on
    port = parts.port or (preset.port if parts.scheme == "http" else None)
    where = f"{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"
    path = parts.path.rstrip("/") or preset.path
    return f"{parts.scheme}://{where}{path}"


def _token_provider(name: str) -> Callable[[], Awaitable[str]]:
    module, _, function = name.partition(":")
    try:
        provide: Callable[[], str | Awaitable[str]] = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as exc:
        raise ConfigError(
            f"the setting openai.presets.azure.ad_token_provider is {name!r}, which can't be "
            f"imported: {exc}; write package.module:function"
        ) from exc

    async def token() -> str:
        # One that asks a server blocks; it must not hold up the event loop.
        found = await anyio.to_thread.run_sync(provide)
        return await found if inspect.isawaitable(found) else found

    return token


def _tells(exc: BaseException | None, place: Place) -> bool:
    """Say whether the text of an exception, or of what caused it, holds a secret."""
    while exc is not None:
        if place.reveals(f"{exc} {getattr(exc, 'body', '')}"):
            return True
        exc = exc.__cause__ or exc.__context__
    return False
