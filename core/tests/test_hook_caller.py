"""The caller of turn hooks: one at a time, in order, and nobody's failure is everybody's."""

from __future__ import annotations

from typing import Any

import pytest

from poise.errors import HookError
from poise.hooks.caller import HookCaller, Implementation
from poise.testing.turns import catalog_of, turn_of
from poise.turn.control import Bail, Contribution
from poise.turn.speech import Message
from poise.values.agents import Agent
from poise.values.ids import AgentId

pytestmark = pytest.mark.anyio


def caller(*functions: Any) -> HookCaller:
    found = [
        Implementation(
            f"plugin{place}",
            function,
            function.__code__.co_varnames[: function.__code__.co_argcount],
        )
        for place, function in enumerate(functions)
    ]
    return HookCaller(lambda _hook: found)


class Failures(list[tuple[str, Exception]]):
    def __call__(self, part: str, exc: Exception) -> None:
        self.append((part, exc))


async def test_folding_hands_on_what_the_one_before_returned() -> None:
    async def shout(message: Message) -> Message:
        return Message(message.text.upper())

    async def leave(message: Message) -> None:
        return None

    async def mark(message: Message) -> Message:
        return Message(message.text + "!")

    answer = await caller(shout, leave, mark).fold("on_message_generated", "message", Message("hi"))

    assert answer == Message("HI!")


async def test_bail_ends_folding() -> None:
    async def stop(message: Message) -> Bail:
        return Bail("no")

    async def never(message: Message) -> Message:
        raise AssertionError

    answer = await caller(stop, never).fold("on_message_generated", "message", Message("hi"))

    assert answer == Bail("no")


async def test_folding_fails_closed_and_names_the_plugin() -> None:
    async def broken(message: Message) -> Message:
        raise ValueError("boom")

    with pytest.raises(HookError, match="plugin 'plugin0': raised ValueError"):
        await caller(broken).fold("on_message_generated", "message", Message("hi"))


async def test_folding_refuses_another_type() -> None:
    async def wrong(message: Message) -> Any:
        return "just text"

    with pytest.raises(HookError, match="returned 'just text'"):
        await caller(wrong).fold("on_message_generated", "message", Message("hi"))


async def test_failure_of_one_is_reported_and_the_next_runs() -> None:
    failures = Failures()

    async def broken(turn: object) -> None:
        raise ValueError("boom")

    async def contributes(turn: object) -> Contribution:
        return Contribution(fields={"plan": "gold"})

    answers = await caller(broken, contributes).steer("on_preparing", failures, turn=None)

    assert answers == [Contribution(fields={"plan": "gold"})]
    assert [part for part, _ in failures] == ["on_preparing of plugin0"]


async def test_steering_answer_of_another_kind_is_a_failure() -> None:
    failures = Failures()

    async def wrong(turn: object) -> Any:
        return True

    assert await caller(wrong).steer("on_preparing", failures, turn=None) == []
    assert "returned True" in str(failures[0][1])


async def test_implementation_gets_only_what_it_names() -> None:
    seen: list[object] = []

    async def modest(turn: object) -> None:
        seen.append(turn)

    await caller(modest).notify("on_rule_selected", Failures(), rule="r", turn="t")

    assert seen == ["t"]


async def test_hooks_of_a_limited_plugin_run_on_turns_of_its_agents_alone() -> None:
    seen: list[str] = []

    async def note(turn: Any) -> None:
        seen.append(turn.agent.name)

    found = [Implementation("audit", note, ("turn",))]
    hooks = HookCaller(lambda _hook: found, {"audit": ["Harbour"]})
    for name in ("Harbour", "Clerk"):
        turn = turn_of(catalog_of(agent=Agent(AgentId(f"agent_{name}"), name)))
        await hooks.notify("on_acknowledged", Failures(), turn=turn)

    assert seen == ["Harbour"]
