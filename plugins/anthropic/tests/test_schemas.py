import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import Schema, ToolSpec
from poise_anthropic.schemas import (
    MAX_STRICT_TOOLS,
    MAX_UNIONS,
    fits_grammar,
    input_schema,
    strict_tools,
)
from poise_anthropic.tool_names import wire_names


def nullable(count: int) -> Schema:
    fields = {f"f{number:02}": {"type": ["string", "null"]} for number in range(count)}
    return Schema("Many", _object(fields))


def test_what_may_be_null_is_said_by_alternatives() -> None:
    fields: dict[str, Any] = {
        "z": {"type": ["string", "null"], "description": "Words."},
        "a": {"type": ["string", "null"], "enum": ["x", "y", None]},
        "m": {"type": ["array", "null"], "items": {"type": "integer"}},
    }

    sent = input_schema(Schema("Nullable", _object(fields)))

    assert sent["properties"] == {
        "z": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Words."},
        "a": {"enum": ["x", "y", None]},
        "m": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    }
    assert list(sent["properties"]) == sent["required"] == ["z", "a", "m"]


@pytest.mark.parametrize(("count", "fits"), [(MAX_UNIONS, True), (MAX_UNIONS + 1, False)])
def test_a_schema_with_too_many_alternatives_is_not_compiled(count: int, fits: bool) -> None:
    assert fits_grammar(nullable(count)) is fits


def test_tools_are_strict_as_long_as_all_of_them_fit_into_one_grammar() -> None:
    wide = [ToolSpec(f"wide{number}", "", nullable(7)) for number in range(4)]
    many = [ToolSpec(f"plain{number}", "", nullable(0)) for number in range(30)]

    assert strict_tools(wide) == {"wide0", "wide1"}
    assert len(strict_tools(many)) == MAX_STRICT_TOOLS


FIELDS = st.recursive(
    st.sampled_from(["string", "integer", "number", "boolean"]).flatmap(
        lambda kind: st.sampled_from([{"type": kind}, {"type": [kind, "null"]}])
    ),
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3).map(
            lambda fields: _object(fields)
        ),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), FIELDS, max_size=4))
def test_fields_keep_their_order_and_are_all_required_at_every_depth(fields: Any) -> None:
    try:
        schema = Schema("Any", _object(fields))
    except ValueError:
        return  # nested deeper than the neutral subset goes

    sent = input_schema(schema)

    assert _orders(sent) == _orders(schema.plain())
    for node in _objects(sent):
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False


@given(st.lists(st.text(max_size=80), unique=True, max_size=12))
def test_names_are_taken_apart_and_valid(names: list[str]) -> None:
    tools = [ToolSpec(name, "", nullable(0)) for name in names]

    sent = wire_names(tools)

    assert len(set(sent.values())) == len(names)
    for name, given_name in sent.items():
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", given_name)
        assert given_name == name or not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)


def _object(fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _objects(node: Any) -> list[Any]:
    inner = [
        *node.get("properties", {}).values(),
        *node.get("anyOf", ()),
        *([node["items"]] if "items" in node else []),
    ]
    found = [node] if "properties" in node else []
    return found + [each for one in inner for each in _objects(one)]


def _orders(node: Any) -> list[list[str]]:
    return [list(each["properties"]) for each in _objects(node)]
