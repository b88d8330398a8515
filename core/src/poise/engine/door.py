"""The one door to all models: unbound for indexing, or bound to one turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar, cast

import anyio
import attrs

from poise.engine import metrics
from poise.engine.account import Account
from poise.engine.asking import Ask, ask
from poise.engine.deciding import Decider
from poise.engine.routing import ModelRoutes, Served
from poise.engine.sending import Attempt, Lanes, Retrying, Sender, Tries
from poise.engine.settings import EngineLimits
from poise.engine.windows import Windows
from poise.errors import (
    ContextTooLongError,
    MalformedReplyError,
    ProviderError,
    RefusedError,
    TruncatedError,
    UnsupportedError,
)
from poise.hooks.caller import HookCaller
from poise.ports.models import Embedder, Moderator, TextGenerator
from poise.turn.context import TurnContext
from poise.turn.generation import Generation, GenerationOptions, Moderation, TextChunk
from poise.turn.models import Answer, Capability, DecisionRequest, TurnModels
from poise.turn.prompts import Prompt
from poise.turn.requests import ModelRequest
from poise.turn.routes import route_named
from poise.turn.schemas import schema_of
from poise.values.agents import Agent, Effort

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")
R = TypeVar("R")


@attrs.frozen
class Whose:
    """On whose behalf models are asked: which routes count, and what shares a cache."""

    agent: Agent
    effort: Effort
    session: str


class RoutedModels(TurnModels):
    """Finds the models of a route, asks them in order, and keeps to deadline and budget.

    Args:
        routes: Which models serve what.
        hooks: Hear of requests and responses.
        limits: Deadlines, retries, repairs.
        lanes: How many requests each provider has under way, in all turns.
        account: The turn's, when bound.
        current: Returns the turn as it stands, when bound.
        whose: On whose behalf, where no turn says so.
    """

    def __init__(
        self,
        routes: ModelRoutes,
        hooks: HookCaller,
        limits: EngineLimits,
        *,
        lanes: Lanes | None = None,
        account: Account | None = None,
        current: Callable[[], TurnContext | None] = lambda: None,
        whose: Whose | None = None,
    ) -> None:
        self._routes = routes
        self._hooks = hooks
        self._limits = limits
        self._lanes = lanes or Lanes()
        self._account = account
        self._current = current
        self._whose = whose
        self._windows = Windows(routes, limits, account)
        self._sender = Sender(
            routes,
            hooks,
            limits,
            lanes=self._lanes,
            account=account,
            current=current,
        )
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def bind(self, account: Account, current: Callable[[], TurnContext | None]) -> RoutedModels:
        """Return the same door for one turn."""
        return RoutedModels(
            self._routes,
            self._hooks,
            self._limits,
            lanes=self._lanes,
            account=account,
            current=current,
        )

    def on_behalf_of(self, agent: Agent, session: str) -> RoutedModels:
        """Return the same door for what is done for a session outside of its turns."""
        return RoutedModels(
            self._routes,
            self._hooks,
            self._limits,
            lanes=self._lanes,
            whose=Whose(agent, agent.effort, session),
        )

    # -- structured answers and text --

    async def ask(
        self,
        route: str,
        prompt: Prompt,
        schema: type[M],
        *,
        options: GenerationOptions | None = None,
    ) -> Generation[M]:
        neutral = schema_of(schema)
        chosen = self._options(options)

        async def use(served: Served, tries: Tries) -> Generation[BaseModel]:
            async def with_prompt(fitted: Prompt) -> Generation[BaseModel]:
                return await ask(
                    Ask(route, fitted, schema, neutral, chosen, self._limits.repairs),
                    served,
                    routes=self._routes,
                    sender=self._sender,
                    tries=tries,
                )

            return await self._fitting(served, prompt, chosen, route, with_prompt)

        found = await self._in_order(route, Capability.STRUCTURED, use)
        return cast("Generation[M]", found)

    async def write(
        self, route: str, prompt: Prompt, *, options: GenerationOptions | None = None
    ) -> AsyncIterator[TextChunk]:
        chosen = self._options(options)
        chain = self._chain(route, Capability.TEXT)
        tries = Tries()
        failure: ProviderError | None = None
        for served in chain:
            if failure is not None:
                metrics.record_fallback(served.provider, route)
            retrying = Retrying(self._limits, self._limits.model_timeout)
            has_spoken = False
            while True:
                try:
                    fitted = self._windows.fitted(served, prompt, chosen, route=route)
                    async with aclosing(self._stream(served, fitted, chosen, route, tries)) as new:
                        async for chunk in new:
                            has_spoken = has_spoken or bool(chunk.text)
                            yield chunk
                    return
                except ProviderError as exc:
                    failure = exc
                    if has_spoken:
                        raise
                    if self._windows.learns(served, exc):
                        continue
                    wait = retrying.wait(exc)
                    if wait is None:
                        tries.because(served, exc)
                        break
                    metrics.record_retry(served.provider, route)
                    await anyio.sleep(wait)
        assert failure is not None  # noqa: S101 - a chain is never empty
        raise failure

    def _stream(
        self,
        served: Served,
        prompt: Prompt,
        options: GenerationOptions,
        route: str,
        tries: Tries,
    ) -> AsyncGenerator[TextChunk, None]:
        model = self._routes.made(served, TextGenerator)  # type: ignore[type-abstract]
        return self._sender.stream(
            ModelRequest(route, served.name, "text", prompt=prompt),
            served,
            lambda: model.stream(prompt, options=options),
            tries=tries,
        )

    def _options(self, options: GenerationOptions | None) -> GenerationOptions:
        chosen = options or GenerationOptions()
        whose = self._on_whose_behalf()
        if chosen.cache_key or whose is None:
            return chosen
        # A session's requests share the longest prefix, whatever the route.
        return attrs.evolve(chosen, cache_key=whose.session)

    def _on_whose_behalf(self) -> Whose | None:
        turn = self._current()
        return self._whose if turn is None else Whose(turn.agent, turn.effort, turn.session.id)

    # -- decisions --

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        if not request.questions:
            return ()
        options = self._options(None)

        async def use(served: Served, tries: Tries) -> Sequence[Answer]:
            decider = Decider(
                route,
                served,
                routes=self._routes,
                sender=self._sender,
                tries=tries,
                options=options,
                repairs=self._limits.repairs,
            )

            async def with_state(fitted: Prompt) -> Sequence[Answer]:
                return await decider.decide(
                    attrs.evolve(request, state=fitted),
                    lambda whole, limit: self._windows.split(served, whole, limit, options),
                )

            # The questions come on top of the state: half of the window is theirs at the most.
            return await self._fitting(served, request.state, options, route, with_state, share=0.5)

        return await self._in_order(route, Capability.DECIDE, use)

    # -- vectors and moderation --

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        # No fallbacks: another embedder's vectors mean something else.
        served = self._chain(route, Capability.EMBED)[0]
        model = self._routes.made(served, Embedder)  # type: ignore[type-abstract]
        if self._account is None:
            return await self._embed(route, served, model, texts)
        import numpy as np

        name = served.name
        missing = list(dict.fromkeys(text for text in texts if (name, text) not in self._vectors))
        if missing:
            rows = await self._embed(route, served, model, missing)
            self._vectors.update(
                {(name, text): row for text, row in zip(missing, rows, strict=True)}
            )
        if not texts:
            return np.zeros((0, model.dimensions), dtype=np.float32)
        return np.stack([self._vectors[name, text] for text in texts])

    async def _embed(
        self, route: str, served: Served, model: Embedder, texts: Sequence[str]
    ) -> NDArray[np.float32]:
        async def once(attempt: Attempt) -> NDArray[np.float32]:
            rows, attempt.usage = await model.embed_metered(texts)
            if rows.shape != (len(texts), model.dimensions):
                raise self._malformed(
                    served, route, f"{len(texts)} texts gave an array of shape {rows.shape}"
                )
            return rows

        return await self._sender.send(
            ModelRequest(route, served.name, Capability.EMBED.value, texts=tuple(texts)),
            served,
            once,
            items=len(texts),
            tries=Tries(),
        )

    async def moderate(
        self, texts: Sequence[str], *, route: str = "screen"
    ) -> Sequence[Moderation]:
        async def use(served: Served, tries: Tries) -> Sequence[Moderation]:
            model = self._routes.made(served, Moderator)  # type: ignore[type-abstract]

            async def once(attempt: Attempt) -> Sequence[Moderation]:
                found = await model.moderate(texts)
                if len(found) != len(texts):
                    raise self._malformed(
                        served, route, f"{len(texts)} texts gave {len(found)} moderations"
                    )
                return found

            return await self._sender.send(
                ModelRequest(route, served.name, Capability.MODERATE.value, texts=tuple(texts)),
                served,
                once,
                items=len(texts),
                tries=tries,
            )

        return await self._in_order(route, Capability.MODERATE, use) if texts else ()

    # -- getting ready --

    async def warm(self, *, route: str = "embed", prompt: Prompt | None = None) -> None:
        if prompt is None:
            embedder = self._chain(route, Capability.EMBED)[0]
            await self._routes.made(embedder, Embedder).warm()  # type: ignore[type-abstract]
            return
        served = self._reader(route)
        if served is None:
            return
        options = self._options(GenerationOptions(max_output=1))
        model = self._routes.made(served, TextGenerator)  # type: ignore[type-abstract]
        if type(model).warm is TextGenerator.warm:
            return
        fitted = self._windows.fitted(served, prompt, options, route=route)

        async def once(attempt: Attempt) -> None:
            attempt.usage = await model.warm(fitted, options=options)

        await self._sender.send(
            ModelRequest(route, served.name, "warming", prompt=fitted),
            served,
            once,
            tries=Tries(),
        )

    def _reader(self, route: str) -> Served | None:
        """Return the model of a route as one whose prompts can be cached; `None` if it is none."""
        known = route_named(route)
        found = self._found(route, known.capability if known else Capability.TEXT)
        if not found or found[0].way not in (Capability.STRUCTURED, Capability.TEXT):
            return None  # e.g. a decision model, which reads no prompt of ours
        served = found[0]
        if served.provider:
            does = self._routes.get(served.provider).capabilities(served.model)
        else:
            does = frozenset({served.way})
        if Capability.TEXT not in does:
            return None
        return attrs.evolve(served, way=Capability.TEXT, note="")

    def serves(self, route: str, capability: Capability) -> bool:
        return bool(self._found(route, capability))

    def way(self, route: str, capability: Capability) -> Capability | None:
        return next((served.way for served in self._found(route, capability)), None)

    def served_by(self, route: str, capability: Capability) -> Sequence[str]:
        return [served.name for served in self._found(route, capability)]

    def window(self, route: str, capability: Capability) -> int | None:
        found = self._found(route, capability)
        return found[0].card.context if found else None

    def identity(self, route: str = "embed") -> str:
        served = self._chain(route, Capability.EMBED)[0]
        return self._routes.made(served, Embedder).identity  # type: ignore[type-abstract]

    # -- in order, and fitted --

    def _found(self, route: str, capability: Capability) -> Sequence[Served]:
        whose = self._on_whose_behalf()
        if whose is None:
            return self._routes.chain(route, capability)
        return self._routes.chain(
            route,
            capability,
            effort=whose.effort,
            agent=whose.agent.models,
            called=(whose.agent.name, whose.agent.id),
        )

    def _chain(self, route: str, capability: Capability) -> Sequence[Served]:
        found = self._found(route, capability)
        if not found:
            raise self._routes.unserved(route, capability)
        return found

    async def _in_order(
        self,
        route: str,
        capability: Capability,
        use: Callable[[Served, Tries], Awaitable[R]],
    ) -> R:
        """Ask one model after the other until one answers; an outcome is an answer."""
        tries = Tries()
        failure: ProviderError | None = None
        for served in self._chain(route, capability):
            if failure is not None:
                metrics.record_fallback(served.provider, route)
            asked: Served | None = served
            while asked is not None:
                try:
                    return await use(asked, tries)
                except (RefusedError, TruncatedError):
                    raise
                except UnsupportedError as exc:
                    failure = exc
                    tries.because(asked, exc)
                    asked = self._routes.lacks(asked, capability)
                except ProviderError as exc:
                    failure = exc
                    tries.because(asked, exc)
                    break
        assert failure is not None  # noqa: S101 - a chain is never empty
        raise failure

    async def _fitting(
        self,
        served: Served,
        prompt: Prompt,
        options: GenerationOptions,
        route: str,
        use: Callable[[Prompt], Awaitable[R]],
        *,
        share: float = 1.0,
    ) -> R:
        """Use the prompt as far as it fits; where the provider knows better, once more."""
        try:
            return await use(
                self._windows.fitted(served, prompt, options, route=route, share=share)
            )
        except ContextTooLongError as exc:
            if not self._windows.learns(served, exc):
                raise
        return await use(self._windows.fitted(served, prompt, options, route=route, share=share))

    def _malformed(self, served: Served, route: str, reason: str) -> MalformedReplyError:
        return MalformedReplyError(served.provider, served.model, route, reason)
