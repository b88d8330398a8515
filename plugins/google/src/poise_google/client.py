"""The SDK's client: made at its first use, off the event loop, without retries of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import attrs

from poise import AuthenticationError
from poise.values.clock import Clock
from poise_google.errors import Call, translated
from poise_google.settings import GoogleSettings, VertexSettings

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_CLOSING = 2.0

_noting: ContextVar[list[httpx2.Response] | None] = ContextVar("poise_google_noting", default=None)


@contextmanager
def noted(responses: list[httpx2.Response]) -> Iterator[None]:
    """Note the responses that arrive meanwhile in this task, so that they can be hung up on.

    The SDK's streams are generators within generators: closing the outermost one leaves the
    connection open until the innermost happens to be collected.
    """
    token = _noting.set(responses)
    try:
        yield
    finally:
        _noting.reset(token)


async def hang_up(responses: list[httpx2.Response]) -> None:
    """Close responses, read to their end or not, whatever else is being cancelled."""
    with anyio.move_on_after(_CLOSING, shield=True):
        for response in responses:
            await response.aclose()


@attrs.frozen(eq=False)
class Opened:
    """What a connection holds once it is open."""

    client: Client
    http: httpx2.AsyncClient


class Connection:
    """One way to Google, shared by all models of a provider.

    Args:
        provider: The provider's name.
        open_: Makes the client; runs in a worker thread, since importing the SDK takes a second
            and finding credentials may ask the network.
        address: Where the service is.
        mend: What to set so that the service accepts us.
        clock: For `Retry-After`.
        secret: The key, to be kept out of errors.
    """

    def __init__(
        self,
        provider: str,
        open_: Callable[[Call], Opened],
        *,
        address: str,
        mend: str,
        clock: Clock,
        secret: str = "",
    ) -> None:
        self._provider = provider
        self._open = open_
        self._address = address
        self._mend = mend
        self._clock = clock
        self._secret = secret
        self._opened: Opened | None = None
        self._opening = anyio.Lock()

    def call(self, model: str) -> Call:
        """Return who is asked, for errors."""
        return Call(
            self._provider,
            model,
            address=self._address,
            mend=self._mend,
            clock=self._clock,
            secret=self._secret,
        )

    async def client(self, call: Call) -> Client:
        """Return the SDK's client.

        Raises:
            AuthenticationError: There is no key, or there are no credentials.
        """
        async with self._opening:
            if self._opened is None:
                with translated(call):
                    self._opened = await anyio.to_thread.run_sync(self._open, call)
            return self._opened.client

    async def aclose(self) -> None:
        """Close what was opened; a later use opens it again."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.http.aclose()
            await opened.client.aio.aclose()
            opened.client.close()


def gemini(settings: GoogleSettings, clock: Clock) -> Connection:
    """Return the connection to the Gemini API."""
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    mend = "set GEMINI_API_KEY, or api_key in the section [google] of the settings"

    def open_(call: Call) -> Opened:
        if not key:
            raise AuthenticationError(call.provider, call.model, "", f"there is no key; {mend}")
        from google.genai import Client

        http = _http(settings.connect_timeout)
        options = _options(http, settings)
        return Opened(Client(enterprise=False, api_key=key, http_options=options), http)

    address = settings.base_url or "the Gemini API"
    return Connection("google", open_, address=address, mend=mend, clock=clock, secret=key)


def vertex(settings: VertexSettings, clock: Clock) -> Connection:
    """Return the connection to Vertex AI."""
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    mend = (
        "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS, "
        "and GOOGLE_CLOUD_PROJECT, or project in the section [vertex] of the settings"
    )

    def open_(call: Call) -> Opened:
        from google.genai import Client

        http = _http(settings.connect_timeout)
        options = _options(http, settings)
        if key:
            return Opened(Client(enterprise=True, api_key=key, http_options=options), http)
        import google.auth

        credentials, found = google.auth.default(scopes=_SCOPES)
        project = settings.project or found
        if not project:
            raise AuthenticationError(
                call.provider, call.model, "", f"the credentials name no project; {mend}"
            )
        client = Client(
            enterprise=True,
            credentials=credentials,
            project=project,
            location=settings.location,
            http_options=options,
        )
        return Opened(client, http)

    address = settings.base_url or f"Vertex AI in {settings.location}"
    return Connection("vertex", open_, address=address, mend=mend, clock=clock, secret=key)


def _http(connect_timeout: float) -> httpx2.AsyncClient:
    """Return a client of our own: given one, the SDK uses no other transport and never retries."""
    import httpx2

    async def limit_connecting(request: httpx2.Request) -> None:
        # The SDK passes no timeout at all, which would let a connection hang in opening.
        limits: dict[str, Any] = dict(request.extensions.get("timeout") or {})
        request.extensions["timeout"] = {**limits, "connect": connect_timeout}

    async def note(response: httpx2.Response) -> None:
        responses = _noting.get()
        if responses is not None:
            responses.append(response)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=connect_timeout),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=50),
        event_hooks={"request": [limit_connecting], "response": [note]},
    )


def _options(
    http: httpx2.AsyncClient, settings: GoogleSettings | VertexSettings
) -> Any:  # the SDK's HttpOptions
    from google.genai import types

    return types.HttpOptions(
        base_url=settings.base_url,
        api_version=settings.api_version,
        httpx_async_client=http,
        # Without this the decisions endpoint, unlike the others, retries four times.
        retry_options=types.HttpRetryOptions(attempts=1),
    )
