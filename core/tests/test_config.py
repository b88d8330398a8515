"""Settings: precedence, origins, and mistakes that name the place and the mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr, model_validator

from poise.app.config import Config, UnknownSectionError, load_config
from poise.app.settings import EngineSettings
from poise.engine.settings import EngineLimits
from poise.errors import ConfigError, ContractError
from poise.hooks.offers import Sections


class BankSettings(BaseModel):
    """Settings of a made-up plugin."""

    model_config = ConfigDict(extra="forbid")

    url: str = "bank.db"
    key: SecretStr | None = None
    retries: int = 3
    hosts: list[str] = []
    limits: dict[str, int] = {}


class ClubSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    password: SecretStr = SecretStr("")

    @model_validator(mode="after")
    def _refuse(self) -> ClubSettings:
        if self.name == "closed":
            raise ValueError("the club is closed")
        return self


class LooseSettings(BaseModel):
    anything: int = 0


def sections(**models: Any) -> Sections:
    declared = Sections("test")
    for name, model in models.items():
        declared.add(name, model)
    return declared


def toml(folder: Path, text: str) -> Path:
    path = folder / "poise.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path | None = None, environ: dict[str, str] | None = None, **more: Any) -> Config:
    # Without a file the settings must not depend on where the tests happen to run.
    found = {"POISE_CONFIG": "", **(environ or {})}
    return load_config(file=path, environ=found, **more)


# -- precedence --


def test_defaults_hold_where_no_source_speaks() -> None:
    config = load()

    assert config.matchers[:3] == ("always", "code", "disambiguation")
    assert config.matchers[-1] == "decision_batch"
    assert config.resolver is None
    assert config.engine.turn_deadline == 60.0
    assert config.models == {}
    assert str(config.origin("engine.turn_deadline")) == "default"


def test_each_source_overrules_the_weaker_ones_key_by_key(tmp_path: Path) -> None:
    path = toml(tmp_path, "[engine]\nhistory = 1\nworking_set = 25\ntool_timeout = 3\n")
    environ = {"POISE_ENGINE__HISTORY": "2", "POISE_ENGINE__WORKING_SET": "26"}

    config = load(path, environ, overrides={"engine": {"history": 3}})

    assert config.engine.history == 3
    assert config.engine.working_set == 26
    assert config.engine.tool_timeout == 3.0
    assert str(config.origin("engine.history")) == "argument"
    assert str(config.origin("engine.working_set")) == "POISE_ENGINE__WORKING_SET"
    assert str(config.origin("engine.tool_timeout")) == f"{path}:4"
    assert str(config.origin("engine.lease")) == "default"


COUNTS = ("history", "tool_result_limit")
LAYER = st.dictionaries(st.sampled_from(COUNTS), st.integers(1, 10_000))


@given(file=LAYER, environment=LAYER, arguments=LAYER)
def test_strongest_source_that_speaks_decides(
    file: dict[str, int],
    environment: dict[str, int],
    arguments: dict[str, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = toml(
        tmp_path_factory.mktemp("settings"),
        "[engine]\n" + "".join(f"{name} = {value}\n" for name, value in file.items()),
    )
    environ = {f"POISE_ENGINE__{name.upper()}": str(n) for name, n in environment.items()}

    config = load(path, environ, overrides={"engine": arguments})

    for name in COUNTS:
        default = EngineSettings.model_fields[name].default
        sources = {"default": {name: default}, "file": file, "environment": environment}
        expected = {kind: each[name] for kind, each in sources.items() if name in each}
        if name in arguments:
            expected["argument"] = arguments[name]
        kind, value = list(expected.items())[-1]
        assert getattr(config.engine, name) == value
        assert config.origin(f"engine.{name}").kind == kind


def test_routes_are_one_key_however_a_source_nests_them(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        '[models]\nembed = "a:one"\n"matching.verdict" = "a:two"\ncompose.message = "a:three"\n',
    )
    environ = {"POISE_MODELS__MATCHING__VERDICT": "b:two"}

    config = load(path, environ, overrides={"models.embed": "c:one"})

    assert config.models == {
        "embed": ("c:one",),
        "matching.verdict": ("b:two",),
        "compose.message": ("a:three",),
    }
    assert str(config.origin("models.matching.verdict")) == "POISE_MODELS__MATCHING__VERDICT"
    assert str(config.origin("models.compose.message")) == f"{path}:4"


def test_lists_are_replaced_and_may_be_written_with_commas() -> None:
    config = load(None, {"POISE_MATCHERS": "mine, code", "POISE_PLUGINS__BLOCKED": '["sql"]'})

    assert config.matchers == ("mine", "code")
    assert config.plugins.blocked == ("sql",)


def test_empty_variable_counts_as_unset() -> None:
    config = load(None, {"POISE_RESOLVER": ""})

    assert config.resolver is None


def test_variable_that_looks_like_no_setting_is_left_alone() -> None:
    config = load(None, {"POISE_PORT": "tcp://10.0.0.1:80", "HOME": "/home/me"})

    assert config.engine_name is None


# -- the file --


def test_file_named_by_the_environment_is_read(tmp_path: Path) -> None:
    path = toml(tmp_path, 'resolver = "strict"\n')

    config = load_config(environ={"POISE_CONFIG": str(path)})

    assert config.resolver == "strict"
    assert config.file == path


def test_poise_toml_of_the_working_folder_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml(tmp_path, 'planner = "mine"\n')
    monkeypatch.chdir(tmp_path)

    config = load_config(environ={})

    assert config.planner == "mine"
    assert str(config.origin("planner")) == "poise.toml:1"


def test_named_file_that_does_not_exist_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no settings file .*gone\.toml \(named by POISE_CON"):
        load_config(environ={"POISE_CONFIG": str(tmp_path / "gone.toml")})


def test_malformed_toml_names_file_and_line(tmp_path: Path) -> None:
    path = toml(tmp_path, "resolver = 'a'\n[engine\n")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:2: not valid TOML")


def test_file_that_is_no_text_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "poise.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigError, match=r"poise\.toml: can't be read"):
        load(path)


# -- mistakes --


def test_unknown_key_names_the_line_and_the_nearest_key(tmp_path: Path) -> None:
    path = toml(tmp_path, "\n[engine]\nturn_deadlin = 5\n")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert str(caught.value) == (
        f"{path}:3: unknown key 'engine.turn_deadlin'; did you mean 'turn_deadline'?"
    )


def test_section_of_a_plugin_that_is_not_there_says_what_may_be_missing(tmp_path: Path) -> None:
    path = toml(tmp_path, "[acme]\nkey = 'x'\n")

    with pytest.raises(ConfigError, match=r"declares the section \[acme\]; is poise-acme install"):
        load(path)


@pytest.mark.parametrize(
    ("variable", "mend"),
    [
        ("POISE_ENGINE__HISTORRY", "did you mean 'history'?"),
        ("POISE_RESOLVR", "did you mean POISE_RESOLVER?"),
        ("POISE_ACME__KEY", "is poise-acme installed?"),
    ],
)
def test_unknown_variable_is_an_error_that_names_it(variable: str, mend: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(None, {variable: "5"})

    assert str(caught.value).startswith(f"{variable}: unknown")
    assert mend in str(caught.value)


def test_unknown_argument_is_an_error() -> None:
    with pytest.raises(ConfigError, match="argument: unknown key 'resolvr'; did you mean 'resolv"):
        load(overrides={"resolvr": "x"})


def test_wrong_type_names_key_value_and_what_is_expected(tmp_path: Path) -> None:
    path = toml(tmp_path, "[engine]\nturn_deadline = 'soon'\n")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert str(caught.value).startswith(
        f"{path}:2: engine.turn_deadline = 'soon' should be a valid number"
    )


def test_wrong_value_from_the_environment_names_the_variable() -> None:
    with pytest.raises(ConfigError, match=r"^POISE_ENGINE__LEASE: engine\.lease = '-1' should be"):
        load(None, {"POISE_ENGINE__LEASE": "-1"})


def test_values_that_do_not_fit_together_are_an_error() -> None:
    with pytest.raises(ConfigError, match=r"lease_renewal \(30\) must be shorter than lease"):
        load(overrides={"engine.lease_renewal": 30})


def test_scalar_where_a_section_belongs_is_an_error(tmp_path: Path) -> None:
    path = toml(tmp_path, "engine = 'fast'\n")

    with pytest.raises(ConfigError, match=r"poise\.toml:1: engine = 'fast' should be a valid dic"):
        load(path)


def test_several_mistakes_are_all_told(tmp_path: Path) -> None:
    path = toml(tmp_path, "resolvr = 'x'\n[engine]\nhistory = 'many'\n")

    with pytest.raises(ConfigError) as caught:
        load(path)

    assert "resolvr" in str(caught.value)
    assert "engine.history = 'many'" in str(caught.value)


# -- plugins' sections --


def test_section_is_read_into_its_model(tmp_path: Path) -> None:
    path = toml(tmp_path, "[bank]\nretries = 5\n")

    config = load(path, {"POISE_BANK__HOSTS": "a,b"}, sections=sections(bank=BankSettings))

    assert config.section(BankSettings).retries == 5
    assert config.section(BankSettings).hosts == ["a", "b"]
    assert config.sections() == {BankSettings: config.section(BankSettings)}


def test_section_may_be_named_by_a_string_and_is_imported_when_read() -> None:
    declared = sections(moods="poise.app.settings:PluginSettings")

    config = load(sections=declared)

    assert [type(each).__name__ for each in config.sections().values()] == ["PluginSettings"]


def test_section_that_nobody_declares_is_a_lookup_error() -> None:
    with pytest.raises(UnknownSectionError, match="BankSettings"):
        load().section(BankSettings)


def test_required_setting_says_how_to_give_it() -> None:
    with pytest.raises(ConfigError, match=r"club\.name is required: .* as POISE_CLUB__NAME"):
        load(sections=sections(club=ClubSettings), overrides={"club": {}})


@pytest.mark.parametrize("name", ["engine", "describe", "my-bank"])
def test_section_with_a_name_that_can_not_serve_is_refused(name: str) -> None:
    with pytest.raises(ContractError, match=f"{name}.* choose another"):
        load(sections=sections(**{name: BankSettings}))


def test_section_that_would_swallow_misspelt_keys_is_refused() -> None:
    with pytest.raises(ContractError, match="extra='forbid'"):
        load(sections=sections(loose=LooseSettings))


def test_section_of_a_blocked_plugin_is_left_unread(tmp_path: Path) -> None:
    path = toml(tmp_path, "[acme]\nkey = 'x'\n")

    config = load(path, {"POISE_ACME__URL": "y"}, unread=frozenset({"acme"}))

    assert config.sections() == {}


# -- secrets --


def test_secret_is_masked_wherever_settings_are_shown() -> None:
    config = load(None, {"POISE_BANK__KEY": "s3cr3t"}, sections=sections(bank=BankSettings))

    rows = {row.key: row for row in config.describe()}

    assert rows["bank.key"].value == "**********"
    assert str(rows["bank.key"].origin) == "POISE_BANK__KEY"
    assert "s3cr3t" not in repr(config) + repr(config.describe())
    key = config.section(BankSettings).key
    assert key is not None
    assert key.get_secret_value() == "s3cr3t"


def test_secret_that_looks_like_json_stays_a_text() -> None:
    text = '{"type": "account"}'

    config = load(None, {"POISE_BANK__KEY": text}, sections=sections(bank=BankSettings))

    key = config.section(BankSettings).key
    assert key is not None
    assert key.get_secret_value() == text


def test_wrong_secret_is_never_quoted() -> None:
    with pytest.raises(ConfigError) as caught:
        load(sections=sections(bank=BankSettings), overrides={"bank": {"key": 53_711}})

    assert "bank.key (a secret)" in str(caught.value)
    assert "53711" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_mistake_about_a_whole_section_does_not_quote_its_secrets() -> None:
    club = {"name": "closed", "password": "s3cr3t"}

    with pytest.raises(ConfigError) as caught:
        load(sections=sections(club=ClubSettings), overrides={"club": club})

    assert str(caught.value) == "argument: club: the club is closed"


# -- descriptions --


def test_every_setting_of_the_core_is_described() -> None:
    rows = load().describe()

    assert [row.key for row in rows if not row.description] == []
    assert "models" in {row.key for row in rows}
    assert "engine.turn_deadline" in {row.key for row in rows}


def test_entries_of_a_table_are_described_one_by_one() -> None:
    rows = load(overrides={"models": {"embed": "a:b"}}).describe()

    assert [(row.key, row.value) for row in rows if row.key.startswith("models")] == [
        ("models.embed", ["a:b"])
    ]


def test_engine_limits_are_the_settings_of_the_engine() -> None:
    assert load().limits() == EngineLimits()
    told = {field.name for field in attrs.fields(EngineLimits)}
    assert told <= {*EngineSettings.model_fields, "spending"}


def test_config_is_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        load().resolver = "other"
