"""Beginnings of prompts stored at Google, where the settings ask for it (`cache = "explicit"`)."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

import attrs

from poise import ProviderError, Usage
from poise.values.clock import Clock
from poise.values.digests import content_digest
from poise_google.client import Connection
from poise_google.encode import Asked
from poise_google.errors import translated

logger = logging.getLogger(__name__)

DEFAULT_MINIMUM = 4096
"""Tokens below which Google stores nothing, where a model's card does not say (`cache_minimum`)."""

_CHARACTERS_PER_TOKEN = 4
_MARGIN = timedelta(seconds=30)
_KEPT = 1000


@attrs.frozen
class Stored:
    """A beginning that is stored, or that Google would not store.

    Attributes:
        name: What to refer to it by; `None`: it was refused.
        until: When this is to be forgotten.
        written: What storing it took; on the entry that is returned by the request that did.
    """

    name: str | None
    until: datetime
    written: Usage | None = None


class Prefixes:
    """Knows which beginnings are stored; stores those that are not, and long enough.

    Args:
        connection: The way to Google.
        clock: Tells what has expired.
        ttl: Seconds for which a beginning is kept.
    """

    def __init__(self, connection: Connection, clock: Clock, ttl: int) -> None:
        self._connection = connection
        self._clock = clock
        self._ttl = ttl
        self._stored: dict[str, Stored] = {}
        self._under_way: set[str] = set()

    async def stored(self, model: str, asked: Asked, minimum: int) -> Stored | None:
        """Return the stored beginning of a request; `None`: send it whole.

        Storing is no condition of an answer: while another request stores the same beginning, and
        where Google refuses to, requests go out whole.
        """
        if len(asked.system) < minimum * _CHARACTERS_PER_TOKEN:
            return None
        key = self._key(model, asked)
        known = self._stored.get(key)
        if known is not None and known.until > self._clock.now():
            return known if known.name else None
        if key in self._under_way:
            return None
        self._under_way.add(key)
        try:
            return await self._store(key, model, asked)
        finally:
            self._under_way.discard(key)

    def forget(self, model: str, asked: Asked) -> None:
        """Forget a beginning that Google does not know any more."""
        self._stored.pop(self._key(model, asked), None)

    def _key(self, model: str, asked: Asked) -> str:
        return content_digest(model, asked.system, list(asked.tools), asked.tool_config)

    async def _store(self, key: str, model: str, asked: Asked) -> Stored | None:
        now = self._clock.now()
        call = self._connection.call(model)
        client = await self._connection.client(call)
        from google.genai import types

        config = types.CreateCachedContentConfig.model_validate(
            {**asked.beginning(), "ttl": f"{self._ttl}s"}
        )
        try:
            with translated(call):
                made = await client.aio.caches.create(model=model, config=config)
        except ProviderError as exc:
            # What failed for now is tried again soon, what was refused only after a while.
            wait = _MARGIN if exc.is_retryable else timedelta(seconds=self._ttl)
            self._keep(key, Stored(None, now + wait))
            logger.warning(
                "a prompt's beginning was not stored; requests go out whole",
                extra={"model": model, "error": str(exc)},
            )
            return None
        stored = Stored(made.name, now + max(timedelta(seconds=self._ttl) - _MARGIN, _MARGIN / 2))
        self._keep(key, stored)
        count = (made.usage_metadata.total_token_count if made.usage_metadata else None) or 0
        return attrs.evolve(stored, written=Usage(input_tokens=count, written_tokens=count))

    def _keep(self, key: str, stored: Stored) -> None:
        now = self._clock.now()
        for known in [each for each, entry in self._stored.items() if entry.until <= now]:
            del self._stored[known]
        while len(self._stored) >= _KEPT:
            del self._stored[next(iter(self._stored))]
        self._stored[key] = stored
