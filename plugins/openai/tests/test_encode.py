from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.testing.generation_requests import SCHEMA, TOOLS, layered
from poise.turn.cards import ModelCard
from poise.turn.generation import GenerationOptions, Reasoning
from poise.turn.prompts import Prompt, Section, Stability
from poise_openai.encode import ANSWER, Asked, Encoder, cache_key, clean, cleaned
from poise_openai.preset import Level, Preset

PLAIN = GenerationOptions()
PROMPT = Prompt.of(
    Section("identity", "You are a bank.", Stability.CATALOG),
    Section("customer", "Their name is Ada.", Stability.SESSION),
    Section("said", "Where is my card?", Stability.TURN),
)


def encoder(quirks: dict[str, Any] | None = None, **preset: Any) -> Encoder:
    return Encoder(Preset("acme", **preset), "m", ModelCard("acme", "m", quirks=quirks or {}))


def test_what_never_changes_is_an_instruction_and_the_rest_is_the_users() -> None:
    sent = encoder(system_role="developer").chat(PROMPT, Asked(PLAIN))

    assert sent["messages"] == [
        {"role": "developer", "content": "You are a bank."},
        {"role": "user", "content": "Their name is Ada.\n\nWhere is my card?"},
    ]


def test_a_prompt_of_instructions_alone_is_the_users() -> None:
    prompt = Prompt.of(Section("identity", "You are a bank.", Stability.CATALOG))

    sent = encoder().chat(prompt, Asked(PLAIN))

    assert sent["messages"] == [{"role": "user", "content": "You are a bank."}]


@pytest.mark.parametrize(("api", "kind"), [("chat", "text"), ("responses", "input_text")])
def test_a_model_that_takes_marks_is_told_where_its_cache_may_be_cut(api: str, kind: str) -> None:
    encode = getattr(encoder({"cache": "explicit"}), api)

    sent = encode(PROMPT, Asked(PLAIN))

    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    assert [message["content"] for message in sent["messages" if api == "chat" else "input"]] == [
        [{"type": kind, "text": "You are a bank.", **mark}],
        [
            {"type": kind, "text": "Their name is Ada.\n\n", **mark},
            {"type": kind, "text": "Where is my card?"},
        ],
    ]
    assert sent["prompt_cache_options"] == {"mode": "explicit"}


def test_a_prompt_in_which_nothing_lasts_is_left_to_the_vendors_own_marks() -> None:
    prompt = Prompt.of(Section("said", "Where is my card?", Stability.TURN))

    sent = encoder({"cache": "explicit"}).responses(prompt, Asked(PLAIN))

    assert "prompt_cache_options" not in sent


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_cache_key_is_sent_where_it_is_taken_and_a_long_one_as_its_digest(api: str) -> None:
    options = GenerationOptions(cache_key="k" * 200)

    taking = getattr(encoder(cache_key=True), api)(PROMPT, Asked(options))
    other = getattr(encoder(), api)(PROMPT, Asked(options))

    assert len(taking["prompt_cache_key"]) <= 64
    assert taking["prompt_cache_key"] == cache_key("k" * 200) != cache_key("k" * 201)
    assert "prompt_cache_key" not in other


@pytest.mark.parametrize("level", list(Level))
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_every_level_carries_the_whole_schema_in_its_order(api: str, level: Level) -> None:
    sent = getattr(encoder(), api)(layered("Where is my card?"), Asked(PLAIN, SCHEMA, level))

    told = json.dumps(sent, ensure_ascii=False).replace('\\"', '"')
    places = [told.find(f'"{name}"') for name in ("zz_evidence", "mm_restated", "aa_verdicts")]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("level", "chat", "responses"),
    [
        (Level.JSON_SCHEMA, {"response_format": "json_schema"}, {"text": "json_schema"}),
        (Level.JSON_OBJECT, {"response_format": "json_object"}, {"text": "json_object"}),
        (Level.TOOL, {"tool_choice": ANSWER}, {"tool_choice": ANSWER}),
        (Level.PROMPT, {}, {}),
    ],
)
def test_a_level_asks_for_json_by_its_own_parameter_alone(
    level: Level, chat: dict[str, str], responses: dict[str, str]
) -> None:
    own = {"response_format", "text", "tools", "tool_choice"}

    for api, expected in (("chat", chat), ("responses", responses)):
        sent = getattr(encoder(), api)(PROMPT, Asked(PLAIN, SCHEMA, level))

        named = {name: json.dumps(sent[name]) for name in own & sent.keys() if name != "tools"}
        assert named.keys() == expected.keys()
        assert all(word in named[name] for name, word in expected.items())


@pytest.mark.parametrize(
    ("choice", "chat", "responses"),
    [
        ("auto", "auto", "auto"),
        ("any", "required", "required"),
        ("none", "none", "none"),
        (
            "say_hello",
            {"type": "function", "function": {"name": "say_hello"}},
            {"type": "function", "name": "say_hello"},
        ),
    ],
)
def test_a_choice_among_functions_is_said_in_each_wires_words(
    choice: str, chat: object, responses: object
) -> None:
    asked = Asked(GenerationOptions(tools=TOOLS, tool_choice=choice))

    assert encoder().chat(PROMPT, asked)["tool_choice"] == chat
    assert encoder().responses(PROMPT, asked)["tool_choice"] == responses


@pytest.mark.parametrize(
    ("efforts", "wanted", "sent"),
    [
        (None, Reasoning.NONE, "none"),
        (["low", "high"], Reasoning.NONE, "low"),
        (["low", "high"], Reasoning.HIGH, "high"),
        (["low", "medium"], Reasoning.HIGH, "medium"),
        ([], Reasoning.HIGH, None),
    ],
)
def test_a_model_is_told_to_think_as_much_as_it_can_be_told(
    efforts: list[str] | None, wanted: Reasoning, sent: str | None
) -> None:
    quirks = {} if efforts is None else {"efforts": efforts}
    asked = Asked(GenerationOptions(reasoning=wanted))

    assert encoder(quirks).chat(PROMPT, asked).get("reasoning_effort") == sent
    assert encoder(quirks).responses(PROMPT, asked).get("reasoning", {}).get("effort") == sent


def test_what_the_preset_or_the_card_says_a_model_refuses_is_left_out() -> None:
    options = GenerationOptions(temperature=0.0, reasoning=Reasoning.LOW, max_output=3, tools=TOOLS)
    strange = encoder(
        {"temperature": False}, reasoning=False, strict=False, max_tokens="max_completion_tokens"
    )

    sent = strange.chat(PROMPT, Asked(options))

    assert not {"temperature", "reasoning_effort", "max_tokens"} & sent.keys()
    assert sent["max_completion_tokens"] == 3
    assert "strict" not in json.dumps(sent)


def test_the_vendor_is_not_to_keep_what_customers_say() -> None:
    assert encoder().responses(PROMPT, Asked(PLAIN))["store"] is False


@given(st.text(st.characters(codec=None)))
def test_whatever_the_text_it_can_be_sent_and_sent_again(text: str) -> None:
    sent = clean(text)

    assert sent.encode("utf-8").decode("utf-8") == sent
    assert clean(sent) == sent
    assert len(sent) == len(text)


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner)))
def test_cleaning_leaves_what_can_be_sent_as_it_is(value: object) -> None:
    assert cleaned(value) == value


def test_one_request_twice_has_the_same_bytes() -> None:
    asked = Asked(GenerationOptions(tools=TOOLS, cache_key="a"), SCHEMA, Level.PROMPT)

    once = json.dumps(encoder().chat(PROMPT, asked))
    again = json.dumps(encoder().chat(attrs.evolve(PROMPT), asked))

    assert once == again
