"""The README says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from poise_compose import ComposeSettings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def rows() -> str:
    return "\n".join(
        f"| `{name}` | `{field.default!r}` | {field.description} |"
        for name, field in ComposeSettings.model_fields.items()
    )


def test_settings_table_is_that_of_the_model():
    assert rows() in README


def test_examples_run():
    for fence in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(fence, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - our own
