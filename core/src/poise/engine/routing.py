"""From the name of a use to the model that serves it, and the one door to all models."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import anyio

from poise.engine.account import Account
from poise.engine.settings import EngineLimits
from poise.engine.spans import ITEMS, MODEL, MODEL_NAME, OPERATION, ROUTE
from poise.errors import (
    ConfigError,
    MalformedReplyError,
    ProviderError,
    ProviderTimeoutError,
    UnservedRouteError,
)
from poise.hooks.caller import HookCaller, log_failure
from poise.hooks.offers import Offers, Supplier
from poise.hooks.tracing import span
from poise.ports.models import DecisionModel, Embedder, ModelProvider, Providers
from poise.turn.context import TurnContext
from poise.turn.ledger import RequestLine
from poise.turn.models import Answer, Capability, DecisionRequest, Probability, TurnModels
from poise.turn.prompts import Prompt

if TYPE_CHECKING:
    from collections.abc import Awaitable

    import numpy as np
    from numpy.typing import NDArray

M = TypeVar("M", Embedder, DecisionModel)
R = TypeVar("R")

_PORTS: Mapping[Capability, type] = {
    Capability.EMBED: Embedder,
    Capability.DECIDE: DecisionModel,
}


class ModelRoutes(Providers):
    """The models of one application, each made when it is first needed.

    Args:
        routes: From settings: a route's exact name to `provider:model`, or to the name of an
            offered embedder or decision model.
        offers: What plugins offer; the default provider serves what settings leave open.
        using: Fills the parameters of what is made.
    """

    def __init__(self, routes: Mapping[str, str], offers: Offers, using: Supplier) -> None:
        self._routes = routes
        self._offers = offers
        self._using = using
        self._providers: dict[str, ModelProvider] = {}
        self._made: dict[tuple[Capability, str], Embedder | DecisionModel] = {}

    def name_of(self, route: str, capability: Capability) -> str | None:
        """Return `provider:model` or the offer's name for a route, or `None`."""
        named = self._routes.get(route)
        if named is not None:
            return named
        port = self._offers.default(_PORTS[capability])
        if port is not None:
            return port.name
        provider = self._offers.default(ModelProvider)
        if provider is None:
            return None
        models = self.get(provider.name).models(capability)
        return f"{provider.name}:{models[0]}" if models else None

    def embedder(self, route: str) -> tuple[str, Embedder]:
        """Return the embedder of a route with its name.

        Raises:
            UnservedRouteError: No model serves the route.
            ConfigError: Settings name a model that is not on offer.
        """
        name, model = self._model(route, Capability.EMBED)
        if not isinstance(model, Embedder):
            raise ConfigError(f"models.{route} = {name!r} is no embedder")
        return name, model

    def decision_model(self, route: str) -> tuple[str, DecisionModel]:
        """Return the decision model of a route with its name; raises as `embedder` does."""
        name, model = self._model(route, Capability.DECIDE)
        if not isinstance(model, DecisionModel):
            raise ConfigError(f"models.{route} = {name!r} is no decision model")
        return name, model

    def _model(self, route: str, capability: Capability) -> tuple[str, Embedder | DecisionModel]:
        name = self.name_of(route, capability)
        if name is None:
            raise UnservedRouteError(
                "none",
                "none",
                route,
                f"no model serves it; set models.{route} = 'provider:model', or install a "
                f"provider, e.g. pip install 'poise[standard]'",
            )
        made = self._made.get((capability, name))
        if made is None:
            made = self._made[capability, name] = self._make(name, capability)
        return name, made

    def _make(self, name: str, capability: Capability) -> Embedder | DecisionModel:
        provider, colon, model = name.partition(":")
        if not colon:
            made: Embedder | DecisionModel = self._offers.make(
                _PORTS[capability], name, self._using
            )
            return made
        served = self.get(provider)
        if capability is Capability.EMBED:
            return served.embedder(model)
        return served.decision_model(model)

    def get(self, name: str) -> ModelProvider:
        made = self._providers.get(name)
        if made is None:
            made = self._providers[name] = self._offers.make(ModelProvider, name, self._using)
        return made


class RoutedModels(TurnModels):
    """The door to all models: unbound for indexing, or bound to one turn.

    Args:
        routes: Which model serves what.
        hooks: Hear of requests and responses.
        limits: How long one request may take, within a turn and while indexing.
        account: The turn's, when bound.
        current: Returns the turn as it stands, when bound.
    """

    def __init__(
        self,
        routes: ModelRoutes,
        hooks: HookCaller,
        limits: EngineLimits,
        *,
        account: Account | None = None,
        current: Callable[[], TurnContext | None] = lambda: None,
    ) -> None:
        self._routes = routes
        self._hooks = hooks
        self._limits = limits
        self._timeout = limits.index_timeout if account is None else limits.model_timeout
        self._account = account
        self._current = current
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def bind(self, account: Account, current: Callable[[], TurnContext | None]) -> RoutedModels:
        """Return the same door for one turn."""
        return RoutedModels(
            self._routes, self._hooks, self._limits, account=account, current=current
        )

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        name, model = self._routes.embedder(route)
        if self._account is None:
            return await self._embed(route, name, model, texts)
        import numpy as np

        missing = list(dict.fromkeys(text for text in texts if (name, text) not in self._vectors))
        if missing:
            rows = await self._embed(route, name, model, missing)
            self._vectors.update(
                {(name, text): row for text, row in zip(missing, rows, strict=True)}
            )
        if not texts:
            return np.zeros((0, model.dimensions), dtype=np.float32)
        return np.stack([self._vectors[name, text] for text in texts])

    async def warm(self, *, route: str = "embed", prompt: Prompt | None = None) -> None:
        await self._routes.embedder(route)[1].warm()

    async def _embed(
        self, route: str, name: str, model: Embedder, texts: Sequence[str]
    ) -> NDArray[np.float32]:
        rows = await self._ask(route, name, "embeddings", len(texts), lambda: model.embed(texts))
        if rows.shape != (len(texts), model.dimensions):
            raise self._malformed(
                route, name, f"{len(texts)} texts gave an array of shape {rows.shape}"
            )
        return rows

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        name, model = self._routes.decision_model(route)
        if not request.questions:
            return ()
        if self._hooks.has("on_model_request"):
            await self._hooks.notify(
                "on_model_request",
                self._hook_failed,
                route=route,
                request=request,
                turn=self._current(),
            )
        found = await self._ask(
            route, name, "decide", len(request.questions), lambda: model.decide(request)
        )
        asked = [question.id for question in request.questions]
        if [each.question for each in found] != asked:
            raise self._malformed(
                route, name, f"{len(asked)} questions gave answers to {len(found)}, or to others"
            )
        return [_answer(each, model.band, name) for each in found]

    def serves(self, route: str, capability: Capability) -> bool:
        return self._routes.name_of(route, capability) is not None

    def identity(self, route: str = "embed") -> str:
        return self._routes.embedder(route)[1].identity

    async def _ask(
        self, route: str, name: str, operation: str, items: int, ask: Callable[[], Awaitable[R]]
    ) -> R:
        started = time.perf_counter()
        error: str | None = None
        try:
            with (
                span(
                    MODEL,
                    {ROUTE: route, MODEL_NAME: name, OPERATION: operation, ITEMS: items},
                ),
                anyio.fail_after(self._timeout),
            ):
                return await ask()
        except anyio.get_cancelled_exc_class():
            error = "cancelled"
            raise
        except TimeoutError as exc:
            error = f"no answer within {self._timeout:g} s"
            provider, _, model = name.partition(":")
            raise ProviderTimeoutError(provider, model, route, error) from exc
        except ProviderError as exc:
            error = str(exc)
            raise
        except Exception as exc:
            error = f"{type(exc).__name__}: {exc}"
            provider, _, model = name.partition(":")
            raise ProviderError(provider, model, route, error) from exc
        finally:
            spent = (time.perf_counter() - started) * 1000
            if self._account is not None:
                self._account.requests.append(RequestLine(route, name, items, spent, error))
            if self._hooks.has("on_model_response"):
                # A cancelled request is told of too, but nobody who listens may hold up the turn.
                with anyio.move_on_after(self._timeout, shield=True):
                    await self._hooks.notify(
                        "on_model_response",
                        self._hook_failed,
                        route=route,
                        model=name,
                        milliseconds=spent,
                        error=error,
                        turn=self._current(),
                    )

    def _hook_failed(self, part: str, exc: Exception) -> None:
        if self._account is None:
            log_failure(part, exc)
        else:
            self._account.hook_failed(part, exc)

    def _malformed(self, route: str, name: str, reason: str) -> MalformedReplyError:
        provider, _, model = name.partition(":")
        return MalformedReplyError(provider, model, route, reason)


def _answer(found: Probability, band: tuple[float, float], name: str) -> Answer:
    low, high = band
    value = found.value
    yes = None if value is None or low < value < high else value >= high
    return Answer(found.question, yes, value, judged_by=name, rationale=found.rationale)
