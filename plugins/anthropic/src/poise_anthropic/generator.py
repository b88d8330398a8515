"""`AnthropicGenerator`: writes words and JSON with one model over the Messages API."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

from poise import (
    GenerationOptions,
    InvalidRequestError,
    ModelCard,
    Prompt,
    Schema,
    Section,
    Stability,
    StructuredGenerator,
    StructuredReply,
    TextChunk,
    TextGenerator,
    Usage,
)
from poise_anthropic.client import Connection
from poise_anthropic.decode import Reading, reply_of, usage_of
from poise_anthropic.encode import Way, structured_request, text_request, warming_request
from poise_anthropic.errors import cut_short
from poise_anthropic.quirks import quirks_of
from poise_anthropic.schemas import fits_grammar
from poise_anthropic.tool_names import wire_names

_WORD = "marmalade"
_ONE_WORD = Schema(
    "OneWord",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "enum": [_WORD]}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
# Nobody would say that word here who was not held to the schema.
_PROBE = Prompt.of(Section("probe", "Name a colour of the rainbow in JSON.", Stability.TURN))
_ABOUT_ONE_SCHEMA = re.compile(r"too (?:complex|large|many)|compil|grammar", re.IGNORECASE)
_ABOUT_THE_WAY = re.compile(
    r"output_?(?:config|format)|json_schema|structured|schema|\bstrict\b", re.IGNORECASE
)
_LOOSER = {Way.FORMAT: Way.STRICT_TOOL, Way.STRICT_TOOL: Way.TOOL}


class AnthropicGenerator(TextGenerator, StructuredGenerator):
    """Writes with one model; remembers by what it can be asked for JSON.

    Args:
        model: Its name.
        connection: Shared by all models of the provider.
        card: What is known of the model.
        ttl: How long the vendor is to keep what it caches: `5m` or `1h`.
    """

    def __init__(self, model: str, connection: Connection, card: ModelCard, *, ttl: str) -> None:
        quirks = quirks_of(card)
        self._model = model
        self._connection = connection
        self._card = card
        self._ttl = ttl
        self._way = Way.FORMAT if quirks.structured == "format" else Way.STRICT_TOOL
        if self._way is Way.STRICT_TOOL and not quirks.strict_tools:
            self._way = Way.TOOL
        self._loose: set[str] = set()

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        request = text_request(prompt, options, self._card, ttl=self._ttl)
        own = {sent: name for name, sent in wire_names(options.tools).items()}
        reading = Reading(self._model, own)
        async with self._connection.stream(self._model, request) as events:
            async for event in events:
                words = reading.take(event)
                if words:
                    yield TextChunk(words)
            if not reading.is_whole:
                raise cut_short(self._model)
            last = reading.last()
        yield last

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        while True:
            way = self._way_for(schema)
            request = structured_request(
                prompt, schema, way, options=options, card=self._card, ttl=self._ttl
            )
            try:
                message = await self._connection.create(self._model, request)
            except InvalidRequestError as exc:
                if not self._learn(way, schema, exc.reason):
                    raise
            else:
                return reply_of(message, way)

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        request = warming_request(
            prompt, options, self._card, ttl=self._ttl, is_vendor=self._connection.is_vendor
        )
        if request is None:
            return None
        return usage_of(await self._connection.create(self._model, request))

    async def probe(self) -> str:
        """Return, in words, by what the model is asked for JSON and whether it keeps to it.

        Raises:
            ProviderError: The model can't be asked.
        """
        reply = await self.generate(_PROBE, _ONE_WORD, options=GenerationOptions(max_output=200))
        way = self._way_for(_ONE_WORD).value
        try:
            kept = json.loads(reply.text) == {"word": _WORD}
        except ValueError:
            kept = False
        if kept:
            return f"by {way}, which is kept to"
        return f"by {way}, which is not kept to; give its card the quirk structured = 'words'"

    def _way_for(self, schema: Schema) -> Way:
        is_loose = schema.name in self._loose or not fits_grammar(schema)
        return Way.TOOL if is_loose else self._way

    def _learn(self, way: Way, schema: Schema, reason: str) -> bool:
        """Remember that a way was refused; say whether there is a looser one to try.

        What the server can't do is remembered of the model, what is wrong with one schema of that
        schema.
        """
        if way not in _LOOSER:
            return False
        if _ABOUT_ONE_SCHEMA.search(reason):
            self._loose.add(schema.name)
            return True
        if _ABOUT_THE_WAY.search(reason):
            # Another request may have learned it meanwhile.
            self._way = _LOOSER[way] if self._way is way else self._way
            return True
        return False
