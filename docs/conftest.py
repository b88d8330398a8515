"""Runs the examples of the docs: Python as programs, `console` blocks as what a terminal shows.

A block whose first line is a comment with a file name, such as `# shop.py` or `# poise.toml`, is
kept under that name for the blocks that follow; all blocks of a page share one folder. In a
`console` block, lines after `$ ` are commands, lines after `> ` are typed, and `…` is anything.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.example import Example
from sybil.parsers.markdown import CodeBlockParser

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"\A# ([\w./-]+\.(?:py|toml))\n")
PATIENCE = 120.0


def run_python(example: Example) -> None:
    """Run the block as a program of its own."""
    folder = _folder(example)
    program = _kept(example, folder) or folder / f"example_{example.line}.py"
    program.write_text(example.parsed, encoding="utf-8")
    with _in_folder(folder):
        runpy.run_path(str(program), run_name="__main__")


def keep_settings(example: Example) -> None:
    """Keep the block where the page names a file for it."""
    _kept(example, _folder(example))


def run_console(example: Example) -> None:
    """Run each command with what is typed after it, and compare what it prints."""
    for block in re.split(r"^\$ ", example.parsed, flags=re.MULTILINE)[1:]:
        command, _, expected = block.partition("\n")
        typed = "".join(f"{line[2:]}\n" for line in expected.splitlines() if line[:2] == "> ")
        printed = _printed(shlex.split(command), typed, _folder(example))
        wanted = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
        if not re.fullmatch(wanted, printed.strip(), flags=re.DOTALL):
            raise AssertionError(
                f"{command!r} prints\n\n{printed}\nand the page shows\n\n{expected}"
            )


def _printed(command: list[str], typed: str, folder: Path) -> str:
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(  # noqa: S603 - a command of our own docs
        [str(program), *command[1:]],
        cwd=folder,
        input=typed,
        env={**_environment(), "COLUMNS": "100", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{shlex.join(command)} ended with {done.returncode}: {done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("POISE_")}


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    """Be where the page's files are, as if nothing had been set for Poise; undo it all after."""
    environment, path, modules = dict(os.environ), list(sys.path), set(sys.modules)
    with chdir(folder):
        for name in set(os.environ) - set(_environment()):
            del os.environ[name]
        sys.path.insert(0, str(folder))
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(environment)
            sys.path[:] = path
            for name in set(sys.modules) - modules:
                if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
                    del sys.modules[name]


def _folder(example: Example) -> Path:
    return Path(example.namespace["folder"].name)


def _kept(example: Example, folder: Path) -> Path | None:
    named = NAMED.match(example.parsed)
    if named is None:
        return None
    path = folder / named[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(example.parsed, encoding="utf-8")
    return path


def _begin(namespace: dict[str, Any]) -> None:  # whatever sybil keeps
    namespace["folder"] = TemporaryDirectory(prefix="poise-docs-")


def _end(namespace: dict[str, Any]) -> None:  # whatever sybil keeps
    namespace["folder"].cleanup()


PARSERS = (
    CodeBlockParser("python", run_python),
    CodeBlockParser("toml", keep_settings),
    CodeBlockParser("console", run_console),
)


def examples_of(folder: Path, pattern: str, exclude: str | None = None) -> Sybil:
    """Return what collects the examples of a folder's pages."""
    return Sybil(
        PARSERS,
        pattern=pattern,
        exclude=exclude,
        path=str(folder),
        setup=_begin,
        teardown=_end,
    )


class _Collector:
    """A plugin, since the hook of a conftest serves the files below its own folder alone."""

    pytest_collect_file = staticmethod(
        (examples_of(ROOT / "docs", "*.md") + examples_of(ROOT, "README.md", "*/*")).pytest()
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the pages of this folder, and the README of the repository beside it."""
    if not config.pluginmanager.has_plugin("poise-docs"):
        config.pluginmanager.register(_Collector(), "poise-docs")
        # Readers run examples on machines of their own; here a busy one is no failure.
        settings.register_profile(
            "docs", deadline=None, suppress_health_check=[HealthCheck.too_slow]
        )
        settings.load_profile("docs")
