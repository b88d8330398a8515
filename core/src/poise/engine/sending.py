"""One request to a model: within its deadline and its provider's limits, tried again, recorded."""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import attrs
from opentelemetry.trace import Span, StatusCode

from poise.engine import metrics
from poise.engine.account import Account
from poise.engine.routing import ModelRoutes, Served
from poise.engine.settings import EngineLimits
from poise.engine.spans import (
    ATTEMPT,
    CACHED_TOKENS,
    INPUT_MESSAGES,
    INPUT_TOKENS,
    ITEMS,
    MODEL_NAME,
    OPERATION,
    OPERATIONS,
    OUTPUT_TOKENS,
    PROVIDER_NAME,
    RESPONSE_MODEL,
    ROUTE,
)
from poise.errors import (
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SpendingLimitError,
)
from poise.hooks.caller import HookCaller, log_failure
from poise.hooks.tracing import TRACER
from poise.turn.cards import Price
from poise.turn.context import TurnContext
from poise.turn.generation import TextChunk, Usage
from poise.turn.ledger import RequestLine
from poise.turn.requests import ModelRequest

R = TypeVar("R")


class NoAnswerInTimeError(ProviderTimeoutError):
    """Our own deadline passed: a second try would take the turn's time, a fallback may not."""

    is_retryable = False


@attrs.define
class Tries:
    """How often one use of a model has been tried, and why the next one is not the first choice."""

    count: int = 0
    note: str = ""

    def because(self, served: Served, exc: ProviderError) -> None:
        """Take note that `served` failed, for the line of whoever is asked in its place."""
        self.note = f"after {served.name} failed ({type(exc).__name__})"


@attrs.define
class Attempt:
    """What a request found out while it ran, whether it ended well or not."""

    usage: Usage | None = None
    build: str = ""
    note: str = ""


@attrs.frozen(eq=False)
class Lanes:
    """What all turns of an application share: how many requests each provider has under way."""

    _limiters: dict[str, anyio.CapacityLimiter] = attrs.field(factory=dict)

    def of(self, routes: ModelRoutes, served: Served) -> anyio.CapacityLimiter | None:
        """Return the provider's lane; `None` where it takes any number."""
        if not served.provider:
            return None
        concurrency = routes.get(served.provider).concurrency
        if concurrency is None:
            return None
        lane = self._limiters.get(served.provider)
        if lane is None:
            lane = self._limiters[served.provider] = anyio.CapacityLimiter(concurrency)
        return lane


class Sender:
    """Sends requests for one turn, or for the indexing of catalogs.

    Args:
        routes: Gives out providers.
        hooks: Hear of requests and responses.
        limits: Deadlines and retries.
        lanes: Shared by all turns.
        account: The turn's, when bound.
        current: Returns the turn as it stands, when bound.
    """

    def __init__(
        self,
        routes: ModelRoutes,
        hooks: HookCaller,
        limits: EngineLimits,
        *,
        lanes: Lanes,
        account: Account | None = None,
        current: Callable[[], TurnContext | None] = lambda: None,
    ) -> None:
        self._routes = routes
        self._hooks = hooks
        self._limits = limits
        self._lanes = lanes
        self._account = account
        self._current = current
        self._timeout = limits.index_timeout if account is None else limits.model_timeout

    async def send(
        self,
        request: ModelRequest,
        served: Served,
        ask: Callable[[Attempt], Awaitable[R]],
        *,
        items: int = 1,
        tries: Tries,
    ) -> R:
        """Return what `ask` returns; tries again what may be tried again.

        Raises:
            ProviderError: The last try's, naming provider, model and route.
        """
        retrying = Retrying(self._limits, self._timeout)
        while True:
            try:
                async with self._recorded(request, served, items=items, tries=tries) as attempt:
                    with anyio.fail_after(self._timeout):
                        return await ask(attempt)
            except ProviderError as exc:
                wait = retrying.wait(exc)
                if wait is None:
                    raise
                metrics.record_retry(served.provider, request.route)
                await anyio.sleep(wait)

    async def stream(
        self,
        request: ModelRequest,
        served: Served,
        chunks: Callable[[], AsyncIterator[TextChunk]],
        *,
        tries: Tries,
    ) -> AsyncGenerator[TextChunk, None]:
        """Yield a model's chunks as they come; one try, since words can't be taken back.

        The deadline holds for the first chunk and for each gap between two.

        Raises:
            ProviderError: Naming provider, model and route.
        """
        async with (
            self._recorded(request, served, items=1, tries=tries) as attempt,
            _closing(chunks()) as stream,
        ):
            while True:
                with anyio.fail_after(self._timeout):
                    chunk = await anext(stream, None)
                if chunk is None:
                    raise ProviderUnavailableError(
                        served.provider,
                        served.model,
                        request.route,
                        "the stream ended before the model said why it stopped; try again",
                    )
                if chunk.finish is not None:
                    attempt.usage, attempt.build = chunk.usage, chunk.model
                yield chunk
                if chunk.finish is not None:
                    return

    @asynccontextmanager
    async def _recorded(
        self, request: ModelRequest, served: Served, *, items: int, tries: Tries
    ) -> AsyncIterator[Attempt]:
        """Let one try pass through limits, hooks, a span, metrics and the ledger."""
        tries.count += 1
        price = self._routes.price(served)
        self._refuse_if_spent(request, served, price)
        if self._hooks.has("on_model_request"):
            await self._hooks.notify(
                "on_model_request",
                self._hook_failed,
                route=request.route,
                request=request,
                turn=self._current(),
            )
        lane = self._lanes.of(self._routes, served)
        borrower = object()
        if lane is not None:
            await lane.acquire_on_behalf_of(borrower)
        attempt = Attempt(note=tries.note or served.note)
        started = time.perf_counter()
        error: str | None = None
        kind = ""
        traced = self._open_span(request, served, items, tries)
        try:
            yield attempt
        except (GeneratorExit, anyio.get_cancelled_exc_class()):
            error = kind = "cancelled"
            raise
        except TimeoutError as exc:
            error, kind = f"no answer within {self._timeout:g} s", NoAnswerInTimeError.__name__
            raise NoAnswerInTimeError(served.provider, served.model, request.route, error) from exc
        except ProviderError as exc:
            exc.route = exc.route or request.route
            error, kind = str(exc), type(exc).__name__
            raise
        except Exception as exc:
            kind = type(exc).__name__
            error = f"{kind}: {exc}"
            raise ProviderError(served.provider, served.model, request.route, error) from exc
        finally:
            if lane is not None:
                lane.release_on_behalf_of(borrower)
            spent = (time.perf_counter() - started) * 1000
            line = _line(
                request,
                served,
                attempt,
                items=items,
                milliseconds=spent,
                error=error,
                tries=tries,
                price=price,
            )
            _close_span(traced, attempt, kind)
            metrics.record_request(line, served.provider, attempt.usage, kind)
            if self._account is not None:
                self._account.requests.append(line)
            await self._tell(request, line, attempt)

    def _refuse_if_spent(self, request: ModelRequest, served: Served, price: Price | None) -> None:
        if self._account is None or self._account.spending is None:
            return
        is_free = price is not None and not (price.input or price.output)
        refusal = None if is_free else self._account.spending.refusal(self._account.cost)
        if refusal is not None:
            raise SpendingLimitError(served.provider, served.model, request.route, refusal)

    async def _tell(self, request: ModelRequest, line: RequestLine, attempt: Attempt) -> None:
        if not self._hooks.has("on_model_response"):
            return
        # A cancelled request is told of too, but nobody who listens may hold up the turn.
        with anyio.move_on_after(self._timeout, shield=True):
            await self._hooks.notify(
                "on_model_response",
                self._hook_failed,
                route=request.route,
                model=line.model,
                milliseconds=line.milliseconds,
                error=line.error,
                turn=self._current(),
                usage=attempt.usage,
                attempt=line.attempt,
            )

    def _open_span(self, request: ModelRequest, served: Served, items: int, tries: Tries) -> Span:
        operation = OPERATIONS[request.way]
        attributes: dict[str, str | int] = {
            ROUTE: request.route,
            PROVIDER_NAME: served.provider or "poise",
            MODEL_NAME: served.model,
            OPERATION: operation,
            ITEMS: items,
            ATTEMPT: tries.count,
        }
        if self._limits.capture_content and request.prompt is not None:
            attributes[INPUT_MESSAGES] = json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": request.prompt.text}]}],
                ensure_ascii=False,
            )
        # Not the current span: a stream is read in pieces, between which others have theirs.
        return TRACER.start_span(f"{operation} {served.model}", attributes=attributes)

    def _hook_failed(self, part: str, exc: Exception) -> None:
        if self._account is None:
            log_failure(part, exc)
        else:
            self._account.hook_failed(part, exc)


@attrs.define
class Retrying:
    """When a failed request is tried again: a few times, waiting longer each time, with jitter.

    What the provider asks to wait is waited in full; if that is longer than a request may take,
    nothing is tried again, since somebody else may answer sooner.
    """

    limits: EngineLimits
    timeout: float
    done: int = 0
    started: float = attrs.field(factory=time.monotonic)

    def wait(self, exc: ProviderError) -> float | None:
        """Return the seconds until the next try; `None` when there is none."""
        if not exc.is_retryable or self.done >= self.limits.retries:
            return None
        backoff = self.limits.retry_wait * 2**self.done
        jittered = backoff * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, hides nothing
        wait = max(exc.retry_after or 0.0, jittered)
        self.done += 1
        spent = time.monotonic() - self.started
        return wait if spent + wait <= self.timeout else None


def _line(
    request: ModelRequest,
    served: Served,
    attempt: Attempt,
    *,
    items: int,
    milliseconds: float,
    error: str | None,
    tries: Tries,
    price: Price | None,
) -> RequestLine:
    usage = attempt.usage
    return RequestLine(
        route=request.route,
        model=served.name,
        items=items,
        milliseconds=milliseconds,
        error=error,
        attempt=tries.count,
        way=request.way,
        note=attempt.note,
        fresh=usage.fresh_tokens if usage else None,
        cached=usage.cached_tokens if usage else None,
        output=usage.output_tokens if usage else None,
        cost=price.cost(usage) if usage and price else None,
    )


def _close_span(traced: Span, attempt: Attempt, kind: str) -> None:
    if attempt.usage is not None:
        traced.set_attribute(INPUT_TOKENS, attempt.usage.input_tokens)
        traced.set_attribute(CACHED_TOKENS, attempt.usage.cached_tokens)
        traced.set_attribute(OUTPUT_TOKENS, attempt.usage.output_tokens)
    if attempt.build:
        traced.set_attribute(RESPONSE_MODEL, attempt.build)
    if kind and kind != "cancelled":
        # The type alone: what an error says may quote a customer.
        traced.set_status(StatusCode.ERROR, kind)
    traced.end()


@asynccontextmanager
async def _closing(chunks: AsyncIterator[TextChunk]) -> AsyncIterator[AsyncIterator[TextChunk]]:
    """Close a stream at the end, whether it is a generator or an object of the provider's."""
    try:
        yield chunks
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()
