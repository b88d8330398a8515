"""A request to a model, as hooks see it before it goes out."""

from __future__ import annotations

import attrs

from poise.turn.models import Question
from poise.turn.prompts import Prompt


@attrs.frozen
class ModelRequest:
    """What is about to be asked of a model.

    Attributes:
        route: The use.
        model: `provider:model`.
        way: As `RequestLine.way` has it.
        prompt: What it reads; `None` for embedding and moderation.
        texts: What is embedded, moderated or, for decisions, judged.
        questions: For decisions.
        schema: The name of the schema of the answer, where there is one.
    """

    route: str
    model: str
    way: str
    prompt: Prompt | None = None
    texts: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    schema: str = ""
