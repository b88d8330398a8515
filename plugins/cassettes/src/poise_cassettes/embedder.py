"""The wrapped embedder: plays vectors back text by text, however texts are put together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from poise import Embedder
from poise.errors import ConfigError
from poise.turn.generation import Usage
from poise_cassettes import replies, requests
from poise_cassettes.behind import Behind
from poise_cassettes.errors import MEND
from poise_cassettes.requests import Json
from poise_cassettes.settings import Mode
from poise_cassettes.tape import Tape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Metered = tuple["NDArray[np.float32]", Usage | None]
"""A row per text, and what it took where the model was asked for just these texts."""


class CassetteEmbedder(Embedder):
    """Plays back vectors.

    A text has one vector, whatever it is embedded with; so a batch that was never asked for is
    put together from others, and `auto` asks for the texts that are missing and no others.
    """

    def __init__(self, tape: Tape, behind: Behind[Embedder]) -> None:
        self._tape = tape
        self._behind = behind
        self._known: dict[str, NDArray[np.float32]] | None = None
        known = None if tape.mode is Mode.RECORD else tape.facts().get("embedding")
        self._become(known or _of_embedder(behind.get()))

    async def warm(self) -> None:
        if self._tape.mode is Mode.RECORD:
            await self._behind.get().warm()
        else:
            await self._vectors()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows, _ = await self.embed_metered(texts)
        return rows

    async def embed_metered(self, texts: Sequence[str]) -> Metered:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32), None
        if self._tape.mode is Mode.RECORD:
            return await self._ask(texts)
        request = requests.embedding(self._tape.model, texts)
        take = await self._tape.find(request)
        if take is not None and take.get("identity", self.identity) == self.identity:
            return self._tape.read(request, take, _decoded)
        known = await self._vectors()
        missing = list(dict.fromkeys(text for text in texts if _key(text) not in known))
        usage = None
        if missing:
            if self._tape.mode is Mode.REPLAY:
                raise await self._tape.drift(requests.embedding(self._tape.model, missing))
            rows, usage = await self._ask(missing)
            known.update(zip(map(_key, missing), rows, strict=True))
        return np.stack([known[_key(text)] for text in texts]), usage

    async def _ask(self, texts: Sequence[str]) -> Metered:
        model = self._behind.get()
        if self._tape.mode is Mode.AUTO and model.identity != self.identity:
            raise ConfigError(
                f"cassettes of {self._tape.model}: recorded of {self.identity!r}, and the "
                f"embedder is now {model.identity!r}, whose vectors are others; delete them, and "
                f"{MEND}"
            )

        async def ask() -> Json:
            try:
                rows, usage = await model.embed_metered(texts)
            finally:
                self._become(_of_embedder(model))
                await self._behind.noted(self._tape, embedding=_of_embedder(model))
            return {**replies.of_vectors(rows, usage), "identity": self.identity}

        request = requests.embedding(self._tape.model, texts)
        return await self._tape.ask(request, ask, _decoded)

    async def _vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return every recorded vector by its text."""
        if self._known is None:
            # Read whole: a text may stand in any batch.
            found: dict[str, NDArray[np.float32]] = {}
            for cassette in await self._tape.all(requests.embedding(self._tape.model, ())):
                for take in cassette.takes:
                    if take.get("identity") == self.identity:
                        rows, _ = self._tape.read(cassette.request, take, _decoded)
                        texts = map(requests.joined, cassette.request.body["texts"])
                        found.update(zip(map(_key, texts), rows, strict=True))
            self._known = found
        return self._known

    def _become(self, facts: Mapping[str, Any]) -> None:
        self.identity = facts["identity"]
        self.dimensions = facts["dimensions"]


def _key(text: str) -> str:
    # As JSON has it: two halves of a surrogate pair are read back from a file as one character.
    return json.dumps(text)


def _decoded(said: Mapping[str, Any]) -> Metered:
    import numpy as np

    rows = np.stack([replies.vector_from(each) for each in said["vectors"]])
    return rows, replies.usage_from(said)


def _of_embedder(model: Embedder) -> dict[str, Json]:
    return {"identity": model.identity, "dimensions": model.dimensions}
