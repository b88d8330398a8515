from typing import Any

import pytest

from poise import (
    Cards,
    ConfigError,
    GenerationOptions,
    ModelCard,
    Prompt,
    Reasoning,
    Schema,
    Section,
    Stability,
    ToolSpec,
)
from poise_anthropic.encode import (
    Way,
    prompt_fields,
    structured_request,
    text_request,
    warming_request,
)

LAYERED = Prompt.of(
    Section("agent", "You are Bo.", Stability.CATALOG),
    Section("customer", "Ann is a customer.", Stability.SESSION),
    Section("message", "Where is my card?", Stability.TURN),
)
SCHEMA = Schema(
    "Answer",
    {
        "type": "object",
        "properties": {"why": {"type": "string"}, "yes": {"type": "boolean"}},
        "required": ["why", "yes"],
        "additionalProperties": False,
    },
)
TOOLS = (
    ToolSpec("bank.block_card", "Blocks a card.", SCHEMA),
    ToolSpec("bank_block_card", "Blocks it, too.", SCHEMA),
)
EPHEMERAL = {"type": "ephemeral"}


def card(model: str) -> ModelCard:
    cards = Cards("anthropic")
    cards.add_file("poise_anthropic")
    return cards.find("anthropic", model)


def asked(model: str, **options: Any) -> dict[str, Any]:
    return text_request(LAYERED, GenerationOptions(**options), card(model), ttl="5m")


def test_every_stable_block_ends_in_a_cache_boundary() -> None:
    sent = prompt_fields(LAYERED, "5m")

    assert sent == {
        "system": [
            {"type": "text", "text": "You are Bo.", "cache_control": EPHEMERAL},
            {"type": "text", "text": "Ann is a customer.", "cache_control": EPHEMERAL},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where is my card?"}]},
        ],
    }


def test_an_hour_in_the_cache_is_asked_for_by_name() -> None:
    sent = prompt_fields(LAYERED, "1h")

    assert [block["cache_control"]["ttl"] for block in sent["system"]] == ["1h", "1h"]


def test_without_words_of_a_turn_the_last_block_is_the_message() -> None:
    stable = Prompt.of(*LAYERED.sections[:2])

    sent = prompt_fields(stable, "5m")

    assert [block["text"] for block in sent["system"]] == ["You are Bo."]
    assert sent["messages"][0]["content"] == [
        {"type": "text", "text": "Ann is a customer.", "cache_control": EPHEMERAL}
    ]


def test_a_prompt_of_blanks_is_still_a_message() -> None:
    sent = prompt_fields(Prompt((Section("blank", " \n", Stability.TURN),)), "5m")

    assert sent == {"messages": [{"role": "user", "content": [{"type": "text", "text": "."}]}]}


def test_warming_sends_what_is_stable_as_the_next_request_will() -> None:
    options = GenerationOptions(tools=TOOLS, reasoning=Reasoning.HIGH)
    model = card("claude-haiku-5-5")
    later = text_request(LAYERED, options, model, ttl="5m")

    for prompt in (LAYERED, Prompt.of(*LAYERED.sections[:2])):
        sent = warming_request(prompt, options, model, ttl="5m", is_vendor=True)

        assert sent is not None
        assert sent["max_tokens"] == 0
        assert (sent["tools"], sent["system"]) == (later["tools"], later["system"])
        assert "thinking" not in sent
        assert "tool_choice" not in sent


def test_a_prompt_without_a_stable_part_is_not_warmed() -> None:
    prompt = Prompt.of(LAYERED.sections[2])

    options, model = GenerationOptions(), card("claude-haiku-5-5")
    assert warming_request(prompt, options, model, ttl="5m", is_vendor=True) is None


@pytest.mark.parametrize(
    ("model", "wanted", "sent"),
    [
        ("claude-haiku-5-5", None, 128_000),
        ("claude-haiku-5-5", 300, 300),
        ("claude-haiku-4-5", 100_000, 64_000),
        ("a-model-of-my-own", None, 4096),
        ("a-model-of-my-own", 100_000, 100_000),
    ],
)
def test_a_limit_on_output_is_always_sent(model: str, wanted: int | None, sent: int) -> None:
    assert asked(model, max_output=wanted)["max_tokens"] == sent


@pytest.mark.parametrize(
    ("model", "reasoning", "thinking", "effort"),
    [
        ("claude-haiku-5-5", None, None, None),
        ("claude-haiku-5-5", Reasoning.NONE, {"type": "disabled"}, None),
        ("claude-haiku-5-5", Reasoning.LOW, {"type": "adaptive"}, "low"),
        ("claude-sonnet-5-5", Reasoning.NONE, {"type": "between_tools"}, None),
        ("claude-sonnet-5-5", Reasoning.HIGH, {"type": "adaptive"}, "high"),
        ("claude-opus-5-5", Reasoning.NONE, None, "low"),
        ("claude-opus-4-8", Reasoning.NONE, None, None),
        ("claude-haiku-4-5", Reasoning.NONE, None, None),
        ("claude-haiku-4-5", Reasoning.HIGH, {"type": "enabled", "budget_tokens": 16_384}, None),
        ("claude-opus-4-5", Reasoning.LOW, {"type": "enabled", "budget_tokens": 1024}, "low"),
        ("a-model-of-my-own", Reasoning.HIGH, None, None),
    ],
)
def test_how_much_to_think_is_said_as_the_model_takes_it(
    model: str, reasoning: Reasoning | None, thinking: Any, effort: str | None
) -> None:
    sent = asked(model, reasoning=reasoning)

    assert sent.get("thinking") == thinking
    assert sent.get("output_config", {}).get("effort") == effort


@pytest.mark.parametrize(("limit", "budget"), [(2000, None), (2048, 1024), (6000, 3000)])
def test_a_budget_for_thinking_leaves_half_of_the_output_for_the_answer(
    limit: int, budget: int | None
) -> None:
    sent = asked("claude-haiku-4-5", max_output=limit, reasoning=Reasoning.HIGH)

    assert sent.get("thinking", {}).get("budget_tokens") == budget


def test_a_temperature_is_sent_only_where_the_card_says_so() -> None:
    own = ModelCard("anthropic", "my-own", quirks={"temperature": True})

    sent = text_request(LAYERED, GenerationOptions(temperature=0.2), own, ttl="5m")

    assert sent["extra_body"] == {"temperature": 0.2}
    assert "extra_body" not in asked("claude-haiku-5-5", temperature=0.2)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("any", {"type": "any"}),
        ("bank.block_card", {"type": "tool", "name": "bank_block_card_2"}),
    ],
)
def test_a_choice_of_tools_is_handed_on_by_the_names_that_were_sent(choice: str, sent: Any) -> None:
    request = asked("claude-haiku-5-5", tools=TOOLS, tool_choice=choice)

    assert [tool["name"] for tool in request["tools"]] == ["bank_block_card_2", "bank_block_card"]
    assert all(tool["strict"] for tool in request["tools"])
    assert request["tool_choice"] == sent


def test_a_model_that_thinks_is_not_made_to_call() -> None:
    request = asked("claude-haiku-5-5", tools=TOOLS, tool_choice="any", reasoning=Reasoning.HIGH)

    assert request["tool_choice"] == {"type": "any"}
    assert request["thinking"] == {"type": "disabled"}


def test_a_model_that_can_not_be_made_to_call_is_left_the_choice() -> None:
    request = asked("claude-opus-5-5", tools=TOOLS, tool_choice="any", reasoning=Reasoning.HIGH)

    assert request["tool_choice"] == {"type": "auto"}
    assert request["output_config"] == {"effort": "high"}


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "claude-opus-5-5"])
@pytest.mark.parametrize("way", [Way.STRICT_TOOL, Way.TOOL])
def test_json_by_a_tool_changes_nothing_of_the_stable_part(model: str, way: Way) -> None:
    options = GenerationOptions(reasoning=Reasoning.LOW)

    request = structured_request(LAYERED, SCHEMA, way, options=options, card=card(model), ttl="5m")

    assert request["system"] == prompt_fields(LAYERED, "5m")["system"]
    assert request["messages"][0]["content"][0] == {"type": "text", "text": "Where is my card?"}
    assert "Answer" in request["messages"][0]["content"][1]["text"]
    (tool,) = request["tools"]
    assert tool.get("strict", False) is (way is Way.STRICT_TOOL)
    assert list(tool["input_schema"]["properties"]) == ["why", "yes"]
    assert request["tool_choice"]["type"] == ("auto" if "opus" in model else "tool")


def test_an_unknown_quirk_is_said_with_those_there_are() -> None:
    own = ModelCard("anthropic", "my-own", quirks={"thinkin": "adaptive"})

    with pytest.raises(ConfigError, match=r"anthropic:my-own: quirk 'thinkin'.*forced_tools"):
        text_request(LAYERED, GenerationOptions(), own, ttl="5m")
