"""Prompt sections: bounded, and closed against what they quote."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from poise import ToolOutcome, ToolResult, prompts
from poise.testing.turns import catalog_of, turn_of
from poise.values.ids import ToolId
from poise.values.tools import ToolCall


@given(st.text())
def test_quoted_text_can_not_close_its_own_quotation(text: str) -> None:
    assert json.loads(prompts.quoted(text, limit=10_000)) == text


def test_result_of_a_tool_takes_no_more_room_than_its_limit() -> None:
    """B-040: a huge result does not flood the prompt, and the cut is marked."""
    call = ToolCall("key", ToolId("tool_search"), {})
    outcome = ToolOutcome(call, "search", result=ToolResult(data="x" * 2_000_000))
    turn = turn_of(catalog_of(), "find it", results=(outcome,))

    text = prompts.situation(turn, result_limit=500).text

    assert len(text) < 1_000
    assert "characters left out" in text


def test_same_turn_gives_the_same_bytes() -> None:
    turn = turn_of(catalog_of(), "hello", variables={"b": 1, "a": 2})

    assert prompts.situation(turn).text == prompts.situation(turn).text
    assert prompts.situation(turn).text.index("- a:") < prompts.situation(turn).text.index("- b:")
