"""Settings from vendors' own variables, and secrets from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from poise.app.config import Config, load_config
from poise.errors import ConfigError, ContractError
from poise.hooks.offers import Sections


class RegionSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    endpoint: str
    token: SecretStr | None = Field(default=None, json_schema_extra={"env": ["ACME_REGION_TOKEN"]})


class ProxySettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(default="", json_schema_extra={"env": ["ACME_PROXY"]})


class AcmeSettings(BaseModel):
    """Settings of a made-up vendor."""

    model_config = ConfigDict(extra="forbid")

    api_key: SecretStr | None = Field(
        default=None, json_schema_extra={"env": ["ACME_API_KEY", "ACME_TOKEN"]}
    )
    base_url: str = Field(default="here", json_schema_extra={"env": ["ACME_BASE_URL"]})
    models: list[str] = Field(default=[], json_schema_extra={"env": ["ACME_MODELS"]})
    plain_file: str = "-"
    proxy: ProxySettings = ProxySettings()
    region: RegionSettings | None = None
    servers: dict[str, RegionSettings] = {}


def toml(folder: Path, text: str) -> Path:
    path = folder / "poise.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path | None = None, environ: Mapping[str, str] | None = None, **more: Any) -> Config:
    declared = Sections("test")
    declared.add("acme", AcmeSettings)
    found = {"POISE_CONFIG": "", **(environ or {})}
    return load_config(declared, file=path, environ=found, **more)


def key_of(config: Config) -> str | None:
    key = config.section(AcmeSettings).api_key
    return key.get_secret_value() if key else None


# -- vendors' variables --


def test_vendors_own_variable_is_read_and_named_as_the_origin() -> None:
    config = load(environ={"ACME_API_KEY": "s3cr3t", "ACME_PROXY": "p"})

    rows = {row.key: row for row in config.describe()}

    assert key_of(config) == "s3cr3t"
    assert rows["acme.api_key"].value == "**********"
    assert str(rows["acme.api_key"].origin) == "ACME_API_KEY"
    assert config.section(AcmeSettings).proxy.url == "p"
    assert str(rows["acme.proxy.url"].origin) == "ACME_PROXY"
    assert "s3cr3t" not in repr(config) + repr(rows)


@pytest.mark.parametrize(
    ("environ", "key"),
    [
        ({"ACME_API_KEY": "a", "ACME_TOKEN": "b"}, "a"),
        ({"ACME_API_KEY": "", "ACME_TOKEN": "b"}, "b"),
        ({"ACME_TOKEN": "b"}, "b"),
        ({"ACME_API_KEY": ""}, None),
    ],
)
def test_first_variable_that_says_something_counts(
    environ: dict[str, str], key: str | None
) -> None:
    assert key_of(load(environ=environ)) == key


SOURCES = {
    "file": "acme.base_url of the file",
    "vendor": "ACME_BASE_URL",
    "own": "POISE_ACME__BASE_URL",
    "argument": "acme.base_url of the program",
}


@given(speaking=st.sets(st.sampled_from(list(SOURCES))))
def test_vendors_variable_is_stronger_than_the_file_and_weaker_than_poise(
    speaking: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    said = '[acme]\nbase_url = "file"\n' if "file" in speaking else ""
    path = toml(tmp_path_factory.mktemp("settings"), said)
    environ = {SOURCES[kind]: kind for kind in ("vendor", "own") if kind in speaking}
    overrides = {"acme": {"base_url": "argument"}} if "argument" in speaking else {}

    config = load(path, environ, overrides=overrides)

    strongest = [kind for kind in SOURCES if kind in speaking]
    assert config.section(AcmeSettings).base_url == (strongest[-1] if strongest else "here")


def test_list_in_a_vendors_variable_is_written_with_commas() -> None:
    assert load(environ={"ACME_MODELS": "a, b"}).section(AcmeSettings).models == ["a", "b"]


def test_variable_fills_an_optional_table_only_where_settings_have_it(tmp_path: Path) -> None:
    path = toml(tmp_path, '[acme.region]\nendpoint = "north"\n')
    environ = {"ACME_REGION_TOKEN": "s3cr3t"}

    without, within = load(environ=environ), load(path, environ)

    assert without.section(AcmeSettings).region is None
    region = within.section(AcmeSettings).region
    assert region is not None
    assert region.token is not None
    assert region.token.get_secret_value() == "s3cr3t"


def test_variable_does_not_hide_a_mistake_about_its_section(tmp_path: Path) -> None:
    path = toml(tmp_path, 'acme = "north"\n')

    with pytest.raises(ConfigError, match=r"poise\.toml:1: acme = 'north' should be"):
        load(path, {"ACME_API_KEY": "s3cr3t"})


def test_wrong_value_names_the_vendors_variable() -> None:
    class Counted(BaseModel):
        model_config = ConfigDict(extra="forbid")

        limit: int = Field(default=1, json_schema_extra={"env": ["ACME_LIMIT"]})

    declared = Sections("test")
    declared.add("counted", Counted)

    with pytest.raises(ConfigError, match=r"^ACME_LIMIT: counted\.limit = 'many' should be"):
        load_config(declared, environ={"POISE_CONFIG": "", "ACME_LIMIT": "many"})


def test_declaration_that_is_no_list_of_names_is_the_plugins_mistake() -> None:
    class Loose(BaseModel):
        model_config = ConfigDict(extra="forbid")

        key: str = Field(default="", json_schema_extra={"env": "ACME_KEY"})

    declared = Sections("test")
    declared.add("loose", Loose)

    with pytest.raises(ContractError, match=r"setting loose\.key: .* takes a list of variables"):
        load_config(declared, environ={"POISE_CONFIG": ""})


# -- files of secrets --


@pytest.mark.parametrize("variable", ["ACME_API_KEY_FILE", "POISE_ACME__API_KEY_FILE"])
def test_secret_is_read_from_the_file_that_a_variable_names(variable: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("s3cr3t, and=more\n", encoding="utf-8")

    config = load(environ={variable: str(file)})

    assert key_of(config) == "s3cr3t, and=more"
    assert str(config.origin("acme.api_key")) == variable


def test_secret_of_an_entry_of_a_table_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("s3cr3t", encoding="utf-8")
    path = toml(tmp_path, '[acme.servers.lab]\nendpoint = "north"\n')

    config = load(path, {"POISE_ACME__SERVERS__LAB__TOKEN_FILE": str(file)})

    token = config.section(AcmeSettings).servers["lab"].token
    assert token is not None
    assert token.get_secret_value() == "s3cr3t"


@pytest.mark.parametrize(
    "environ",
    [
        {"ACME_API_KEY": "direct", "ACME_API_KEY_FILE": "gone"},
        {"ACME_API_KEY_FILE": "", "ACME_API_KEY": "direct"},
    ],
)
def test_variable_itself_counts_before_its_file(environ: dict[str, str]) -> None:
    assert key_of(load(environ=environ)) == "direct"


def test_own_variable_itself_counts_before_its_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("filed", encoding="utf-8")
    own = {"POISE_ACME__API_KEY": "direct", "POISE_ACME__API_KEY_FILE": str(file)}

    config = load(environ=own)

    assert key_of(config) == "direct"
    assert str(config.origin("acme.api_key")) == "POISE_ACME__API_KEY"


def test_field_that_is_called_file_is_a_field() -> None:
    config = load(environ={"POISE_ACME__PLAIN_FILE": "a/b"})

    assert config.section(AcmeSettings).plain_file == "a/b"


@pytest.mark.parametrize("variable", ["ACME_BASE_URL_FILE", "ACME_PROXY_FILE"])
def test_what_is_no_secret_is_not_read_from_a_file(variable: str, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("elsewhere", encoding="utf-8")

    settings = load(environ={variable: str(file)}).section(AcmeSettings)

    assert (settings.base_url, settings.proxy.url) == ("here", "")


@pytest.mark.parametrize("variable", ["ACME_TOKEN_FILE", "POISE_ACME__API_KEY_FILE"])
@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "can't be read: No such file"), (b"\n", "is empty"), (b"s3cr3t\xff", "is no text")],
)
def test_file_that_can_not_serve_is_named_and_never_quoted(
    variable: str, content: bytes | None, told: str, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError) as caught:
        load(environ={variable: str(file)})

    assert str(caught.value).startswith(f"{variable}: the file {str(file)!r} {told}")
    assert "s3cr3t" not in str(caught.value)
    assert not isinstance(caught.value.__cause__, UnicodeDecodeError)
