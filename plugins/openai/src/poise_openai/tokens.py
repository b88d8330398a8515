"""Counting tokens offline, where the vocabulary is installed (`poise-openai[tokens]`)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import anyio

from poise.turn.prompts import Prompt
from poise_openai.encode import clean

if TYPE_CHECKING:
    from collections.abc import Callable

_PER_MESSAGE = 4
"""Tokens that the wire adds around a message."""


async def count(vocabulary: str, prompt: Prompt) -> int | None:
    """Return how many tokens of a vocabulary a prompt has; `None`: it is not installed."""
    return await anyio.to_thread.run_sync(_count, vocabulary, prompt)


def _count(vocabulary: str, prompt: Prompt) -> int | None:
    encode = _encoder(vocabulary)
    if encode is None:
        return None
    return sum(len(encode(clean(text))) + _PER_MESSAGE for _, text in prompt.blocks)


@cache
def _encoder(vocabulary: str) -> Callable[[str], Any] | None:  # a list of numbers
    if find_spec("bpe_openai") is None:
        return None
    from bpe_openai import get_encoding  # type: ignore[import-untyped]  # it has no stubs

    encode: Callable[[str], Any] = get_encoding(vocabulary).encode_ordinary
    return encode
