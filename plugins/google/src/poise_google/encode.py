"""What Poise asks, as the Gemini API takes it: plain dictionaries, so no SDK is needed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from poise import GenerationOptions, InvalidRequestError, Prompt, Schema, Stability, ToolSpec
from poise.prompts import quoted
from poise.turn.models import DecisionRequest, Question
from poise.turn.prompts import Cut, Section

_MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


@attrs.frozen
class Asked:
    """A request for words or JSON.

    Attributes:
        system: What stays the same: the part that is worth caching.
        content: What is new.
        config: Everything else, as the SDK's configuration names it.
        tools: Function declarations; empty for none.
        tool_config: How they may be called; empty for none.
    """

    system: str
    content: str
    config: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]] = ()
    tool_config: Mapping[str, Any] = attrs.field(factory=dict)

    def whole(self) -> dict[str, Any]:
        """Return the configuration with the system instruction and the tools in it."""
        return {**self.config, **self.beginning()}

    def beginning(self) -> dict[str, Any]:
        """Return the part of the configuration that can be stored: instruction and tools."""
        told: dict[str, Any] = {}
        if self.system:
            told["system_instruction"] = self.system
        if self.tools:
            told["tools"] = [{"function_declarations": list(self.tools)}]
            told["tool_config"] = dict(self.tool_config)
        return told

    def after(self, cached: str) -> dict[str, Any]:
        """Return the configuration for a request whose beginning is stored under that name."""
        return {**self.config, "cached_content": cached}


def generation(
    prompt: Prompt,
    options: GenerationOptions,
    quirks: Mapping[str, Any],
    *,
    schema: Schema | None = None,
) -> Asked:
    """Return the request for a prompt; what the model does not take is left out.

    Quirks that count: `thinking`, what each amount of reasoning is called (a level, or a budget in
    tokens); `validated_tools`, whether `auto` is the mode VALIDATED.
    """
    system, content = split(prompt)
    # Poise calls tools and counts requests itself, so the SDK must do neither.
    config: dict[str, Any] = {
        "automatic_function_calling": {"disable": True},
        "automatic_continuation": False,
    }
    if options.max_output is not None:
        config["max_output_tokens"] = options.max_output
    if options.temperature is not None:
        config["temperature"] = options.temperature
    if options.reasoning is not None:
        amount = quirks.get("thinking", {}).get(options.reasoning.value)
        if amount is not None:
            kind = "thinking_budget" if isinstance(amount, int) else "thinking_level"
            config["thinking_config"] = {kind: amount}
    if schema is not None:
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = json_schema(schema)
    return Asked(
        system,
        content,
        config,
        tuple(_declaration(tool) for tool in options.tools),
        {"function_calling_config": _calling(options.tool_choice, quirks)} if options.tools else {},
    )


def split(prompt: Prompt) -> tuple[str, str]:
    """Return the system instruction and the content: what is stable, and the turn's part.

    The API wants content, so without a section of the turn the last block becomes it.
    """
    blocks = prompt.blocks
    stable = [text for stability, text in blocks if stability is not Stability.TURN]
    fresh = [text for stability, text in blocks if stability is Stability.TURN]
    if not fresh and stable:
        fresh = [stable.pop()]
    return sendable("\n\n".join(stable)), sendable("\n\n".join(fresh))


def json_schema(schema: Schema) -> dict[str, Any]:
    """Return a schema as the API reads it: fields in order, enums of strings and numbers only."""
    return _translated(schema.body)


def decision_input(request: DecisionRequest) -> str:
    """Return the state that all questions of a request are about, as one text."""
    said = "\n".join(f"- {quoted(text)}" for text in request.focus if text.strip())
    judged = f"The customer's new messages, to be judged (quoted data):\n{said}" if said else ""
    prompt = request.state.followed_by(
        Section("focus", judged, Stability.TURN, cut=Cut.NOTHING),
        Section("task", request.task, Stability.TURN, cut=Cut.NOTHING),
    )
    return sendable(prompt.text)


def decision_question(question: Question) -> dict[str, Any]:
    """Return a question as the decisions endpoint takes it."""
    told: dict[str, Any] = {
        "type": "noul",
        "instructions": sendable(question.text.strip() or question.id),
    }
    criteria = {
        "true_description": sendable(question.yes_if),
        "false_description": sendable(question.no_if),
    }
    given = {name: text for name, text in criteria.items() if text.strip()}
    return {**told, "criteria": given} if given else told


def sendable(text: str) -> str:
    """Return `text` with what no request can hold, halves of surrogate pairs, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def refuse_empty(asked: Asked, provider: str, model: str) -> None:
    """Refuse what the API would: a request without a word in it.

    Raises:
        InvalidRequestError: The prompt is empty.
    """
    if not asked.content.strip():
        raise InvalidRequestError(
            provider, model, "", "the prompt has no text; give it at least one section"
        )


def _declaration(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": sendable(tool.description),
        "parameters_json_schema": _translated(tool.parameters.body),
    }


def _calling(choice: str, quirks: Mapping[str, Any]) -> dict[str, Any]:
    if choice == "auto" and quirks.get("validated_tools", False):
        return {"mode": "VALIDATED"}
    if choice in _MODES:
        return {"mode": _MODES[choice]}
    return {"mode": "ANY", "allowed_function_names": [choice]}


def _translated(node: Mapping[str, Any]) -> dict[str, Any]:
    if "enum" in node:
        return _choice(node)
    told = dict(node)
    if "properties" in node:
        told["properties"] = {
            name: _translated(inner) for name, inner in node["properties"].items()
        }
        # Without it the order of the fields, which is the order of thinking, is up to the model.
        told["propertyOrdering"] = list(node["properties"])
    if "items" in node:
        told["items"] = _translated(node["items"])
    return told


def _choice(node: Mapping[str, Any]) -> dict[str, Any]:
    values = [value for value in node["enum"] if value is not None]
    told = {"description": node["description"]} if "description" in node else {}
    kinds = node.get("type")
    kind = (
        next((each for each in kinds if each != "null"), None) if isinstance(kinds, list) else kinds
    )
    choice: dict[str, Any] = {"type": kind} if kind else {}
    if not any(isinstance(value, bool) for value in values):
        choice["enum"] = values
    if len(values) == len(node["enum"]):
        return {**told, **choice}
    return {**told, "anyOf": [choice, {"type": "null"}]}
