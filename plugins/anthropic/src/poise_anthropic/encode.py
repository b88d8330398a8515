"""A prompt with its options, as the parameters of one request to the Messages API."""

from __future__ import annotations

from enum import Enum
from typing import Any

from poise import GenerationOptions, ModelCard, Prompt, Reasoning, Schema, Stability
from poise_anthropic.quirks import Quirks, quirks_of
from poise_anthropic.schemas import input_schema, strict_tools
from poise_anthropic.tool_names import wire_names

_DEFAULT_MAX_TOKENS = 4096
_SMALLEST_BUDGET = 1024
_BUDGETS = {Reasoning.LOW: 1024, Reasoning.MEDIUM: 4096, Reasoning.HIGH: 16_384}
_PLACEHOLDER = "."
_LONGEST_NAME = 64


class Way(Enum):
    """What a model is asked for JSON by, the strictest first."""

    FORMAT = "an output format"
    STRICT_TOOL = "a strict tool"
    TOOL = "a tool"


def text_request(
    prompt: Prompt, options: GenerationOptions, card: ModelCard, *, ttl: str
) -> dict[str, Any]:
    """Return a request for words, or for calls of the tools on offer."""
    quirks = quirks_of(card)
    request = {**prompt_fields(prompt, ttl), "max_tokens": _max_tokens(options, card)}
    if options.tools:
        names = wire_names(options.tools)
        strict = strict_tools(options.tools) if quirks.strict_tools else frozenset()
        request["tools"] = [
            _tool(
                names[tool.name],
                tool.description,
                tool.parameters,
                is_strict=tool.name in strict,
            )
            for tool in options.tools
        ]
        chosen = options.tool_choice
        request["tool_choice"] = (
            {"type": chosen}
            if chosen in ("auto", "none")
            else _forced("" if chosen == "any" else names[chosen], quirks)
        )
    return _with_options(request, options, quirks)


def structured_request(
    prompt: Prompt,
    schema: Schema,
    way: Way,
    *,
    options: GenerationOptions,
    card: ModelCard,
    ttl: str,
) -> dict[str, Any]:
    """Return a request for JSON of a schema."""
    quirks = quirks_of(card)
    limit = {"max_tokens": _max_tokens(options, card)}
    if way is Way.FORMAT:
        asked = {"type": "json_schema", "schema": input_schema(schema)}
        request = {**prompt_fields(prompt, ttl), **limit, "output_config": {"format": asked}}
        return _with_options(request, options, quirks)
    name = schema.name[:_LONGEST_NAME]
    instruction = f"Give your answer by calling the tool {name} once, with all its fields."
    request = {
        **prompt_fields(prompt, ttl, instruction),
        **limit,
        "tools": [_tool(name, instruction, schema, is_strict=way is Way.STRICT_TOOL)],
        "tool_choice": {**_forced(name, quirks), "disable_parallel_tool_use": True},
    }
    return _with_options(request, options, quirks)


def warming_request(
    prompt: Prompt, options: GenerationOptions, card: ModelCard, *, ttl: str, is_vendor: bool
) -> dict[str, Any] | None:
    """Return the cheapest request that writes the prompt's stable part to the cache.

    `None` where nothing of the prompt is stable. The tools are sent along, since the cache holds
    them before everything else.
    """
    system = _system(_stable(prompt), ttl)
    if not system:
        return None
    # The vendor writes the cache and nothing else; compatible servers may refuse to write nothing.
    limit = 0 if is_vendor else 1
    request = text_request(prompt, options, card, ttl=ttl)
    kept = {"tools": request["tools"]} if options.tools else {}
    return {**kept, "system": system, "messages": _messages(_PLACEHOLDER), "max_tokens": limit}


def prompt_fields(prompt: Prompt, ttl: str, instruction: str = "") -> dict[str, Any]:
    """Return the prompt: what stays the same as `system`, each piece ending in a cache boundary.

    The words of the turn are the user's message; without them the last piece is. Two boundaries
    at most are set, of the four that a request may hold.
    """
    stable, last = _stable(prompt), _turn(prompt)
    cut: dict[str, Any] = {}
    if not last and stable:
        *stable, last = stable
        cut = _cut(ttl)
    messages = _messages(last or _PLACEHOLDER, cut, instruction)
    system = _system(stable, ttl)
    return {"system": system, "messages": messages} if system else {"messages": messages}


def _stable(prompt: Prompt) -> list[str]:
    return [text for stability, text in _blocks(prompt) if stability is not Stability.TURN]


def _turn(prompt: Prompt) -> str:
    return "".join(text for stability, text in _blocks(prompt) if stability is Stability.TURN)


def _blocks(prompt: Prompt) -> list[tuple[Stability, str]]:
    # The vendor refuses blocks of blanks, and half a surrogate pair has no bytes in UTF-8.
    return [
        (stability, text.encode("utf-8", "replace").decode("utf-8"))
        for stability, text in prompt.blocks
        if text.strip()
    ]


def _system(texts: list[str], ttl: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, **_cut(ttl)} for text in texts]


def _messages(
    text: str, cut: dict[str, Any] | None = None, instruction: str = ""
) -> list[dict[str, Any]]:
    content = [{"type": "text", "text": text, **(cut or {})}]
    if instruction:
        content.append({"type": "text", "text": instruction})
    return [{"role": "user", "content": content}]


def _cut(ttl: str) -> dict[str, Any]:
    # Five minutes are the vendor's default, and compatible servers may not know the field.
    return {"cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl != "5m" else {})}}


def _max_tokens(options: GenerationOptions, card: ModelCard) -> int:
    wanted = options.max_output or card.max_output or _DEFAULT_MAX_TOKENS
    return min(wanted, card.max_output or wanted)


def _tool(name: str, description: str, parameters: Schema, *, is_strict: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "input_schema": input_schema(parameters),
        **({"strict": True} if is_strict else {}),
    }


def _forced(name: str, quirks: Quirks) -> dict[str, Any]:
    if not quirks.forced_tools:
        return {"type": "auto"}
    return {"type": "tool", "name": name} if name else {"type": "any"}


def _with_options(
    request: dict[str, Any], options: GenerationOptions, quirks: Quirks
) -> dict[str, Any]:
    """Return the request with how much to think, and a temperature where the model takes one."""
    if quirks.temperature and options.temperature is not None:
        # The SDK has no such parameter: the vendor's own models refuse it.
        request["extra_body"] = {"temperature": options.temperature}
    reasoning = options.reasoning
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        reasoning = Reasoning.NONE  # a model that thinks can't be made to call
    if reasoning is None:
        return request
    thinking, effort = _thinking(reasoning, quirks, request["max_tokens"])
    if thinking:
        request["thinking"] = thinking
    if effort:
        request["output_config"] = {**request.get("output_config", {}), "effort": effort}
    return request


def _thinking(
    reasoning: Reasoning, quirks: Quirks, max_tokens: int
) -> tuple[dict[str, Any] | None, str | None]:
    if reasoning is Reasoning.NONE:
        off = quirks.thinking_off
        if off == "low_effort":
            return None, "low"
        return ({"type": off} if off else None), None
    effort = reasoning.value if quirks.effort else None
    if quirks.thinking == "adaptive":
        return {"type": "adaptive"}, effort
    budget = min(_BUDGETS[reasoning], max_tokens // 2)
    if quirks.thinking == "budget" and budget >= _SMALLEST_BUDGET:
        return {"type": "enabled", "budget_tokens": budget}, effort
    return None, effort
