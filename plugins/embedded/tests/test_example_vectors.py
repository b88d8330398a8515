from __future__ import annotations

import numpy as np
import pytest

from poise.errors import ProviderError
from poise.testing.models import scripted_vectors
from poise.testing.providers import ScriptedEmbedder
from poise_embedded.example_vectors import ExampleVectors

DOWN = ProviderError("scripted", "words", "embed", "is down")


@pytest.mark.anyio
async def test_more_texts_than_it_keeps_are_all_returned() -> None:
    subject = ExampleVectors(ScriptedEmbedder(), capacity=2)

    found = await subject.of(["one", "two", "three", "one"])

    assert list(found) == ["one", "two", "three"]
    assert np.array_equal(found["three"], scripted_vectors(["three"], 256)[0])


@pytest.mark.anyio
async def test_what_was_not_asked_for_longest_goes_first() -> None:
    embedder = ScriptedEmbedder()
    subject = ExampleVectors(embedder, capacity=2)
    await subject.of(["one", "two"])
    await subject.of(["one"])

    await subject.of(["three"])
    await subject.of(["one", "three", "two"])

    assert embedder.embedded == [("one", "two"), ("three",), ("two",)]


@pytest.mark.anyio
async def test_a_failure_keeps_what_was_there() -> None:
    embedder = ScriptedEmbedder(failures=[None, DOWN])
    subject = ExampleVectors(embedder)
    await subject.of(["one"])

    with pytest.raises(ProviderError, match="is down"):
        await subject.of(["one", "two"])

    assert list(await subject.of(["one"])) == ["one"]
    assert len(embedder.embedded) == 2
