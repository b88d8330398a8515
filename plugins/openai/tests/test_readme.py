from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from pydantic import BaseModel

from poise_openai.settings import AzureSettings, OpenAISettings, ServerSettings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def rows(model: type[BaseModel], names: list[str]) -> list[tuple[str, str, str, str]]:
    found = []
    for name in names:
        field = model.model_fields[name]
        extra = field.json_schema_extra
        variables = extra.get("env", []) if isinstance(extra, dict) else []
        env = ", ".join(f"`{each}`" for each in variables)  # type: ignore[union-attr]
        default = field.get_default(call_default_factory=True)
        found.append((name, env, repr(default), field.description or ""))
    return found


def test_the_settings_tables_are_those_of_the_models() -> None:
    table = re.findall(r"^\| `(\w+)` \| (.*) \| `(.*)` \| (.*) \|$", README, re.MULTILINE)

    general = [name for name in OpenAISettings.model_fields if name != "presets"]
    azure = [name for name in AzureSettings.model_fields if name not in ServerSettings.model_fields]
    assert [(name, env.strip(), default, told) for name, env, default, told in table] == [
        *rows(OpenAISettings, general),
        *rows(AzureSettings, azure),
    ]


def test_the_example_runs() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "openai openai:text-embedding-3-small:1536 1536\n"


def test_the_settings_shown_are_taken() -> None:
    shown = [tomllib.loads(each) for each in re.findall(r"```toml\n(.*?)```", README, re.DOTALL)]

    sections = [each["openai"] for each in shown if "openai" in each]
    assert len(sections) == 2
    for section in sections:
        OpenAISettings.model_validate(section)
