"""What the README shows is what happens."""

from __future__ import annotations

import re
import types
from pathlib import Path

from poise_tools import ToolSettings

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_example_runs():
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    module = types.ModuleType("readme")

    exec(compile(program, "README.md", "exec"), module.__dict__)  # noqa: S102 - our own example


def test_settings_table_names_every_setting_with_its_default():
    for name, field in ToolSettings.model_fields.items():
        shown = f"`{field.default}`" if isinstance(field.default, str) else f"{field.default:g}"
        assert f"| `{name}` | {shown} | " in README
