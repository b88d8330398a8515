"""The READMEs of distributions: their examples run, and their tables of settings are so."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from poise.app.plugins import PluginManager

ROOT = Path(__file__).parents[2]
READMES = [
    path.with_name("README.md")
    for pattern in ("core", "plugins/*", "contrib/*")
    for path in sorted(ROOT.glob(f"{pattern}/pyproject.toml"))
]
# A distribution whose own tests run its README does so on its own ground, without its neighbours.
UNTESTED = [each for each in READMES if not (each.parent / "tests" / "test_readme.py").exists()]


def name_of(path: Path) -> str:
    return path.parent.name


def examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_examples", ROOT / "docs" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("readme", UNTESTED, ids=name_of)
def test_examples_run(readme: Path) -> None:
    sybil: Any = examples().examples_of(readme.parent, "README.md")
    document = sybil.parse(readme)
    sybil.setup(document.namespace)
    try:
        for example in document.examples():
            example.evaluate()
    finally:
        sybil.teardown(document.namespace)


@pytest.mark.parametrize("readme", READMES, ids=name_of)
def test_says_what_it_is_and_how_it_is_installed(readme: Path) -> None:
    project = tomllib.loads(readme.with_name("pyproject.toml").read_text())["project"]

    text = readme.read_text()

    assert text.startswith(f"# {project['name']}\n")
    assert "pip install" in text
    assert len(text.splitlines()) > 10


SECTIONS = [
    (section.name, section.model, readme)
    for section in PluginManager().sections.all()
    if (readme := ROOT / "plugins" / section.plugin / "README.md") in UNTESTED
]


@pytest.mark.parametrize(
    ("name", "model", "readme"), SECTIONS, ids=[section[0] for section in SECTIONS]
)
def test_settings_table_is_that_of_the_model(name: str, model: str, readme: Path) -> None:
    module, _, attribute = model.partition(":")
    fields = getattr(import_module(module), attribute).model_fields

    text = readme.read_text()

    for field, described in fields.items():
        row = re.search(rf"^\| `(?:{name}\.)?{field}` \|(.*)\|$", text, re.MULTILINE)
        assert row, f"{readme} has no row for {field}"
        assert described.description in row[1], f"{readme}: {field}"
