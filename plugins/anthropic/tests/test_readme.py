import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from poise.testing.fake_server import FakeModelServer, Scripted
from poise_anthropic.quirks import Quirks
from poise_anthropic.settings import AnthropicSettings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_settings_table_is_that_of_the_model() -> None:
    table = README.partition("## Settings")[2].partition("## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.*)` \| (.*) \|$", table, re.MULTILINE)

    assert rows == [
        (name, _default(field), field.description)
        for name, field in AnthropicSettings.model_fields.items()
    ]


def test_every_quirk_is_in_the_table() -> None:
    table = README.partition("| quirk |")[2].partition("\n\n")[0]

    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(Quirks.model_fields)


@pytest.mark.anyio
async def test_the_example_runs(
    fake_model_server: FakeModelServer, recorded: Callable[[str], Scripted]
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    fake_model_server.script("/v1/messages", recorded("stream.sse"))
    environ = {
        **os.environ,
        "ANTHROPIC_API_KEY": "a-key-of-no-account",
        "ANTHROPIC_BASE_URL": fake_model_server.url,
    }

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ
        )
        return done.stdout

    said = (await anyio.to_thread.run_sync(run)).splitlines()

    assert said[0] == "Your card is on its way."
    assert said[1].startswith("complete: Usage(input_tokens=165, cached_tokens=100")


def _default(field: Any) -> str:
    return repr(field.get_default(call_default_factory=True))
