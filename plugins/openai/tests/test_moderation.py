from __future__ import annotations

from typing import Any

import pytest

from poise.errors import MalformedReplyError
from poise.testing.embedding import AWKWARD
from poise.testing.fake_server import Received, Scripted

PATH = "/v1/moderations"


@pytest.fixture
def moderator(served: Any, recorded: Any) -> Any:
    def answer(request: Received) -> Scripted:
        body = recorded("moderations")
        (one,) = body["results"]
        texts = request.json["input"]
        results = [
            {**one, "flagged": "bad" in text, "category_scores": {"violence": len(text) / 1e6}}
            for text in texts
        ]
        return Scripted(body={**body, "results": results})

    served.server.script(PATH, answer)
    return served.provider("openai", capabilities=frozenset()).moderator("omni-moderation-latest")


@pytest.mark.anyio
async def test_scores_go_by_the_vendors_words(served: Any, recorded: Any) -> None:
    served.server.script(PATH, Scripted(body=recorded("moderations")))

    (found,) = await served.provider("openai").moderator("x-moderation").moderate(["hello"])

    assert not found.flagged
    assert found.scores == {"hate": 0.0001, "self-harm/intent": 0.0002, "violence": 0.01}


@pytest.mark.anyio
async def test_many_texts_go_in_batches(moderator: Any, served: Any) -> None:
    texts = [f"text {number}{' bad' if number % 7 == 0 else ''}" for number in range(70)]

    found = await moderator.moderate(texts)

    assert [each.flagged for each in found] == ["bad" in text for text in texts]
    assert len(served.sent) == 3


@pytest.mark.anyio
async def test_what_is_bad_at_the_end_of_a_long_text_is_seen(moderator: Any) -> None:
    (found, other) = await moderator.moderate(["x" * 250_000 + " bad", "fine"])

    assert (found.flagged, other.flagged) == (True, False)
    assert found.scores["violence"] == 0.1


@pytest.mark.anyio
async def test_no_text_is_refused(moderator: Any, served: Any) -> None:
    found = await moderator.moderate(["", "  ", *AWKWARD])

    assert len(found) == 2 + len(AWKWARD)
    assert all(text.strip() for body in served.sent for text in body["input"])


@pytest.mark.anyio
async def test_no_texts_are_no_request(moderator: Any, served: Any) -> None:
    assert list(await moderator.moderate([])) == []
    assert served.sent == []


@pytest.mark.anyio
async def test_too_few_judgements_are_an_error(served: Any, recorded: Any) -> None:
    served.server.script(PATH, Scripted(body=recorded("moderations")))

    with pytest.raises(MalformedReplyError, match="1 texts of 2"):
        await served.provider("openai").moderator("x-moderation").moderate(["a", "b"])
