"""A model provider in one file: how it is offered, and a model that says back what it hears."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence

from anyio.lowlevel import checkpoint

from poise import (
    Capability,
    Finish,
    GenerationOptions,
    ModelProvider,
    Offers,
    Prompt,
    TextChunk,
    TextGenerator,
    Usage,
    hookimpl,
)

__all__ = ["EchoGenerator", "EchoProvider"]

_SAID = re.compile(r'^customer: (".*")$', re.MULTILINE)


class EchoGenerator(TextGenerator):
    """Answers with the customer's last words, as the prompt quotes them, one by one."""

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        words = re.findall(r"\S+\s*", last_said(prompt.text)) or ["…"]
        said = words[: options.max_output]
        for word in said:
            await checkpoint()  # where a reader who has heard enough can stop it
            yield TextChunk(word)
        yield TextChunk(
            finish=Finish.COMPLETE if len(said) == len(words) else Finish.TRUNCATED,
            usage=Usage(input_tokens=len(prompt.text.split()), output_tokens=len(said)),
        )


class EchoProvider(ModelProvider):
    """Serves one model, `echo:words`, that writes text; the router asks it for JSON in words."""

    name = "echo"

    def models(self, capability: Capability) -> Sequence[str]:
        return ("words",) if capability is Capability.TEXT else ()

    def text_generator(self, model: str) -> TextGenerator:
        return EchoGenerator() if model == "words" else super().text_generator(model)


def last_said(text: str) -> str:
    """Return the customer's last words, which prompts quote as JSON; else the last line."""
    quoted = _SAID.findall(text)
    return str(json.loads(quoted[-1])) if quoted else text.rpartition("\n")[2]


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(ModelProvider, "echo", "poise_echo:EchoProvider")
