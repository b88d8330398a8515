"""The reference pages say what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def generated() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", REFERENCE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


@pytest.mark.parametrize("name", ["commands.md", "hooks.md", "names.md", "settings.md"])
def test_page_is_what_the_code_says(name: str) -> None:
    expected = generated()[name]

    assert (REFERENCE / name).read_text(encoding="utf-8") == expected, (
        "run: python docs/reference/generate.py"
    )
