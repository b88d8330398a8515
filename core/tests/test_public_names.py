"""The public face: every name is there, in order, and costs nothing before it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import poise


@pytest.mark.parametrize("name", poise.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(poise, name) is not None
    assert name in dir(poise)


def test_public_names_are_those_that_have_a_home() -> None:
    assert poise.__all__ == sorted(poise._HOME_OF)


def test_type_checkers_see_the_same_homes() -> None:
    tree = ast.parse(Path(poise.__file__).read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("poise.")
        if node.module != "poise._homes"
        for alias in node.names
    }

    assert seen == poise._HOME_OF


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Robot'"):
        poise.Robot  # noqa: B018 - the access is the point


def test_guideline_is_a_policy_and_server_an_application() -> None:
    assert poise.Guideline is poise.Policy
    assert poise.Server is poise.Application


def test_importing_loads_no_library() -> None:
    code = "import sys, poise; print([m for m in sys.modules if m.split('.')[0] in sys.argv[1:]])"
    libraries = (
        "attr",
        "attrs",
        "numpy",
        "pydantic",
        "pydantic_settings",
        "lagom",
        "pluggy",
        "anyio",
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code, *libraries], capture_output=True, text=True, check=True
    )

    assert loaded.stdout.strip() == "[]"


def test_a_domain_needs_no_settings_library() -> None:
    code = (
        "import sys, poise; poise.Agent, poise.tool, poise.Weight, poise.any_of; "
        "print([m for m in sys.modules if m.split('.')[0] in sys.argv[1:]])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", code, "numpy", "pydantic_settings", "lagom"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.strip() == "[]"
