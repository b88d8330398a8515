"""Policies that need nothing but an approved answer, declared from rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

import poise


@attrs.frozen
class Answer:
    """A question that customers ask, and what the bank says to it.

    Attributes:
        title: A short name for people; also the policy's key.
        when: The situation.
        signals: How customers put it.
        wording: The approved answer.
        anti_signals: What customers say who mean a neighbouring policy.
        tags: What other rules may do to it, by name.
    """

    title: str
    when: str
    signals: Sequence[str]
    wording: str
    anti_signals: Sequence[str] = ()
    tags: Sequence[str] = ()


async def install_answers(
    agent: poise.Agent, answers: Iterable[Answer], topic: poise.Observation | None = None
) -> None:
    """Declare one policy per answer, each depending on `topic` where there is one."""
    for each in answers:
        await agent.create_policy(
            title=each.title,
            when=each.when,
            then="give the approved answer",
            signals=each.signals,
            anti_signals=each.anti_signals,
            dependencies=[topic] if topic is not None else None,
            canned_responses=[each.wording],
            tags=each.tags,
        )
