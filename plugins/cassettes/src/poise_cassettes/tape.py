"""What is recorded of one model: plays requests back, or has them asked and keeps the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

from poise.errors import ProviderError
from poise_cassettes.drift import drift
from poise_cassettes.errors import CassetteDriftError, UnreadableCassetteError
from poise_cassettes.folder import Cassette, Folder
from poise_cassettes.replies import error_from, of_error
from poise_cassettes.requests import Json, Request
from poise_cassettes.settings import Mode

R = TypeVar("R")

Take = Mapping[str, Json]
"""What came back once: a reply, an error under `error`, or a beginning and an error."""


class Tape:
    """The recordings of one model in one application.

    A request that is made several times is played back in the order in which it was recorded,
    since a retry sends the same request and gets another answer; after the last take, the last
    one is repeated.

    Args:
        folder: Where cassettes are.
        mode: Whether they are played or made.
        model: `provider:model`, as the wrapped provider calls it.
        provider: The name of the provider whose tape it is.
    """

    def __init__(self, folder: Folder, mode: Mode, model: str, *, provider: str) -> None:
        self.mode = mode
        self.model = model
        self.folder = folder
        self._provider = provider
        self._takes: dict[str, tuple[Take, ...]] = {}
        self._played: Counter[str] = Counter()
        self._facts: dict[str, Any] | None = None
        self._writing = anyio.Lock()

    async def play(
        self,
        request: Request,
        ask: Callable[[], Awaitable[Json]],
        decode: Callable[[Mapping[str, Any]], R],
    ) -> R:
        """Return the recorded answer to a request, or ask for one and keep it.

        Args:
            request: What is asked.
            ask: Asks the wrapped model, and returns its answer as JSON.
            decode: Reads the answer from JSON, a recorded one and a fresh one alike.

        Raises:
            ProviderError: The recorded one, or the wrapped model's.
            CassetteDriftError: It is not recorded, and nothing may be asked.
            UnreadableCassetteError: A file is damaged.
        """
        take = await self.find(request)
        if take is not None:
            return self.read(request, take, decode)
        if self.mode is Mode.REPLAY:
            raise await self.drift(request)
        return await self.ask(request, ask, decode)

    async def ask(
        self,
        request: Request,
        ask: Callable[[], Awaitable[Json]],
        decode: Callable[[Mapping[str, Any]], R],
    ) -> R:
        """Return the model's answer to a request, and keep it; an error is an answer, too.

        Raises:
            ProviderError: The model's.
        """
        try:
            take = await ask()
        except ProviderError as exc:
            await self.keep(request, {"error": of_error(exc)})
            raise
        await self.keep(request, take)
        return self.read(request, take, decode)

    async def find(self, request: Request) -> Take | None:
        """Return the take to be played for a request now; `None` where the model is to be asked.

        Raises:
            UnreadableCassetteError: A file is damaged.
        """
        if self.mode is Mode.RECORD:
            return None
        position = self._played[request.digest]
        self._played[request.digest] += 1
        takes = self._takes.get(request.digest)
        if takes is None:
            cassette = await run_sync(self.folder.load, request)
            takes = self._takes.setdefault(request.digest, cassette.takes if cassette else ())
        if position < len(takes):
            return takes[position]
        if not takes or (self.mode is Mode.AUTO and self._may_go_on(request, takes[-1])):
            return None
        return takes[-1]

    async def keep(self, request: Request, take: Take) -> None:
        """Add a take: in `auto` to what is recorded, in `record` to what this run has recorded."""
        async with self._writing:
            takes = (*self._takes.get(request.digest, ()), take)
            self._takes[request.digest] = takes
            await run_sync(self.folder.save, request, takes)

    def read(self, request: Request, take: Take, decode: Callable[[Mapping[str, Any]], R]) -> R:
        """Return what a take holds.

        Raises:
            ProviderError: It holds an error.
            UnreadableCassetteError: It holds neither.
        """
        try:
            if "error" not in take:
                return decode(take)
            failure = error_from(take["error"])
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            raise UnreadableCassetteError(
                f"of {self.model}, {request.capability.value}-{request.digest}.json",
                f"holds a take that is no answer ({exc!r})",
            ) from exc
        raise failure

    async def drift(self, request: Request) -> CassetteDriftError:
        """Return the error for a request that is not recorded."""

        def compared() -> CassetteDriftError:
            recorded = self.folder.all(self.model, request.capability)
            return drift(request, recorded, provider=self._provider)

        return await run_sync(compared)

    async def all(self, request: Request) -> Sequence[Cassette]:
        """Return all that is recorded of the model with the request's capability."""
        return await run_sync(lambda: list(self.folder.all(self.model, request.capability)))

    # -- the model itself --

    def facts(self) -> Mapping[str, Any]:
        """Return what is recorded of the model itself.

        Raises:
            UnreadableCassetteError: The file is damaged.
        """
        if self._facts is None:
            self._facts = dict(self.folder.facts(self.model))
        return self._facts

    async def keep_facts(self, **facts: Json) -> None:
        """Add to what is recorded of the model itself."""
        async with self._writing:
            known = self.facts()
            if any(known.get(name) != value for name, value in facts.items()):
                self._facts = {**known, **facts}
                await run_sync(self.folder.save_facts, self.model, self._facts)

    def _may_go_on(self, request: Request, last: Take) -> bool:
        """Say whether the last take is a failure that calls for another try."""
        if "error" not in last:
            return False
        try:
            self.read(request, last, lambda _: None)
        except ProviderError as exc:
            return exc.is_retryable
        return False
