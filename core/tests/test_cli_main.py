"""The command `poise` itself: its listing, its laziness, its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from poise.cli.main import CommandGroup, exit_code, main
from poise.errors import (
    ConfigError,
    HookError,
    InvalidValueError,
    NotFoundError,
    PluginLoadError,
    ProviderError,
    StoreError,
)

HEAVY = ("numpy", "pydantic", "pydantic_settings", "sqlalchemy", "lagom", "opentelemetry")


def point(name: str, value: str, distribution: str) -> EntryPoint:
    made = EntryPoint(name, value, "poise.commands")
    vars(made).update(dist=SimpleNamespace(name=distribution, version="1"))
    return made


def group(*points: EntryPoint) -> CommandGroup:
    return CommandGroup("poise", points=points)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_listing_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom poise.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n"
        f"    print([n for n in {HEAVY!r} if n in sys.modules], file=sys.stderr)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )

    assert done.stderr.strip() == "[]"
    assert "poise" in done.stdout


def test_listing_names_every_command_with_its_line() -> None:
    result = CliRunner().invoke(main, ["--help"])

    assert result.exit_code == 0
    for name in ("chat", "config", "lint", "models", "plugins", "sessions", "why"):
        assert f"\n  {name} " in result.output


@pytest.mark.parametrize("name", ["chat", "config", "lint", "models", "plugins", "sessions", "why"])
def test_every_command_of_ours_starts(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])

    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: poise {name}")


def test_commands_of_others_are_listed_with_their_distribution_and_not_imported() -> None:
    listed = CliRunner().invoke(group(point("demo", "no.such:module", "poise-bank")), ["--help"])

    assert listed.exit_code == 0
    assert "demo  from poise-bank" in listed.output


def test_command_of_an_installed_distribution_runs(scripted: Path) -> None:
    result = CliRunner().invoke(main, ["wave"])

    assert result.output == "o/\n"


def test_command_that_can_not_be_loaded_is_one_line_without_traceback(scripted: Path) -> None:
    result = CliRunner().invoke(main, ["broken"])

    assert result.exit_code == 3
    assert result.stderr.startswith("poise: plugin 'poise-scripted' can't be loaded: its command")
    assert "Traceback" not in result.stderr


def test_command_that_two_distributions_bring_is_an_error_that_names_both() -> None:
    twice = group(point("demo", "a:b", "poise-one"), point("demo", "c:d", "poise-two"))

    result = CliRunner().invoke(twice, ["demo"])

    assert result.exit_code == 2
    assert "poise-one and poise-two" in result.stderr


def test_unknown_command_suggests_the_right_one() -> None:
    result = CliRunner().invoke(main, ["wyh"])

    assert result.exit_code == 2
    assert "did you mean 'why'?" in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 2),
        (HookError("h", "p", "r"), 2),
        (InvalidValueError("a", "b", "c"), 2),
        (NotFoundError("session", "x"), 2),
        (PluginLoadError("p", "r"), 3),
        (ProviderError("p", "m", "r", "x"), 3),
        (StoreError("x"), 3),
        (OSError("disk"), 3),
    ],
)
def test_exit_code_says_who_can_mend_it(error: Exception, code: int) -> None:
    @click.command()
    def fail() -> None:
        raise error

    failing = group()
    failing.add_command(fail)

    result = CliRunner().invoke(failing, ["fail"])

    assert exit_code(error) == result.exit_code == code
    assert result.stderr == f"poise: {error}\n"


def test_fault_of_ours_shows_its_traceback_and_ends_with_70() -> None:
    @click.command()
    def fail() -> None:
        raise RuntimeError("oops")

    failing = group()
    failing.add_command(fail)

    result = CliRunner().invoke(failing, ["fail"])

    assert result.exit_code == 70
    assert "RuntimeError: oops" in result.stderr
    assert result.stdout == ""


def test_interrupt_ends_with_130() -> None:
    @click.command()
    def wait() -> None:
        raise KeyboardInterrupt

    waiting = group()
    waiting.add_command(wait)

    assert CliRunner().invoke(waiting, ["wait"]).exit_code == 130


def test_error_that_a_task_group_wrapped_is_still_one_line() -> None:
    @click.command()
    def fail() -> None:
        raise ExceptionGroup("tasks", [ConfigError("no such thing")])

    failing = group()
    failing.add_command(fail)

    result = CliRunner().invoke(failing, ["fail"])

    assert result.stderr == "poise: no such thing\n"


# -- plugins --


def test_plugins_lists_what_each_one_brings(scripted: Path) -> None:
    result = CliRunner().invoke(main, ["plugins", "--json"])

    reports = {each["name"]: each for each in json.loads(result.stdout)}
    assert result.exit_code == 0
    assert reports["scripted"]["distribution"] == "poise-scripted"
    assert "Resolver naive (default)" in reports["scripted"]["offers"]


def test_plugins_lists_one_that_fails_and_ends_with_1(
    scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = scripted.parent / "site"
    (folder / "poise_scripted.py").write_text("import no_such_library\n")

    result = CliRunner().invoke(main, ["plugins"])

    assert result.exit_code == 1
    assert "failed" in result.stdout
    assert "poise: plugin 'scripted' can't be loaded: No module named" in result.stderr


# -- config --


def test_config_shows_each_setting_with_its_origin(scripted: Path) -> None:
    (scripted / "poise.toml").write_text("[engine]\nhistory = 7\n")

    result = CliRunner().invoke(main, ["config", "show", "--origin"])

    assert result.exit_code == 0
    rows = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert rows["engine.history"].split()[1:] == ["7", "poise.toml:2"]
    assert rows["matchers"].split()[1:] == ["yes", "POISE_MATCHERS"]


def test_config_prints_json(scripted: Path) -> None:
    result = CliRunner().invoke(main, ["config", "show", "--json"])

    rows = {each["key"]: each for each in json.loads(result.stdout)}
    assert rows["matchers"]["value"] == ["yes"]
    assert rows["matchers"]["origin"] == {"kind": "environment", "where": "POISE_MATCHERS"}


def test_config_shows_what_it_can_when_a_plugin_fails(scripted: Path) -> None:
    (scripted.parent / "site" / "poise_scripted.py").write_text("import no_such_library\n")

    result = CliRunner().invoke(main, ["config", "show"])

    assert result.exit_code == 0
    assert "engine.history" in result.stdout
    assert "poise: the settings of plugin 'scripted' are not shown" in result.stderr


def test_config_path_prints_the_file_that_is_read(scripted: Path) -> None:
    (scripted / "poise.toml").write_text("")

    result = CliRunner().invoke(main, ["config", "path"])

    assert result.stdout.strip() == str(scripted / "poise.toml")


def test_mistake_in_the_settings_is_one_line_and_ends_with_2(scripted: Path) -> None:
    (scripted / "poise.toml").write_text("[engine]\nhistry = 7\n")

    result = CliRunner().invoke(main, ["config", "show"])

    assert result.exit_code == 2
    assert result.stderr == (
        "poise: poise.toml:2: unknown key 'engine.histry'; did you mean 'history'?\n"
    )


def test_asking_for_what_nobody_offers_says_what_to_install(
    scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POISE_STORES", "elegant")

    result = CliRunner().invoke(main, ["sessions"])

    assert result.exit_code == 2
    assert result.stderr == (
        "poise: no Stores named 'elegant'; on offer: kept, memory; pip install poise-elegant\n"
    )
