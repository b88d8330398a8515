"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", REFERENCE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATOR = generator()


@pytest.mark.parametrize("name", GENERATOR.NAMES)
def test_page_is_what_the_code_says(name: str) -> None:
    text = (REFERENCE / name).read_text(encoding="utf-8")

    assert text == GENERATOR.page(name), "run: python docs/reference/generate.py"


def test_every_page_of_the_folder_is_generated() -> None:
    assert sorted(each.name for each in REFERENCE.glob("*.md")) == sorted(GENERATOR.NAMES)
