"""The commands that the docs show exist, with the options that they are shown with."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from poise.cli.main import main

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"-s ['\"]?(\w+)")


def shown() -> list[tuple[str, str]]:
    """Return every command line of the docs, with the page that shows it."""
    found: dict[tuple[str, str], None] = {}
    for pattern in ("*.md", "docs/**/*.md", "core/*.md", "plugins/*/*.md", "contrib/*/*.md"):
        for page in sorted(ROOT.glob(pattern)):
            for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
                for line in text.splitlines():
                    command = line.removeprefix("$ ") if language == "console" else line
                    if language == "sh" or line.startswith("$ "):
                        found[str(page.relative_to(ROOT)), command] = None
    return list(found)


LINES = shown()


@pytest.mark.parametrize(
    ("page", "line"), [each for each in LINES if re.search(r"(^|\s)poise ", each[1])]
)
def test_poise_is_called_as_it_can_be(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    arguments = words[words.index("poise") + 1 :]
    command: click.Command = main
    context = click.Context(main, info_name="poise")

    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        known = command.get_command(context, arguments[0])
        if known is None:
            assert command.invoke_without_command, f"{page}: there is no command {arguments[0]!r}"
            break
        command, context = known, click.Context(known, context, arguments.pop(0))

    command.make_parser(context).parse_args(arguments)  # raises for what it does not know


@pytest.mark.parametrize(
    ("page", "line"), [each for each in LINES if re.search(r"\bnox\b.* -s ", each[1])]
)
def test_nox_has_the_task(page: str, line: str) -> None:
    tasks = re.findall(r"^def (\w+)\(session", (ROOT / "noxfile.py").read_text(), re.MULTILINE)

    for name in SESSION.findall(line):
        assert name in tasks, f"{page}: there is no task {name!r}"
