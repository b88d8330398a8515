"""Rules in English, customers in five languages: the right rule is sighted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

import poise
from poise.turn.fates import Fate
from poise_example_bank.fake import FakeBank
from poise_example_bank.main import build

pytestmark = pytest.mark.anyio
Messages = Mapping[str, list[list[str]]]


async def test_each_language_brings_up_the_right_rules(
    open_application: Callable[[], poise.Application], languages: Messages
) -> None:
    missed: list[str] = []
    acted = 0
    async with open_application() as app:
        agent = await build(app, FakeBank())
        for language, messages in languages.items():
            for said, wanted in messages:
                session = await app.open_session(agent)
                ledger = (await session.say(said)).ledger
                assert ledger is not None
                line = next((each for each in ledger.lines if each.name == wanted), None)
                if line is None or line.score is None or line.fate == Fate.OVER_BUDGET.value:
                    missed.append(f"{language}: {said}")
                acted += line is not None and line.fate == Fate.MATCHED.value

    assert missed == []
    assert acted >= 32  # of 40; the others are sighted, and left undecided


def test_there_are_five_languages(languages: Messages) -> None:
    assert len(languages) == 5
    assert all(len(messages) >= 3 for messages in languages.values())
