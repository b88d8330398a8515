from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from poise_embedded.settings import EmbeddedSettings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_settings_table_is_that_of_the_model() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.*)` \| (.*) \|$", README, re.MULTILINE)

    assert rows == [
        (name, repr(field.default), field.description)
        for name, field in EmbeddedSettings.model_fields.items()
    ]


def test_the_example_runs_and_withholds_what_is_denied() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    cosine, near, beside, denied = found.stdout.splitlines()
    assert float(cosine.split()[1]) > 0.7
    assert float(near.split(" | ")[1]) > float(beside.split(" | ")[1])
    assert denied.startswith("I have not lost my card | None | denied")
