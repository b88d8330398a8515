"""What suites ask generating models for: a layered prompt, a schema, functions, every option."""

from __future__ import annotations

from poise.turn.generation import GenerationOptions, Reasoning, ToolSpec
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import Schema

SCHEMA = Schema(
    "Verdicts",
    {
        "type": "object",
        "properties": {
            "zz_evidence": {"type": "string", "description": "What speaks for it."},
            "mm_restated": {"type": ["string", "null"]},
            "aa_verdicts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "yy_id": {"type": "string"},
                        "bb_applies": {"type": "string", "enum": ["yes", "no"]},
                    },
                    "required": ["yy_id", "bb_applies"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["zz_evidence", "mm_restated", "aa_verdicts"],
        "additionalProperties": False,
    },
)
"""A schema whose fields are in an order that no sorting gives."""

FIELDS = ("zz_evidence", "mm_restated", "aa_verdicts", "yy_id", "bb_applies")
"""The fields of `SCHEMA` in their order."""

TOOLS = (
    ToolSpec(
        "block_card",
        "Block a card.",
        Schema(
            "block_card",
            {
                "type": "object",
                "properties": {"card": {"type": "string"}, "why": {"type": ["string", "null"]}},
                "required": ["card", "why"],
                "additionalProperties": False,
            },
        ),
    ),
    ToolSpec(
        "say_hello",
        "Say hello.",
        Schema(
            "say_hello",
            {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        ),
    ),
)
"""Functions on offer: one with parameters, one without."""

OPTIONS = (
    GenerationOptions(),
    GenerationOptions(max_output=1, temperature=0.0, reasoning=Reasoning.NONE, cache_key="a"),
    GenerationOptions(max_output=4_000, temperature=1.0, reasoning=Reasoning.LOW),
    GenerationOptions(reasoning=Reasoning.MEDIUM, cache_key="k" * 200),
    GenerationOptions(reasoning=Reasoning.HIGH, tools=TOOLS),
    GenerationOptions(tools=TOOLS, tool_choice="any"),
    GenerationOptions(tools=TOOLS, tool_choice="none"),
    GenerationOptions(tools=TOOLS, tool_choice="say_hello"),
)
"""Every option set at least once."""


def layered(words: str) -> Prompt:
    """Return a prompt with all three stabilities, whose turn is `words`."""
    return Prompt.of(
        Section("identity", "You are Ada of the bank <b>&co</b>.", Stability.CATALOG),
        Section("terms", "A 'standing order' is a payment that repeats.", Stability.CATALOG),
        Section("customer", "The customer is called Grace.", Stability.SESSION),
        Section("turn", words, Stability.TURN),
    )
