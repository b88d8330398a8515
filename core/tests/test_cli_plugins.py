"""The author's kit: a new provider that works at once, and the suites over what is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from poise.cli import checking
from poise.cli.distributions import Naming
from poise.cli.main import main
from poise.errors import ConfigError

SUITES = {"ModelProvider acme", "TextGenerator acme:echo", "Embedder acme:words"}

PARTS = """
import poise
from poise import Bus, Dispatcher, Resolver, Stores, TermFinder


class Kettle:
    pass


@poise.hookimpl
def poise_provide(offers):
    offers.add(Resolver, "naive", "poise.testing.scripted_matching:NaiveResolver")
    offers.add(TermFinder, "slow", "poise.testing.scripted_composition:ScriptedTermFinder")
    offers.add(Bus, "own", "poise.memory.bus:MemoryBus")
    offers.add(Dispatcher, "own", "poise.memory.dispatcher:InProcessDispatcher")
    offers.add(Stores, "own", "poise.memory.stores:MemoryStores")
    offers.add(Kettle, "own", Kettle)
"""


def poise(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.stdout, result.stderr


def install(site: Path, package: Path) -> None:
    """Make a distribution's folder known to this process and to those that it starts."""
    metadata = site / "poise_acme-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: poise-acme\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[poise]\nacme = poise_acme.plugin\n")
    (site / package.name).symlink_to(package, target_is_directory=True)


@pytest.fixture
def made(scripted: Path) -> Path:
    """Write a provider called `acme` into an empty folder, and install it."""
    code, _, _ = poise("plugins", "new", "provider", "acme")
    assert code == 0
    install(scripted.parent / "site", scripted / "poise-acme/src/poise_acme")
    return scripted / "poise-acme"


# -- new --


def test_new_provider_is_a_whole_distribution(made: Path) -> None:
    files = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}

    assert files == {
        "README.md",
        "pyproject.toml",
        "src/poise_acme/__init__.py",
        "src/poise_acme/models.toml",
        "src/poise_acme/plugin.py",
        "src/poise_acme/provider.py",
        "src/poise_acme/py.typed",
        "src/poise_acme/settings.py",
        "tests/conftest.py",
        "tests/test_conformance.py",
    }
    assert not [each for each in files if "$" in (made / each).read_text()]


def test_new_provider_passes_its_suite_at_once(made: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=made,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_new_provider_keeps_to_strict_types(made: Path, tmp_path: Path) -> None:
    pytest.importorskip("mypy")

    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "mypy"), "src"],
        cwd=made,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


def test_new_provider_serves_an_application(made: Path) -> None:
    (made.parent / "poise.toml").write_text('[models]\n"compose.message" = "acme:echo"\n')

    code, out, err = poise("models", "check", "compose.message", "--json")

    assert code == 0, err
    (check,) = json.loads(out)
    assert (check["model"], check["ok"]) == ("acme:echo", True)


def test_readme_example_of_a_new_provider_runs(made: Path) -> None:
    _, _, after = (made / "README.md").read_text().partition("```python\n")
    program = after.partition("```")[0]

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "Where is my parcel?"


def test_new_says_what_comes_next(scripted: Path) -> None:
    code, out, _ = poise("plugins", "new", "provider", "acme", "--folder", "mine")

    assert code == 0
    for line in ("pip install -e './mine[testing]'", "pytest mine", "poise plugins check acme"):
        assert f"\n  {line}\n" in out


def test_new_leaves_what_is_there_as_it_is(scripted: Path) -> None:
    (scripted / "poise-acme").mkdir()
    (scripted / "poise-acme/notes.txt").write_text("mine")

    code, _, err = poise("plugins", "new", "provider", "acme")

    assert code == 2
    assert "poise-acme is there already" in err
    assert [path.name for path in (scripted / "poise-acme").iterdir()] == ["notes.txt"]


def test_name_of_an_installed_plugin_is_refused(made: Path) -> None:
    code, _, err = poise("plugins", "new", "provider", "acme", "--folder", "again")

    assert code == 2
    assert "a plugin that poise-acme has installed" in err
    assert not (made.parent / "again").exists()


@pytest.mark.parametrize(
    ("said", "distribution", "package", "section", "camel"),
    [
        ("acme", "poise-acme", "poise_acme", "acme", "Acme"),
        ("Acme.Cloud_2", "poise-acme-cloud-2", "poise_acme_cloud_2", "acme_cloud_2", "AcmeCloud2"),
        ("poise-acme", "poise-acme", "poise_acme", "acme", "Acme"),
        ("poise_Acme--x", "poise-acme-x", "poise_acme_x", "acme_x", "AcmeX"),
    ],
)
def test_names_follow_from_one_another(
    said: str, distribution: str, package: str, section: str, camel: str
) -> None:
    naming = Naming.of(said)

    assert (naming.distribution, naming.package, naming.name, naming.camel) == (
        distribution,
        package,
        section,
        camel,
    )


@pytest.mark.parametrize(
    "said", ["", "1x", "-acme", "acme-", "a b", "../acme", "ünder", "x" * 31, "poise-", "engine"]
)
def test_what_can_not_be_a_name_is_refused(said: str) -> None:
    with pytest.raises(ConfigError):
        Naming.of(said)


# -- check --


def test_check_runs_the_suite_of_every_offer(made: Path) -> None:
    code, out, err = poise("plugins", "check", "acme", "--json")

    rows = json.loads(out)
    assert code == 0, err
    assert {f"{row['suite']} {row['subject']}" for row in rows} == SUITES
    assert all(row["passed"] and not row["failed"] for row in rows)


def test_check_says_which_promise_is_broken_and_ends_with_1(made: Path) -> None:
    provider = made / "src/poise_acme/provider.py"
    text = provider.read_text()
    provider.write_text(text.replace("        row /= np.linalg.norm(row)\n", ""))

    code, out, _ = poise("plugins", "check", "acme")

    assert code == 1
    assert "Embedder on acme:words: test_gives_a_unit_row_of_float32_per_text" in out
    assert "has length 2.23607, not 1" in out
    assert "TextGenerator  acme:echo   passed" in out


def test_check_of_a_provider_that_can_not_be_made_says_why(made: Path) -> None:
    settings = made / "src/poise_acme/settings.py"
    settings.write_text(settings.read_text().replace("class AcmeSettings", "class Renamed"))

    code, _, err = poise("plugins", "check", "acme")

    assert code != 0
    assert "AcmeSettings" in err


def test_check_skips_what_wants_a_key_and_says_so(made: Path) -> None:
    provider = made / "src/poise_acme/provider.py"
    text = provider.read_text()
    refused = 'raise AuthenticationError("acme", self._model, "", "no key; set ACME_API_KEY")'
    assert text.count("        heard = ") == 1
    text = text.replace("        heard = ", f"        {refused}\n        heard = ")
    provider.write_text(
        text.replace("    Capability,\n", "    AuthenticationError,\n    Capability,\n")
    )

    code, out, _ = poise("plugins", "check", "acme", "--json")

    row = next(each for each in json.loads(out) if each["suite"] == "TextGenerator")
    assert code == 0
    assert row["failed"] == 0
    assert row["keyless"] == row["skipped"]
    assert row["skips"] == {"acme:echo: no key; set ACME_API_KEY": row["skipped"]}


def test_check_takes_the_preferred_model_unless_all_are_wanted(made: Path) -> None:
    cards = made / "src/poise_acme/models.toml"
    more = '\n[[model]]\nmatch = "more"\ncapabilities = ["embedding"]\ndimensions = 64\n'
    cards.write_text(cards.read_text() + more)

    _, preferred, _ = poise("plugins", "check", "acme", "--json")
    _, everything, _ = poise("plugins", "check", "acme", "--all", "--json")

    assert "acme:more" not in [row["subject"] for row in json.loads(preferred)]
    assert "acme:more" in [row["subject"] for row in json.loads(everything)]


def test_check_makes_other_parts_too_and_names_what_has_no_suite(
    scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scripted.parent / "site/poise_scripted.py").write_text(PARTS)
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "quick")

    code, out, err = poise("plugins", "check", "scripted", "--json")

    found = {(row["suite"], row["subject"]): row for row in json.loads(out)}
    assert code == 0, err
    assert found.keys() == {
        ("Resolver", "naive"),
        ("TermFinder", "slow"),
        ("Bus", "own"),
        ("Dispatcher", "own"),
        ("Stores", "own"),
        ("SessionStore", "own"),
        ("Repository", "own"),
        ("ArtifactStore", "own"),
        ("Kettle", "own"),
    }
    assert "no suite" in found.pop(("Kettle", "own"))["note"]
    assert all(row["passed"] for row in found.values())


def test_check_of_an_unknown_plugin_names_a_near_one(made: Path) -> None:
    code, _, err = poise("plugins", "check", "acmee")

    assert (code, err) == (2, "poise: no plugin 'acmee' is installed; did you mean 'acme'?\n")


def test_check_of_a_blocked_plugin_is_refused(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POISE_PLUGINS__BLOCKED", "acme")

    code, _, err = poise("plugins", "check", "acme")

    assert code == 2
    assert "is blocked by plugins.blocked" in err


def test_check_of_a_plugin_that_can_not_be_loaded_ends_with_1(made: Path) -> None:
    (made / "src/poise_acme/plugin.py").write_text("import no_such_library\n")

    code, _, err = poise("plugins", "check", "acme")

    assert code == 1
    assert "plugin 'acme' can't be loaded: No module named 'no_such_library'" in err


def test_check_without_the_test_kit_says_what_to_install(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "_NEEDED", ("pytest", "no_such_library"))

    code, _, err = poise("plugins", "check", "acme")

    assert code == 3
    assert err.endswith(
        "poise: checking needs no_such_library, which is not here; pip install 'poise[testing]'\n"
    )


def test_check_leaves_nothing_behind(made: Path) -> None:
    before = sorted(path.name for path in made.parent.iterdir())

    poise("plugins", "check", "acme")

    assert sorted(path.name for path in made.parent.iterdir()) == before


def test_bare_plugins_still_lists(made: Path) -> None:
    code, out, _ = poise("plugins", "--json")

    reports = {each["name"]: each for each in json.loads(out)}
    assert code == 0
    assert reports["acme"]["offers"] == ["ModelProvider acme"]
    assert reports["acme"]["sections"] == ["acme"]


def test_key_of_a_new_provider_is_read_from_the_vendors_variable_and_shown_nowhere(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made.parent / "poise.toml").write_text('[models]\n"compose.message" = "acme:echo"\n')
    monkeypatch.setenv("ACME_API_KEY", "sk-canary-0815")

    printed = [
        poise("config", "show", "--origin"),
        poise("models", "--json"),
        poise("models", "check", "compose.message", "--json"),
        poise("plugins", "check", "acme", "--json"),
    ]

    assert [code for code, _, _ in printed] == [0, 0, 0, 0]
    assert "ACME_API_KEY" in printed[0][1]
    assert not [each for each in printed if "canary" in each[1] + each[2]]
