"""Routes that an agent brings itself: in code, as content of its catalog."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.sdk.arguments import routes
from poise.values.agents import Agent
from poise.values.compilation import compile_catalog
from poise.values.ids import AgentId


def clerk(**models: Any) -> Agent:
    return Agent(AgentId("agent_clerk"), "Clerk", **models)


def test_one_model_and_a_list_of_one_are_the_same_agent() -> None:
    one = clerk(models={"compose.message": "a:one"})
    listed = clerk(models={"compose.message": ["a:one"]})

    assert one.models == {"compose.message": ("a:one",)}
    assert one == listed
    assert hash(one) == hash(listed)


def test_routes_are_part_of_the_catalogs_content() -> None:
    plain, routed = clerk(), clerk(models={"*": ("a:one", "b:two")})

    versions = [compile_catalog(each).version for each in (plain, routed)]
    again = compile_catalog(clerk(models={"*": ["a:one", "b:two"]})).version

    assert versions[0] != versions[1]
    assert versions[1] == again
    assert compile_catalog(clerk(models={"*": ("b:two", "a:one")})).version != again


def test_routes_of_an_agent_can_not_be_changed_behind_its_back() -> None:
    given_models = {"*": ["a:one"]}
    agent = clerk(models=given_models)

    given_models["*"].append("b:two")
    given_models["embed"] = ["c:three"]

    assert agent.models == {"*": ("a:one",)}
    with pytest.raises(TypeError):
        agent.models["embed"] = ("c:three",)  # type: ignore[index]


@pytest.mark.parametrize("models", [{"*": ()}, {"*": ""}, {"*": ("a:one", " ")}, {" ": "a:one"}])
def test_route_that_names_nothing_is_refused(models: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"agent 'Clerk': models"):
        clerk(models=models)


@given(
    models=st.dictionaries(
        st.sampled_from(["*", "embed", "matching.*[effort=high]"]),
        st.lists(st.from_regex(r"[a-z]+:[a-z]+", fullmatch=True), min_size=1, unique=True),
    )
)
def test_what_an_author_writes_is_what_the_agent_has(models: dict[str, list[str]]) -> None:
    said = routes("agent 'Clerk'", "models", models)

    assert clerk(models=said).models == {route: tuple(names) for route, names in models.items()}


@pytest.mark.parametrize("models", ["a:one", ["a:one"], {"*": 5}, {"*": [5]}, {5: "a:one"}])
def test_what_is_no_table_of_models_is_refused(models: object) -> None:
    with pytest.raises(InvalidValueError, match=r"agent 'Clerk': models must be a"):
        routes("agent 'Clerk'", "models", models)
