from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from poise_discovery.settings import DiscoverySettings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_settings_table_is_that_of_the_model() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(.*)` \| (.*) \|$", README, re.MULTILINE)
    known = [row for row in rows if row[0] not in ("Discoverer", "Annotator")]

    assert known == [
        (name, repr(field.default), field.description)
        for name, field in DiscoverySettings.model_fields.items()
    ]


def test_the_example_runs() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "True | my card is gone"
