"""The subset of schemas in which models are asked: what fits, what is brought into it, what not."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from poise import InvalidValueError, Schema
from poise.engine.written_verdicts import SHORT, answer_model
from poise.turn.models import Form
from poise.turn.schemas import MAX_DEPTH, problems, schema_of


class Inner(BaseModel):
    """A thing within."""

    name: str = Field(description="What it is called.", min_length=1)
    count: int = Field(default=3, ge=0, le=9)


class Outer(BaseModel):
    """A thing."""

    why: str
    inner: Inner
    others: list[Inner] = []
    kind: Literal["a", "b"] = "a"
    only: Literal["x"] = "x"
    maybe: str | None = None
    choice: Literal[1, 2] | None = None


def test_a_model_is_brought_into_the_subset() -> None:
    schema = schema_of(Outer)

    assert schema.name == "Outer"
    assert list(schema.body["properties"]) == list(Outer.model_fields)
    assert schema.body["required"] == list(Outer.model_fields)
    inner = schema.body["properties"]["inner"]
    assert inner == {
        "type": "object",
        "description": "A thing within.",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "count": {"type": "integer"},
        },
        "required": ["name", "count"],
        "additionalProperties": False,
    }
    assert schema.body["properties"]["others"]["items"] == inner
    assert schema.body["properties"]["kind"] == {"type": "string", "enum": ["a", "b"]}
    assert schema.body["properties"]["only"] == {"type": "string", "enum": ["x"]}
    assert schema.body["properties"]["maybe"] == {"type": ["string", "null"]}
    assert schema.body["properties"]["choice"] == {
        "type": ["integer", "null"],
        "enum": [1, 2, None],
    }


class Recursive(BaseModel):
    """Holds itself."""

    inner: Recursive | None = None


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (create_model("Union", field=(int | str, ...)), "union"),
        (create_model("Free", field=(dict[str, int], ...)), "free mapping"),
        (create_model("Mixed", field=(tuple[int, str], ...)), "mixed types"),
        (create_model("Anything", field=(Any, ...)), "anything"),
        (Recursive, "recursive"),
    ],
)
def test_what_can_not_be_said_names_the_field_and_the_mend(
    model: type[BaseModel], told: str
) -> None:
    with pytest.raises(InvalidValueError, match=told):
        schema_of(model)


def object_of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **more,
    }


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        inner = object_of({"inner": inner})
    return inner


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"type": "string"}, "is no object"),
        (object_of({"a": {"type": "string", "minLength": 1}}), "uses 'minLength'"),
        (object_of({"a": {"type": ["string", "integer"]}}), "is a union"),
        (object_of({"a": {"enum": list(range(60))}}), "more than 50"),
        (object_of({"a": {"type": "string"}}, required=[]), "must require all"),
        (object_of({"a": {"type": "string"}}, additionalProperties=True), "refuse extra"),
        (object_of({"a": {"type": "array"}}), "array of anything"),
        (object_of({"a": {}}), "has the type None"),
        (nested(MAX_DEPTH + 1), "nested deeper"),
    ],
)
def test_a_schema_outside_of_the_subset_is_refused_with_the_place(
    body: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidValueError, match=told):
        Schema("s", body)


@pytest.mark.parametrize(
    "model", [answer_model((Form(SHORT),), explain=each) for each in (False, True)]
)
def test_what_the_engine_asks_for_fits_every_vendor(model: type[BaseModel]) -> None:
    """B-094: each provider's translation is held to this subset by its own tests."""
    assert not list(problems(schema_of(model).body))


def test_translating_a_schema_leaves_it_as_it_was() -> None:
    schema = schema_of(Outer)

    schema.plain()["properties"].clear()

    assert list(schema.body["properties"]) == list(Outer.model_fields)


names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(
    lambda name: not name.startswith(("model_", "schema")) and name not in dir(BaseModel)
)
kinds = st.recursive(
    st.sampled_from(
        [
            str,
            int,
            float,
            bool,
            str | None,
            int | None,
            Literal["a", "b"],
            Annotated[int, Field(ge=1)],
        ]
    ),
    lambda inner: inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
    max_leaves=3,
)


@given(st.dictionaries(names, kinds, min_size=1, max_size=6))
def test_any_model_of_plain_fields_fits_and_keeps_their_order(fields: dict[str, Any]) -> None:
    model = create_model("Drawn", **{name: (kind, ...) for name, kind in fields.items()})

    schema = schema_of(model)

    assert list(schema.body["properties"]) == list(fields)
    assert not list(problems(schema.body))
