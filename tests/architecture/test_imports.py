"""Imports point one way, and plugins meet only through ports."""

from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def packages() -> list[str]:
    return sorted(
        path.stem
        for pattern in ("plugins/*/src/*", "contrib/*/src/*")
        for path in ROOT.glob(pattern)
        if path.stem.startswith("poise_") and not path.name.endswith(".egg-info")
    )


def test_imports_keep_the_contracts(tmp_path: Path) -> None:
    plugins = packages()
    config = configparser.ConfigParser()
    config["importlinter"] = {"root_packages": "\n".join(["poise", *plugins])}
    config["importlinter:contract:layers"] = {
        "name": "values, turn, ports, hooks, engine and memory, app, sdk, cli: one way",
        "type": "layers",
        "layers": "\n".join(
            [
                "poise.cli",
                "poise.sdk",
                "poise.app",
                "poise.engine | poise.memory",
                "poise.prompts",
                "poise.hooks",
                "poise.ports",
                "poise.turn",
                "poise.values",
                "poise.errors",
            ]
        ),
    }
    config["importlinter:contract:testing"] = {
        "name": "nothing imports the test kit",
        "type": "forbidden",
        "source_modules": "\n".join(
            f"poise.{each}"
            for each in (
                [
                    "app",
                    "cli",
                    "engine",
                    "errors",
                    "hooks",
                    "memory",
                    "ports",
                    "prompts",
                    "sdk",
                    "turn",
                    "values",
                ]
            )
        ),
        "forbidden_modules": "poise.testing",
    }
    config["importlinter:contract:plugins"] = {
        "name": "no plugin imports another",
        "type": "independence",
        "modules": "\n".join(plugins),
    }
    config["importlinter:contract:insides"] = {
        "name": "plugins use what is public",
        "type": "forbidden",
        "source_modules": "\n".join(
            each for each in plugins if (ROOT / "plugins" / each.removeprefix("poise_")).is_dir()
        ),
        "forbidden_modules": "\n".join(
            ["poise.app", "poise.cli", "poise.engine", "poise.memory", "poise.sdk"]
        ),
        "allow_indirect_imports": "True",
    }
    file = tmp_path / "importlinter.ini"
    with file.open("w") as out:
        config.write(out)

    code = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", code, str(file), "--no-cache"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout + checked.stderr
