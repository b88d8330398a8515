"""The connection to the vendor: made on first use, shared by all models of a provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from poise import PoiseError
from poise_anthropic.errors import Place, malformed, no_key, quotes_secret, translated
from poise_anthropic.settings import AnthropicSettings

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message, RawMessageStreamEvent

VENDOR = "https://api.anthropic.com"

_NO_KEY = "no-key"
_CLOSING_SECONDS = 2.0


class Connection:
    """Sends requests, and translates what goes wrong. Making one does no I/O, imports no SDK."""

    def __init__(self, settings: AnthropicSettings) -> None:
        self._settings = settings
        self._client: AsyncAnthropic | None = None
        self._making = anyio.Lock()

    @property
    def is_vendor(self) -> bool:
        """Whether requests go to the vendor itself, not to a server that speaks as it does."""
        return self._base_url == VENDOR

    async def create(self, model: str, request: Mapping[str, Any]) -> Message:
        """Return the answer to a request, whole.

        Raises:
            ProviderError: The subclass says whether a retry may help.
        """
        with self._translating(model):
            client = await self._sdk(model)
            message: Message = await client.messages.create(model=model, **request)
            if getattr(message, "type", None) != "message":
                raise malformed(model, "is no message")
            return message

    @asynccontextmanager
    async def stream(
        self, model: str, request: Mapping[str, Any]
    ) -> AsyncIterator[AsyncIterator[RawMessageStreamEvent]]:
        """Give the events of an answer as they come; leaving ends the request.

        Raises:
            ProviderError: Also while the events are read.
        """
        with self._translating(model):
            client = await self._sdk(model)
            events = await client.messages.create(model=model, stream=True, **request)
            try:
                yield events
            finally:
                with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                    await events.close()

    async def count(self, model: str, request: Mapping[str, Any]) -> int:
        """Return how many input tokens a request has, as the vendor counts them.

        Raises:
            ProviderError: It can't be counted.
        """
        with self._translating(model):
            client = await self._sdk(model)
            counted = await client.messages.count_tokens(model=model, **request)
            return int(counted.input_tokens)

    async def aclose(self) -> None:
        """Close what is open; the next request would open it anew."""
        async with self._making:
            client, self._client = self._client, None
            if client is not None:
                await client.close()

    @contextmanager
    def _translating(self, model: str) -> Iterator[None]:
        try:
            yield
        except PoiseError:
            raise
        except Exception as exc:
            place = Place(model, _shown(self._base_url), self._secrets())
            error = translated(exc, place)
            if quotes_secret(exc, place):
                # A cause is printed with its error, and this one tells a secret.
                raise error from None
            raise error from exc

    async def _sdk(self, model: str) -> AsyncAnthropic:
        if self._needs_key:
            raise no_key(model)
        async with self._making:
            if self._client is None:
                # The SDK takes seconds to import and reads certificates.
                self._client = await anyio.to_thread.run_sync(self._made)
            return self._client

    def _made(self) -> AsyncAnthropic:
        import anthropic

        settings = self._settings
        credentials: dict[str, Any] = {}
        if settings.api_key is not None:
            credentials["api_key"] = settings.api_key.get_secret_value()
        elif settings.auth_token is not None:
            credentials["auth_token"] = settings.auth_token.get_secret_value()
        else:
            # Without one the SDK would look for it in the environment and on disk.
            credentials["api_key"] = _NO_KEY
        return anthropic.AsyncAnthropic(
            **credentials,
            base_url=self._base_url,
            default_headers={
                name: value.get_secret_value() for name, value in settings.headers.items()
            },
            # Retries and deadlines are the router's, and so are the spans.
            max_retries=0,
            timeout=anthropic.Timeout(None, connect=settings.connect_timeout),
            open_telemetry=False,
        )

    @property
    def _base_url(self) -> str:
        given = (self._settings.base_url or VENDOR).rstrip("/")
        # The SDK adds the version itself.
        return given.removesuffix("/v1")

    @property
    def _needs_key(self) -> bool:
        settings = self._settings
        given = {name.lower() for name in settings.headers}
        return not (
            settings.api_key
            or settings.auth_token
            or settings.base_url  # a server of one's own may want none
            or given & {"authorization", "x-api-key"}
        )

    def _secrets(self) -> tuple[str, ...]:
        settings = self._settings
        held = (settings.api_key, settings.auth_token, *settings.headers.values())
        password = urlsplit(self._base_url).password
        told = [each.get_secret_value() for each in held if each is not None]
        return tuple(each for each in (*told, password or "") if len(each) > 3)


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
