"""The JSON in which a model that writes answers yes/no questions; imported when one is asked.

One object with a list per form in use, so that the questions of several matchers ride in one
request; each list has one line per question: its id, and the form's fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

import attrs
from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from poise.errors import InvalidValueError
from poise.turn.models import DecisionRequest, Form

Word = Literal["yes", "no", "unclear"]

SHORT = "answers"
"""The list of the questions that name no form."""

_QUESTION = "The question again, in your own words."
_YES_OR_NO: Mapping[str, bool] = {"yes": True, "no": False}


class ShortLine(BaseModel):
    """The question again just before the word."""

    question: str = Field(description=_QUESTION)
    verdict: Word = Field(description="The answer.")


class ExplainedLine(BaseModel):
    """The evidence, which is thought of first; then the question again, and the word."""

    evidence: str = Field(
        description="What was said that bears on the question, for and against, in a sentence."
    )
    question: str = Field(description=_QUESTION)
    verdict: Word = Field(description="The answer.")


@attrs.frozen
class WrittenAnswer:
    """One line as it was filled in: the question's id, the word, all else."""

    id: str
    yes: bool | None
    details: Mapping[str, Any]

    @property
    def rationale(self) -> str:
        """Why, where the form asks for it: its field `rationale`, else `evidence`."""
        told = self.details.get("rationale") or self.details.get("evidence")
        return told if isinstance(told, str) else ""


def forms_in_use(batch: DecisionRequest) -> Sequence[Form]:
    """Return the forms that the questions of `batch` name, the short one among them if need be."""
    named = {question.form for question in batch.questions}
    short = (Form(SHORT, batch.task),) if "" in named else ()
    return (*(form for form in batch.forms if form.name in named), *short)


def answer_model(forms: Sequence[Form], *, explain: bool) -> type[BaseModel]:
    """Return the model of the whole answer: a list per form, in their order.

    Raises:
        InvalidValueError: A form's schema has no fitting last field `verdict`, or an `id`.
    """
    return _answer_model(tuple((form.name, form.schema) for form in forms), explain)


@lru_cache(maxsize=64)
def _answer_model(
    forms: tuple[tuple[str, type[BaseModel] | None], ...], explain: bool
) -> type[BaseModel]:
    lists: dict[str, Any] = {}
    for name, schema in forms:
        line = schema or (ExplainedLine if explain else ShortLine)
        lists[name] = (list[_with_id(name, line)], ...)  # type: ignore[misc]  # made at run time
    return create_model("Answers", **lists)


def _with_id(name: str, line: type[BaseModel]) -> type[BaseModel]:
    fields: Mapping[str, FieldInfo] = line.model_fields
    last = list(fields)[-1] if fields else ""
    if last != "verdict" or set(get_args(fields[last].annotation)) != set(get_args(Word)):
        raise InvalidValueError(
            f"form {name!r}", "schema", "must end with `verdict`: one of 'yes', 'no', 'unclear'"
        )
    if "id" in fields:
        raise InvalidValueError(f"form {name!r}", "schema", "has an `id`; the engine adds it")
    shaped: dict[str, Any] = {each: (info.annotation, info) for each, info in fields.items()}
    identified: Any = (str, Field(description="The id of the question."))
    return create_model(f"{line.__name__}Of{name.title()}", id=identified, **shaped)


def written_answers(value: BaseModel) -> Iterator[WrittenAnswer]:
    """Yield every line of an answer that `answer_model` made."""
    for name in type(value).model_fields:
        for line in getattr(value, name):
            filled = line.model_dump()
            yield WrittenAnswer(filled.pop("id"), _YES_OR_NO.get(filled.pop("verdict")), filled)
