"""What is asked of a model, as the two wires want it: prompt, schema, functions, options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from poise.turn.cards import ModelCard
from poise.turn.generation import GenerationOptions, Reasoning
from poise.turn.prompts import Prompt, Stability
from poise.turn.schemas import Schema
from poise.values.ids import digest
from poise_openai.preset import Level, Preset

ANSWER = "answer"
"""The function that a model calls to give JSON, at the level `tool`."""

LEAST_OUTPUT = 16
"""Fewer tokens of output than this, the vendor's own endpoints refuse."""

_LONGEST_NAME = 64
_LONGEST_CACHE_KEY = 64
_BREAK = "\n\n"
_WORDS = (
    "Answer with one JSON object that fits this JSON schema, its fields in the schema's order, "
    "and with nothing before or after it:\n"
)


@attrs.frozen
class Asked:
    """What one request asks beside its prompt.

    Attributes:
        schema: JSON of it is wanted; `None`: text.
        level: How the server is made to write JSON.
    """

    options: GenerationOptions
    schema: Schema | None = None
    level: Level = Level.JSON_SCHEMA

    @property
    def words(self) -> str:
        """What the prompt must say of the answer, where no parameter does."""
        if self.schema is None or self.level in (Level.JSON_SCHEMA, Level.TOOL):
            return ""
        return _WORDS + json.dumps(cleaned(self.schema.plain()), ensure_ascii=False)


class Encoder:
    """Writes requests for one model."""

    def __init__(self, preset: Preset, model: str, card: ModelCard) -> None:
        self._preset = preset
        self._model = model
        self._quirks = card.quirks

    @property
    def marks_cache(self) -> bool:
        """Whether the model takes marks that say where its cache may be cut."""
        return self._quirks.get("cache") == "explicit"

    def chat(self, prompt: Prompt, asked: Asked) -> dict[str, Any]:
        """Return the parameters of `chat.completions.create`."""
        params: dict[str, Any] = {
            "model": self._model,
            "messages": self._messages(prompt, asked.words, kind="text"),
            **self._common(prompt, asked.options),
        }
        options = asked.options
        if options.max_output is not None:
            params[self._preset.max_tokens] = options.max_output
        effort = self._effort(options)
        if effort is not None:
            params["reasoning_effort"] = effort
        if asked.schema is None:
            params |= self._chat_tools(options)
        elif asked.level is Level.JSON_SCHEMA:
            shape = self._shape(asked.schema)
            params["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif asked.level is Level.JSON_OBJECT:
            params["response_format"] = {"type": "json_object"}
        elif asked.level is Level.TOOL:
            params["tools"] = [{"type": "function", "function": self._answering(asked.schema)}]
            params["tool_choice"] = {"type": "function", "function": {"name": ANSWER}}
        return params

    def responses(self, prompt: Prompt, asked: Asked) -> dict[str, Any]:
        """Return the parameters of `responses.create`."""
        params: dict[str, Any] = {
            "model": self._model,
            "input": self._messages(prompt, asked.words, kind="input_text"),
            # A customer's words are not to be kept by the vendor for later retrieval.
            "store": False,
            **self._common(prompt, asked.options),
        }
        options = asked.options
        if options.max_output is not None:
            params["max_output_tokens"] = max(LEAST_OUTPUT, options.max_output)
        effort = self._effort(options)
        if effort is not None:
            params["reasoning"] = {"effort": effort}
        if asked.schema is None:
            params |= self._response_tools(options)
        elif asked.level is Level.JSON_SCHEMA:
            params["text"] = {"format": {"type": "json_schema", **self._shape(asked.schema)}}
        elif asked.level is Level.JSON_OBJECT:
            params["text"] = {"format": {"type": "json_object"}}
        elif asked.level is Level.TOOL:
            params["tools"] = [{"type": "function", **self._answering(asked.schema)}]
            params["tool_choice"] = {"type": "function", "name": ANSWER}
        return params

    def _messages(self, prompt: Prompt, words: str, *, kind: str) -> list[dict[str, Any]]:
        """Return what never changes as instructions, and the rest as the user's.

        What a session adds quotes the customer, so it gets no more authority than they have.
        """
        blocks = [(stability, clean(text)) for stability, text in prompt.blocks if text]
        if words:
            blocks.append((Stability.TURN, clean(words)))
        lasting = [each for each in blocks if each[0] is Stability.CATALOG]
        passing = [each for each in blocks if each[0] is not Stability.CATALOG]
        if not passing:  # many models answer nobody but a user
            lasting, passing = [], lasting or [(Stability.TURN, " ")]
        messages = [
            (self._preset.system_role, self._content(lasting, kind)),
            ("user", self._content(passing, kind)),
        ]
        return [{"role": role, "content": content} for role, content in messages if content]

    def _content(
        self, blocks: Sequence[tuple[Stability, str]], kind: str
    ) -> str | list[dict[str, Any]]:
        if not self.marks_cache:
            return _BREAK.join(text for _, text in blocks)
        parts: list[dict[str, Any]] = []
        for number, (stability, text) in enumerate(blocks, start=1):
            part: dict[str, Any] = {
                "type": kind,
                "text": text + (_BREAK if number < len(blocks) else ""),
            }
            if stability is not Stability.TURN:
                part["prompt_cache_breakpoint"] = {"mode": "explicit"}
            parts.append(part)
        return parts

    def _common(self, prompt: Prompt, options: GenerationOptions) -> dict[str, Any]:
        params: dict[str, Any] = {}
        if options.temperature is not None and self._quirks.get("temperature", True):
            params["temperature"] = options.temperature
        if options.cache_key and self._preset.cache_key:
            params["prompt_cache_key"] = cache_key(options.cache_key)
        lasts = any(stability is not Stability.TURN for stability, _ in prompt.blocks)
        if self.marks_cache and lasts:
            # Without it, the turn's own words would be written to the cache, at a price.
            params["prompt_cache_options"] = {"mode": "explicit"}
        return params

    def _effort(self, options: GenerationOptions) -> str | None:
        efforts = self._quirks.get("efforts")
        if options.reasoning is None or not self._preset.reasoning or efforts == []:
            return None
        wanted = options.reasoning.value
        if efforts is None or wanted in efforts:
            return wanted
        return str(efforts[0] if options.reasoning is Reasoning.NONE else efforts[-1])

    def _shape(self, schema: Schema) -> dict[str, Any]:
        return {
            "name": schema.name[:_LONGEST_NAME],
            "schema": cleaned(schema.plain()),
            **self._strict(),
        }

    def _answering(self, schema: Schema) -> dict[str, Any]:
        return {
            "name": ANSWER,
            "description": "Gives the answer.",
            "parameters": cleaned(schema.plain()),
            **self._strict(),
        }

    def _strict(self) -> dict[str, Any]:
        return {"strict": True} if self._preset.strict else {}

    def _functions(self, options: GenerationOptions) -> list[dict[str, Any]]:
        return [
            {
                "name": tool.name,
                "description": clean(tool.description),
                "parameters": cleaned(tool.parameters.plain()),
                **self._strict(),
            }
            for tool in options.tools
        ]

    def _chat_tools(self, options: GenerationOptions) -> dict[str, Any]:
        if not options.tools:
            return {}
        word = _choice(options.tool_choice)
        return {
            "tools": [{"type": "function", "function": each} for each in self._functions(options)],
            "tool_choice": word or {"type": "function", "function": {"name": options.tool_choice}},
        }

    def _response_tools(self, options: GenerationOptions) -> dict[str, Any]:
        if not options.tools:
            return {}
        word = _choice(options.tool_choice)
        return {
            "tools": [{"type": "function", **each} for each in self._functions(options)],
            "tool_choice": word or {"type": "function", "name": options.tool_choice},
        }


def clean(text: str) -> str:
    """Return `text` as it can be sent: half a surrogate pair, which UTF-8 can't say, is a `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cleaned(value: Any) -> Any:  # JSON in, JSON out
    """Return a JSON value with every text in it cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(key): cleaned(inner) for key, inner in value.items()}
    return [cleaned(each) for each in value] if isinstance(value, list) else value


def cache_key(key: str) -> str:
    """Return a key that the wire takes: a long one as its digest."""
    sent = clean(key)
    return sent if len(sent) <= _LONGEST_CACHE_KEY else digest(sent)


def _choice(choice: str) -> str | None:
    return {"auto": "auto", "any": "required", "none": "none"}.get(choice)
