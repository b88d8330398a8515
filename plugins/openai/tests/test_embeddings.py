from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from poise.errors import ContextTooLongError, MalformedReplyError
from poise.testing.embedding import EmbedderConformance
from poise.testing.fake_server import FakeModelServer, Received, Scripted
from poise.testing.models import scripted_vectors

PATH = "/v1/embeddings"
EMBED = frozenset({"embedding"})


def vectors(texts: Sequence[str], size: int) -> list[list[float]]:
    return [[2.0 * float(each) for each in row] for row in scripted_vectors(texts, size)]


def answering(size: int = 16, limit: int | None = None) -> Any:
    """Answer like a server whose model reads `limit` characters of all texts together."""

    def answer(request: Received) -> Scripted:
        texts = request.json["input"]
        assert all(texts), "an empty text is refused by every server"
        if limit is not None and sum(map(len, texts)) > limit:
            message = f"maximum context length is {limit} tokens, however you requested 9999 tokens"
            return Scripted(400, body={"error": {"message": message}})
        rows = [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in enumerate(vectors(texts, size))
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return Scripted(body={"object": "list", "data": rows, "model": "m", "usage": usage})

    return answer


class TestEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, served: Any, fake_model_server: FakeModelServer) -> Any:
        fake_model_server.script(PATH, answering())
        return served.provider(dimensions=16).embedder("m-embed")


class TestEmbedderOfTheVendor(EmbedderConformance):
    """Answers in base64, as it is asked to."""

    @pytest.fixture
    def subject(self, served: Any, fake_model_server: FakeModelServer) -> Any:
        def answer(request: Received) -> Any:
            assert request.json["encoding_format"] == "base64"
            reply = answering()(request)
            for row in reply.body["data"]:
                packed = np.array(row["embedding"], dtype=np.float32).tobytes()
                row["embedding"] = base64.b64encode(packed).decode()
            return reply

        fake_model_server.script(PATH, answer)
        return served.provider("openai", dimensions=16).embedder("m-embed")


@pytest.mark.anyio
async def test_blank_texts_are_not_asked_about(served: Any) -> None:
    served.server.script(PATH, answering())
    embedder = served.provider(dimensions=16).embedder("m-embed")

    rows, usage = await embedder.embed_metered(["", "  \n"])

    assert served.sent == []
    assert usage is None
    assert rows[:, 0].tolist() == [1.0, 1.0]


@pytest.mark.anyio
async def test_texts_go_in_batches_and_come_back_in_order(served: Any) -> None:
    served.server.script(PATH, answering())
    embedder = served.provider(dimensions=16).embedder("m-embed")
    texts = [f"text number {number}" for number in range(300)]

    rows, usage = await embedder.embed_metered(texts)

    assert [len(body["input"]) for body in served.sent] == [128, 128, 44]
    assert np.allclose(rows, scripted_vectors(texts, 16), atol=1e-6)
    assert usage is not None
    assert usage.input_tokens == 300


@pytest.mark.anyio
async def test_a_batch_keeps_to_the_limit_on_its_tokens(served: Any) -> None:
    served.server.script(PATH, answering())
    embedder = served.provider(dimensions=16, context=8_000).embedder("m-embed")

    await embedder.embed(["word " * 4_800] * 60)

    assert all(sum(map(len, body["input"])) <= 600_000 for body in served.sent)
    assert len(served.sent) == 3


@pytest.mark.anyio
async def test_a_batch_that_is_still_too_long_is_halved(served: Any) -> None:
    served.server.script(PATH, answering(limit=100))
    embedder = served.provider(dimensions=16).embedder("m-embed")
    texts = ["a" * 60, "b" * 60, "c" * 60]

    rows = await embedder.embed(texts)

    assert np.allclose(rows, scripted_vectors(texts, 16), atol=1e-6)


@pytest.mark.anyio
async def test_a_text_that_is_still_too_long_is_read_from_its_beginning(served: Any) -> None:
    served.server.script(PATH, answering(limit=100))
    embedder = served.provider(dimensions=16).embedder("m-embed")

    await embedder.embed(["start " + "x" * 5_000])

    (last,) = served.sent[-1]["input"]
    assert last.startswith("start ")
    assert 50 < len(last) <= 100


@pytest.mark.anyio
async def test_a_server_that_finds_everything_too_long_is_an_error(served: Any) -> None:
    served.server.script(PATH, answering(limit=0))
    embedder = served.provider(dimensions=16).embedder("m-embed")

    with pytest.raises(ContextTooLongError):
        await embedder.embed(["hello"])


@pytest.mark.anyio
async def test_the_length_of_vectors_that_no_card_tells_is_learnt(served: Any) -> None:
    served.server.script(PATH, answering(size=24))
    embedder = served.provider().embedder("my-own-embed")
    before = embedder.identity

    await embedder.warm()
    rows = await embedder.embed(["", "hello"])

    assert embedder.dimensions == 24
    assert rows.shape == (2, 24)
    assert embedder.identity == before == "together:my-own-embed"


def test_identity_tells_model_and_dimensions_apart(served: Any) -> None:
    made = {
        served.provider(preset, dimensions=size).embedder(model).identity
        for preset in ("together", "qwen")
        for size in (16, 32)
        for model in ("m-embed", "m-embed2")
    }

    assert len(made) == 8


@pytest.mark.anyio
async def test_shorter_vectors_than_the_models_own_are_asked_for(served: Any) -> None:
    served.server.script(PATH, answering(size=256))
    native = {"native_dimensions": 1536}
    embedder = served.provider(dimensions=256, quirks=native).embedder("m-embed")

    await embedder.embed(["hello"])

    assert served.sent[0]["dimensions"] == 256


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "0 vectors for 1"),
        ([[1.0] * 3], "3 numbers, not 16"),
        ([[math.nan] * 16], "finite"),
    ],
)
async def test_vectors_that_break_the_contract_are_an_error(
    served: Any, recorded: Any, rows: list[list[float]], words: str
) -> None:
    data = [{"object": "embedding", "index": 0, "embedding": row} for row in rows]
    served.server.script(PATH, Scripted(body={**recorded("embeddings"), "data": data}))
    embedder = served.provider(dimensions=16).embedder("m-embed")

    with pytest.raises(MalformedReplyError, match=words):
        await embedder.embed(["hello"])


@pytest.mark.anyio
async def test_a_vector_of_zeros_is_the_first_unit_vector(served: Any, recorded: Any) -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [0.0] * 16}]
    served.server.script(PATH, Scripted(body={**recorded("embeddings"), "data": data}))

    rows = await served.provider(dimensions=16).embedder("m-embed").embed(["hello"])

    assert rows[0].tolist() == [1.0] + [0.0] * 15
