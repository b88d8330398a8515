from __future__ import annotations

import numpy as np
import pytest

from poise.errors import ProviderError
from poise.memory.artifacts import MemoryArtifactStore
from poise.testing.models import ScriptedModels
from poise_discovery.background import BACKGROUND
from poise_discovery.vectors import BATCH, VectorCache


class FailingLater(ScriptedModels):
    """Answers one request and then no more."""

    async def embed(self, texts, *, route="embed"):
        if self.embedded:
            raise ProviderError("scripted", "words", route, "is down")
        return await super().embed(texts, route=route)


def ignore(done: int, total: int) -> None:
    assert done <= total


@pytest.mark.anyio
async def test_texts_are_embedded_once_each_in_batches(models, artifacts) -> None:
    groups = [[f"text {at}", "shared"] for at in range(BATCH)]

    found = await VectorCache(models, artifacts).rows(groups, "words", ignore)

    assert len(found) == BATCH + 1
    embedded = [text for batch in models.embedded for text in batch]
    assert len(embedded) == len(set(embedded)) == BATCH + 1
    assert all(len(batch) <= BATCH for batch in models.embedded)


@pytest.mark.anyio
async def test_what_was_kept_is_read_and_not_embedded(models, artifacts) -> None:
    first = await VectorCache(models, artifacts).rows([["a", "b"], ["c"]], "words", ignore)
    models.embedded.clear()

    again = await VectorCache(models, artifacts).rows([["c"], ["a", "b"]], "words", ignore)

    assert models.embedded == []
    assert all(np.array_equal(first[text], again[text]) for text in first)


@pytest.mark.anyio
async def test_another_embedder_reads_nothing_of_the_first(models, artifacts) -> None:
    await VectorCache(models, artifacts).rows([["a"]], "words", ignore)

    await VectorCache(models, artifacts).rows([["a"]], "others", ignore)

    assert len(models.embedded) == 2


@pytest.mark.anyio
async def test_a_failure_keeps_what_was_whole_by_then() -> None:
    artifacts, groups = MemoryArtifactStore(), [[f"text {at}"] for at in range(BATCH + 1)]

    with pytest.raises(ProviderError):
        await VectorCache(FailingLater(), artifacts).rows(groups, "words", ignore)
    models = ScriptedModels()
    await VectorCache(models, artifacts).rows(groups, "words", ignore)

    assert models.embedded == [(f"text {BATCH}",)]


@pytest.mark.anyio
async def test_a_damaged_group_is_embedded_again(models, artifacts) -> None:
    cache = VectorCache(models, artifacts)
    await cache.rows([["a", "b"]], "words", ignore)
    for key in list(artifacts._kept):
        await artifacts.save(key, b"\0\0\0\0")

    await cache.rows([["a", "b"]], "words", ignore)

    assert len(models.embedded) == 2


def test_background_phrases_are_many_distinct_and_in_several_languages() -> None:
    assert len(BACKGROUND) == len(set(BACKGROUND)) >= 200
    assert {"guten Tag", "muchas gracias", "bonjour", "olá, bom dia", "grazie mille"} <= set(
        BACKGROUND
    )
