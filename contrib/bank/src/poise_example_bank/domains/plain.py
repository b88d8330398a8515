"""Policies that need nothing but an approved answer, declared from rows."""

from __future__ import annotations

from collections.abc import Sequence

import poise

Row = tuple[str, str, Sequence[str], str]
"""Title, when it applies, signals, and the approved answer."""


async def install_rows(agent: poise.Agent, topic: poise.Observation, rows: Sequence[Row]) -> None:
    """Declare one policy per row, each depending on its topic."""
    for title, when, signals, wording in rows:
        await agent.create_policy(
            title=title,
            when=when,
            then="explain how it works",
            signals=list(signals),
            dependencies=[topic],
            canned_responses=[wording],
        )
