"""Moderation: whether texts break the vendor's policy on content."""

from __future__ import annotations

from collections.abc import Sequence

from poise.errors import ContextTooLongError, MalformedReplyError
from poise.ports.models import Moderator
from poise.turn.generation import Moderation
from poise_openai.client import Client
from poise_openai.decode import unreadable
from poise_openai.encode import clean

_TEXTS = 32
_LONGEST = 100_000
"""Characters of one text; what lies beyond is judged in a piece of its own."""


class OpenAIModerator(Moderator):
    """Moderates with one model of one server."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        pieces = [
            (position, clean(text[start : start + _LONGEST]))
            for position, text in enumerate(texts)
            if text.strip()
            for start in range(0, len(text), _LONGEST)
        ]
        found = [Moderation(flagged=False) for _ in texts]
        for start in range(0, len(pieces), _TEXTS):
            batch = pieces[start : start + _TEXTS]
            judged = await self._ask([text for _, text in batch])
            for (position, _), each in zip(batch, judged, strict=True):
                found[position] = _worse(found[position], each)
        return found

    async def _ask(self, texts: list[str]) -> list[Moderation]:
        """Return what is said of each text; one that is refused as too long is asked in halves."""
        try:
            return await self._request(texts)
        except ContextTooLongError:
            if len(texts) == 1 and len(texts[0]) < 2:
                raise
        if len(texts) == 1:
            half = len(texts[0]) // 2
            first, second = await self._ask([texts[0][:half], texts[0][half:]])
            return [_worse(first, second)]
        half = len(texts) // 2
        return [*await self._ask(texts[:half]), *await self._ask(texts[half:])]

    async def _request(self, texts: list[str]) -> list[Moderation]:
        sdk = await self._client.sdk(self._model)
        response = await self._client.send(
            self._model, sdk.moderations.create, {"model": self._model, "input": texts}
        )
        results = getattr(response, "results", None)
        if not isinstance(results, list):
            raise unreadable(response, self._client.place(self._model))
        if len(results) != len(texts):
            raise MalformedReplyError(
                self._client.provider,
                self._model,
                "",
                f"it judged {len(results)} texts of {len(texts)}",
            )
        return [
            Moderation(bool(each.flagged), each.category_scores.to_dict(exclude_none=True))
            for each in results
        ]


def _worse(one: Moderation, other: Moderation) -> Moderation:
    names = {**one.scores, **other.scores}
    return Moderation(
        one.flagged or other.flagged,
        {name: max(one.scores.get(name, 0.0), other.scores.get(name, 0.0)) for name in names},
    )
