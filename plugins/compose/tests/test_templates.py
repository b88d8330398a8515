"""Templates are rendered or refused, never raise, and never show a field."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.turns import catalog_of, turn_of
from poise.values.canned import FIELD
from poise_compose.fields import Fields
from poise_compose.plain import Writing
from poise_compose.programs import RENDER_LIMIT, is_program
from poise_compose.templates import Rendering, Wording


def render(template: str, **values) -> Rendering:
    fields = Fields(turn_of(catalog_of(), "hello", fields=values), Writing())
    return Wording.of(template, fields.writing).render(fields)


@pytest.mark.parametrize("template", ["Hello {name}.", "Hello {{name}}.", "Hello {{ name }}."])
def test_single_and_double_braces_mean_the_same(template):
    rendering = render(template, name="Ada")

    assert rendering.text == "Hello Ada."
    assert rendering.values == {"name": "Ada"}


@pytest.mark.parametrize(
    "template", ["{}", "{{}}", "{ }", "}{", "{1}", "{%", "%}", "{# a #}", "{ a b }", "100 %", "{{"]
)
def test_odd_braces_are_plain_text(template):
    assert render(template).text == template


def test_a_missing_field_is_named_and_nothing_is_said():
    rendering = render("{here} and {elsewhere}", here=1)

    assert rendering.text is None
    assert "elsewhere" in rendering.problem


def test_what_a_value_holds_is_never_a_template():
    rendering = render("{a} {b}", a="{b} {{ b }} {% if b %}", b="secret")

    assert rendering.text == "{b} {{ b }} {% if b %} secret"


def test_a_blank_rendering_is_refused():
    assert render("{a}", a="").text is None
    assert render("{% if a %}x{% endif %}", a=0).text is None


def test_a_rendering_that_grows_too_large_is_refused():
    assert render("{a}" * 1000, a="x" * 1000).text is None
    assert render("{{ a | upper }}" * 250, a="x" * 1000).text is None
    assert len(render("{a}" * 16, a="x" * 1000).text or "") <= RENDER_LIMIT


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "No parcels."), (1, "1 parcel."), (4, "4 parcels."), (False, "No parcels.")],
)
def test_b051_conditions_see_zero(count, text):
    template = (
        "{% if count == 0 %}No parcels.{% elif count == 1 %}{count} parcel."
        "{% else %}{{ count }} parcels.{% endif %}"
    )

    assert render(template, count=count).text == text


@pytest.mark.parametrize("value", [0, False, "", []])
def test_b051_conditions_see_what_is_falsy(value):
    assert render("{% if x %}some{% else %}none{% endif %}", x=value).text == "none"


def test_only_the_fields_of_the_branch_taken_are_needed():
    template = "{% if open %}Open until {until}.{% else %}Closed.{% endif %}"

    assert render(template, open=False).text == "Closed."
    assert render(template, open=True).text is None
    assert "until" in render(template, open=True).problem
    assert render("{% if gone is defined %}x{% else %}y{% endif %}").text == "y"
    assert render("{% if gone == 1 %}x{% endif %}y").text is None


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ name | upper }}", "ADA"),
        ("{{ name | lower | title }}", "Ada"),
        ("{{ gone | default('friend') }}", "friend"),
        ("{{ price | round(1) }}", "2.6"),
        ("{{ price | round }}", "3"),
        ("{{ names | join('; ') }}", "a; yes"),
        ("{{ names | length }}", "2"),
        ("{% if card.limit > 2 and not gone is defined %}{{ card.limit }}{% endif %}", "3"),
        ('{% if card["limit"] > 2 %}x{% endif %}', "x"),
        ("{% if ok %}{{ ok }}{% endif %}", "yes"),
        ("line\n{% if ok %}x{% endif %}\n", "line\nx\n"),
    ],
)
def test_filters_and_tests_on_offer(template, text):
    context = turn_of(
        catalog_of(),
        "hello",
        variables={"card": {"limit": 3}},
        fields={"name": "Ada", "price": 2.56, "names": ["a", True], "ok": True},
    )
    fields = Fields(context, Writing())

    assert Wording.of(template, fields.writing).render(fields).text == text


@pytest.mark.parametrize(
    "template",
    [
        "{% for x in names %}{{ x }}{% endfor %}",
        "{% if range(9) %}x{% endif %}",
        "{% set x = 1 %}{{ x }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% macro m() %}{% endmacro %}",
        "{{ name | attr('__class__') }}",
        "{{ name | format(1) }}",
        "{{ name | upper }}{{ name.__class__ }}",
        "{% if name.__class__ %}x{% endif %}",
        "{% if name['__class__'] %}x{% endif %}",
        "{% if name[0] %}x{% endif %}",
        "{% if name[other] %}x{% endif %}",
        "{% if 'a' * 1000000000 %}x{% endif %}",
        "{% if 2 ** 99999999 %}x{% endif %}",
        "{% if ('a' ~ 'b') %}x{% endif %}",
        "{% if name.upper() %}x{% endif %}",
        "{% if 'a'.upper %}x{% endif %}",
        "{% if lipsum %}{{ lipsum() }}{% endif %}",
        "{% if _secret %}x{% endif %}",
        "{% if x is callable %}x{% endif %}",
        "{% if x == 1e999 %}x{% endif %}",
        "{% raw %}{{ name }}{% endraw %}",
        "{{ gone | default('{name}') }}",
        "{% if %}",
        "{% endif %}",
        "{% if a %}",
        "{% unknown %}",
        "{{ name | }}",
        "{% if " + "(" * 2000 + "a" + ")" * 2000 + " %}x{% endif %}",
        "{% if a %}" * 200 + "x" + "{% endif %}" * 200,
        "{% if " + "not " * 900 + "a %}x{% endif %}",
        "{% if a == " + "9" * 3900 + " %}x{% endif %}{{ b | round(99999999) }}",
    ],
)
def test_what_reaches_further_is_refused(template):
    started = time.perf_counter()

    rendering = render(template, name="Ada", names=["a"])

    assert rendering.text is None
    assert rendering.problem
    assert time.perf_counter() - started < 2.0


PIECES = r"""{a}~{c.d}~{~}~{%~%}~{{~}}~{#~#}~ ~|~a~(~)~'~-%}~{{ b }}~{% if a %}
~{% else %}~{% endif %}~{% if a == 0 %}~{% if a is number %}~{% raw %}~{% endraw %}
~{% if a > b and c is defined %}~{{ a | upper }}~{{ b | round(2) }}~{{ b | join }}
~{{ c | length }}~{{ a.b | default('x') }}"""
pieces = st.sampled_from([*PIECES.replace("\n", "").split("~"), "\x00"])
templates = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=200)
plain_values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=50)
    | st.lists(st.integers() | st.text(max_size=5), max_size=3)
    | st.dictionaries(st.sampled_from(["b", "d"]), st.integers())
)


@settings(max_examples=500)
@given(templates, st.dictionaries(st.sampled_from(["a", "b", "c"]), plain_values))
def test_any_template_with_any_fields_is_rendered_or_refused(template, values):
    rendering = render(template, **values)

    assert (rendering.text is None) == bool(rendering.problem)
    if rendering.text is not None:
        assert rendering.text.strip()
        assert len(rendering.text) <= RENDER_LIMIT


@settings(max_examples=300)
@given(
    templates.filter(lambda template: not is_program(template)),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.integers(), min_size=4),
)
def test_no_marker_of_a_declared_field_is_ever_left(template, values):
    values["c"] = {"d": 1}

    rendering = render(template, **values)

    if rendering.text is not None:
        assert FIELD.search(rendering.text) is None
