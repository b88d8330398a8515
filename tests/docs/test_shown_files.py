"""What the docs show of the repository is what stands there, and what they set can be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from poise.app.config import load_config
from poise.app.plugins import PluginManager

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
COPIED = {
    "write-a-plugin.md": ROOT / "contrib" / "hashing",
    "write-a-provider.md": ROOT / "contrib" / "echo",
}
"""The distributions that pages show whole, to be copied."""

SHOWN = ("pyproject.toml", "tests/test_conformance.py", "tests/conftest.py")
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "core/*.md", "plugins/*/*.md", "contrib/*/*.md")
    for page in ROOT.glob(pattern)
)


def fences(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


OTHER_DATA = re.compile(r"# (?!poise\.toml)\S+\.toml\n")
"""What opens a block that is a plugin's own data file, and no settings."""

SETTINGS = [
    (str(page.relative_to(ROOT)), fence)
    for page in PAGES
    for fence in fences(page, "toml")
    if "[project" not in fence and not OTHER_DATA.match(fence)
]


@pytest.mark.parametrize("page", COPIED)
def test_the_plugin_to_copy_from_is_shown_as_it_is(page: str) -> None:
    folder = COPIED[page]
    shown = [fence for kind in ("toml", "python") for fence in fences(HOW_TO / page, kind)]

    for name in (f"src/poise_{folder.name}/__init__.py", *SHOWN):
        assert (folder / name).read_text(encoding="utf-8") in shown, f"{page}: {name} is another"


@pytest.mark.parametrize(("page", "text"), SETTINGS)
def test_settings_can_be_read(page: str, text: str) -> None:
    sections = PluginManager().sections

    load_config(sections, environ={"POISE_CONFIG": ""}, overrides=tomllib.loads(text))
