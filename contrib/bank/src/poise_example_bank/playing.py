"""Plays the script against the agent, and yields the account of each turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing

import attrs

import poise
from poise.app.explain import TurnRecord, turn_records
from poise_example_bank.main import build
from poise_example_bank.script import SCENES, Scene
from poise_example_bank.services import Bank


@attrs.frozen
class Played:
    """A scene with what came of it."""

    scene: Scene
    record: TurnRecord


async def play(
    app: poise.Application, *, bank: Bank | None = None, scenes: Iterable[Scene] = SCENES
) -> AsyncGenerator[Played, None]:
    """Yield each scene once its turn is over.

    Args:
        app: An open application.
        bank: The bank to talk to; default: the configured one.
        scenes: What the customer writes.
    """
    agent = await build(app, bank)
    session = await app.open_session(agent, title="Demo")
    for scene in scenes:
        await session.say(scene.said)
        yield Played(scene, turn_records(await session.events())[-1])


async def play_all(app: poise.Application, bank: Bank | None = None) -> Sequence[Played]:
    """Return the whole conversation."""
    async with aclosing(play(app, bank=bank)) as played:
        return [each async for each in played]
