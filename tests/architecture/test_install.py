"""An install is small and honest: ranges instead of pins, and every command starts."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = {
    str(path.parent.relative_to(ROOT)): tomllib.loads(path.read_text())["project"]
    for pattern in ("core", "plugins/*", "contrib/*")
    for path in sorted(ROOT.glob(f"{pattern}/pyproject.toml"))
}
COMMANDS = sorted(point.name for point in entry_points(group="poise.commands"))
HEAVY = {"torch", "transformers", "tensorflow", "pandas", "sentence-transformers"}


def requirements(project: dict) -> list[str]:
    optional = project.get("optional-dependencies", {})
    return [
        *project.get("dependencies", ()),
        *(each for some in optional.values() for each in some),
    ]


@pytest.mark.parametrize("folder", PROJECTS)
def test_requirements_are_ranges(folder: str) -> None:
    """B-108: an exact pin makes a library that can't be installed beside others."""
    pinned = [each for each in requirements(PROJECTS[folder]) if "==" in each]

    assert not pinned


@pytest.mark.parametrize("folder", PROJECTS)
def test_every_requirement_has_a_floor(folder: str) -> None:
    floorless = [
        each for each in requirements(PROJECTS[folder]) if not re.search(r">=|\[[a-z]+\]$", each)
    ]

    assert not floorless


def test_nothing_brings_a_machine_learning_stack() -> None:
    """B-107: the base install is small and has no such thing in it."""
    named = {
        re.split(r"[>=<\[;]", each)[0].strip()
        for project in PROJECTS.values()
        for each in requirements(project)
    }

    assert not named & HEAVY


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_starts(command: str) -> None:
    """B-107: a missing dependency shows when the command is asked for help, not later."""
    code = "import sys; from poise.cli.main import main; main(sys.argv[1:], prog_name='poise')"

    ran = subprocess.run(
        [sys.executable, "-c", code, command, "--help"], capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"Usage: poise {command}")


def test_supported_pythons_are_declared_alike() -> None:
    """B-106: what is declared is true for all distributions of one release."""
    assert {project["requires-python"] for project in PROJECTS.values()} == {">=3.11"}
