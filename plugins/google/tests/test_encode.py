"""What is sent: the prompt in two parts, the schema in order, tools, and reasoning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import (
    DecisionRequest,
    GenerationOptions,
    InvalidRequestError,
    Prompt,
    Question,
    Reasoning,
    Schema,
    Section,
    Stability,
    ToolSpec,
)
from poise_google.encode import (
    decision_input,
    decision_question,
    generation,
    json_schema,
    refuse_empty,
    sendable,
    split,
)

CATALOG = Section("identity", "You are Ada.", Stability.CATALOG)
SESSION = Section("customer", "She is called Grace.", Stability.SESSION)
TURN = Section("turn", "Where is my card?", Stability.TURN)

NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
TOOLS = tuple(
    ToolSpec(name, f"To {name}.", Schema(name, {**NOTHING, "additionalProperties": False}))
    for name in ("block", "greet")
)


def test_stable_blocks_are_the_instruction_and_the_turn_is_the_content() -> None:
    assert split(Prompt.of(CATALOG, SESSION, TURN)) == (
        "You are Ada.\n\nShe is called Grace.",
        "Where is my card?",
    )


def test_without_a_turn_the_last_block_is_the_content() -> None:
    assert split(Prompt.of(CATALOG, SESSION)) == ("You are Ada.", "She is called Grace.")
    assert split(Prompt.of(CATALOG)) == ("", "You are Ada.")


def test_an_empty_prompt_is_refused_before_it_goes_out() -> None:
    asked = generation(Prompt(()), GenerationOptions(), {})

    with pytest.raises(InvalidRequestError, match="no text"):
        refuse_empty(asked, "google", "gemini-3.8-flash")


def test_the_sdk_neither_calls_functions_nor_sends_second_requests() -> None:
    config = generation(Prompt.of(TURN), GenerationOptions(), {}).whole()

    assert config["automatic_function_calling"] == {"disable": True}
    assert config["automatic_continuation"] is False


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", {"mode": "AUTO"}),
        ("any", {"mode": "ANY"}),
        ("none", {"mode": "NONE"}),
        ("greet", {"mode": "ANY", "allowed_function_names": ["greet"]}),
    ],
)
def test_a_choice_of_tools_is_a_mode(choice: str, expected: dict[str, Any]) -> None:
    options = GenerationOptions(tools=TOOLS, tool_choice=choice)

    config = generation(Prompt.of(TURN), options, {}).whole()

    assert config["tool_config"] == {"function_calling_config": expected}
    (tool,) = config["tools"]
    assert [each["name"] for each in tool["function_declarations"]] == ["block", "greet"]


def test_a_model_that_validates_its_calls_is_told_to() -> None:
    asked = generation(Prompt.of(TURN), GenerationOptions(tools=TOOLS), {"validated_tools": True})

    assert asked.tool_config == {"function_calling_config": {"mode": "VALIDATED"}}


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("low", {"thinking_level": "low"}),
        (1024, {"thinking_budget": 1024}),
        (0, {"thinking_budget": 0}),
    ],
)
def test_reasoning_is_called_what_the_card_calls_it(
    amount: object, expected: dict[str, Any]
) -> None:
    quirks = {"thinking": {"low": amount}}

    config = generation(Prompt.of(TURN), GenerationOptions(reasoning=Reasoning.LOW), quirks).whole()

    assert config["thinking_config"] == expected


def test_reasoning_that_the_card_does_not_know_is_left_out() -> None:
    options = GenerationOptions(reasoning=Reasoning.HIGH)

    config = generation(Prompt.of(TURN), options, {"thinking": {"low": "low"}}).whole()

    assert "thinking_config" not in config


def test_a_schema_keeps_its_order_and_says_so() -> None:
    inner = {
        "type": "object",
        "properties": {"z": {"type": "string"}, "a": {"type": ["integer", "null"]}},
        "required": ["z", "a"],
        "additionalProperties": False,
    }
    schema = Schema(
        "Verdicts",
        {
            "type": "object",
            "properties": {"why": {"type": "string"}, "all": {"type": "array", "items": inner}},
            "required": ["why", "all"],
            "additionalProperties": False,
        },
    )
    before = schema.plain()

    told = json_schema(schema)

    assert told["propertyOrdering"] == ["why", "all"]
    assert told["properties"]["all"]["items"]["propertyOrdering"] == ["z", "a"]
    assert told["additionalProperties"] is False
    assert schema.plain() == before


def test_enums_hold_strings_and_numbers_alone() -> None:
    schema = Schema(
        "Choice",
        {
            "type": "object",
            "properties": {
                "maybe": {"type": ["string", "null"], "description": "Which.", "enum": ["a", None]},
                "sure": {"type": "string", "enum": ["a", "b"]},
                "flag": {"type": "boolean", "enum": [True]},
            },
            "required": ["maybe", "sure", "flag"],
            "additionalProperties": False,
        },
    )

    told = json_schema(schema)["properties"]

    assert told["maybe"] == {
        "description": "Which.",
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}],
    }
    assert told["sure"] == {"type": "string", "enum": ["a", "b"]}
    assert told["flag"] == {"type": "boolean"}


def test_a_stored_beginning_leaves_out_what_it_holds() -> None:
    asked = generation(Prompt.of(CATALOG, TURN), GenerationOptions(tools=TOOLS, max_output=9), {})

    config = asked.after("cachedContents/1")

    assert config["cached_content"] == "cachedContents/1"
    assert not config.keys() & {"system_instruction", "tools", "tool_config"}
    assert config["max_output_tokens"] == 9


def test_a_decision_is_about_the_state_the_quoted_focus_and_the_task() -> None:
    request = DecisionRequest(
        Prompt.of(CATALOG, TURN), ('I "lost" it\n', "  "), (), task="Be strict."
    )

    text = decision_input(request)

    assert text.startswith("You are Ada.\n\nWhere is my card?\n\n")
    assert '- "I \\"lost\\" it\\n"\n\nBe strict.' in text


def test_a_question_has_only_the_criteria_that_it_has() -> None:
    assert decision_question(Question("q", "Is it lost?", yes_if="It is gone.")) == {
        "type": "noul",
        "instructions": "Is it lost?",
        "criteria": {"true_description": "It is gone."},
    }
    assert decision_question(Question("q", "Is it lost?")) == {
        "type": "noul",
        "instructions": "Is it lost?",
    }


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_is_sent_can_be_encoded_and_whole_texts_stay(text: str) -> None:
    sent = sendable(text)

    assert len(sent) == len(text)
    assert sent.encode("utf-8").decode("utf-8") == sent
    assert sendable(sent) == sent
