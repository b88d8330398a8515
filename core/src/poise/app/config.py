"""The settings of one application: read from all sources, checked, and able to say where from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import attrs
from pydantic import BaseModel, Field, PrivateAttr, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from poise.app.layers import (
    DEFAULT,
    Key,
    Layer,
    Origin,
    argument_layer,
    environment_layer,
    file_layer,
    merged_origins,
    settings_file,
)
from poise.app.mistakes import mistakes
from poise.app.settings import CoreSettings, PluginSettings
from poise.app.shape import decode_text, entry_of, fields_of, is_secret, model_within
from poise.app.vendors import read_secret, secret_in_file, vendor_layer
from poise.engine.settings import EngineLimits
from poise.errors import ConfigError, ContractError
from poise.hooks.offers import Section, Sections, load

S = TypeVar("S", bound=BaseModel)

MASK = "**********"


@attrs.frozen
class SettingRow:
    """One setting as it stands: its dotted key, its value (masked if secret), origin, meaning."""

    key: str
    value: Any  # JSON
    origin: Origin
    description: str


@attrs.define
class UnknownSectionError(ConfigError, LookupError):
    """No plugin declares a settings section of that model."""

    model: str

    def __str__(self) -> str:
        return (
            f"no loaded plugin declares a settings section of type {self.model}; "
            f"declare it in poise_config"
        )


class Config(CoreSettings, BaseSettings):
    """The settings of one application, with the sections of its plugins; frozen."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        hide_input_in_errors=True,
    )

    _origins: Mapping[Key, Origin] = PrivateAttr(default_factory=dict)
    _declared: tuple[str, ...] = PrivateAttr(default=())
    _file: Path | None = PrivateAttr(default=None)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read nothing by itself: `load_config` says which sources there are."""
        return (init_settings,)

    @property
    def file(self) -> Path | None:
        """The settings file that was read, or `None`."""
        return self._file

    def limits(self) -> EngineLimits:
        """Return the limits of a turn as the engine takes them."""
        return attrs.evolve(self.engine.limits(), spending=self.spending.limits())

    def section(self, model: type[S]) -> S:
        """Return a plugin's settings by their model.

        Raises:
            UnknownSectionError: No loaded plugin declares that model.
        """
        found = self.sections().get(model)
        if not isinstance(found, model):
            raise UnknownSectionError(model.__name__)
        return found

    def sections(self) -> Mapping[type, BaseModel]:
        """Return the settings of every plugin that declares some, by model."""
        return MappingProxyType({type(each := getattr(self, n)): each for n in self._declared})

    def origin(self, path: str) -> Origin:
        """Return where the value at a dotted path comes from, e.g. `engine.turn_deadline`."""
        found = {".".join(key): origin for key, origin in self._origins.items()}
        return found.get(path, DEFAULT)

    def describe(self) -> tuple[SettingRow, ...]:
        """Return every setting, the core's first, then each plugin's section; secrets masked."""
        plain = self.model_dump(mode="json", by_alias=True)
        return tuple(self._rows(type(self), plain, ""))

    def _rows(
        self, model: type[BaseModel], plain: Mapping[str, Any], above: str
    ) -> Iterator[SettingRow]:
        for name, field in fields_of(model).items():
            key = f"{above}.{name}" if above else name
            value = plain[name]
            inner = model_within(field.annotation)
            entry = model_within(entry_of(field.annotation))
            if inner is not None and isinstance(value, Mapping):
                yield from self._rows(inner, value, key)
            elif entry is not None and isinstance(value, Mapping) and value:
                for name_of_entry, each in value.items():
                    yield from self._rows(entry, each, f"{key}.{name_of_entry}")
            elif isinstance(value, Mapping) and value:
                for entry, each in value.items():
                    yield self._row(f"{key}.{entry}", each, field)
            else:
                yield self._row(key, value, field)

    def _row(self, key: str, value: Any, field: FieldInfo) -> SettingRow:  # any JSON
        shown = MASK if is_secret(field.annotation) and value else value
        return SettingRow(key, shown, self.origin(key), field.description or "")


class _LayerSource(PydanticBaseSettingsSource):
    """One layer, as pydantic-settings takes it."""

    def __init__(self, settings: type[BaseSettings], layer: Layer) -> None:
        super().__init__(settings)
        self._layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._layer.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return dict(self._layer.values)


def load_config(
    sections: Sections | None = None,
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    unread: frozenset[str] = frozenset(),
) -> Config:
    """Return the settings: defaults < file < vendors' variables < `POISE_…` < arguments.

    Args:
        sections: What plugins declare.
        file: The settings file; default: `POISE_CONFIG`, else `poise.toml` if there is one.
        environ: The environment; default: the process's.
        overrides: What the program says; nested, or by dotted keys.
        unread: Names of sections to leave alone: those of blocked and failed plugins.

    Raises:
        ConfigError: A source can't be read, or says something that no setting takes; the message
            names the source, the key, and what to write instead.
        ContractError: A plugin's section is no model, or its name or model can't serve.
    """
    settings = _with_sections(Sections() if sections is None else sections)
    environ = os.environ if environ is None else environ
    path = settings_file(file, environ)
    weaker = [file_layer(path)] if path else []
    stronger = [_environment(settings, environ, unread), argument_layer(overrides or {})]
    vendors = vendor_layer(settings, environ, [*weaker, *stronger])
    layers = [*weaker, vendors, *stronger]
    read = [_without(layer, unread - fields_of(settings).keys()) for layer in layers]
    origins = merged_origins(read)
    config = _validated(settings, read, origins)
    config._origins = origins
    config._declared = tuple(name for name in settings.model_fields if name not in _CORE)
    config._file = path
    return config


def load_plugin_settings(
    *,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> PluginSettings:
    """Return the section `[plugins]` alone: what must be known before plugins are loaded.

    Raises:
        ConfigError: As `load_config`, for that section alone.
    """

    class OnlyPlugins(BaseModel):
        plugins: PluginSettings = PluginSettings()

    environ = os.environ if environ is None else environ
    path = settings_file(file, environ)
    layers = [
        *([file_layer(path)] if path else []),
        environment_layer(
            environ,
            accepts=lambda _, key: key[0] == "plugins",
            decode=lambda key, text: decode_text(OnlyPlugins, key, text),
        ),
        argument_layer(overrides or {}),
    ]
    only = [
        attrs.evolve(layer, values={n: v for n, v in layer.values.items() if n == "plugins"})
        for layer in layers
    ]
    return _validated(Config, only, merged_origins(only)).plugins


def _validated(
    settings: type[Config], layers: list[Layer], origins: Mapping[Key, Origin]
) -> Config:
    class Layered(settings):  # type: ignore[misc, valid-type]  # mypy knows no dynamic base
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: type[BaseSettings], **_sources: PydanticBaseSettingsSource
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return tuple(_LayerSource(settings_cls, layer) for layer in reversed(layers))

    try:
        config: Config = Layered()
    except ValidationError as exc:
        # Not `from exc`: pydantic's own text quotes the values, secrets among them.
        raise ConfigError(mistakes(exc, settings, origins)) from None
    return config


# -- plugins' sections --

_CORE = frozenset(Config.model_fields)


def _with_sections(sections: Sections) -> type[Config]:
    fields: dict[str, Any] = {}
    for section in sections.all():
        model = _section_model(section)
        fields[section.name] = (model, Field(default_factory=model, description=model.__doc__))
    return create_model("Settings", __base__=Config, **fields) if fields else Config


def _section_model(section: Section) -> type[BaseModel]:
    where = f"settings section {section.name!r} of plugin {section.plugin!r}"
    if section.name in _CORE or hasattr(Config, section.name) or not section.name.isidentifier():
        raise ContractError(f"{where}: the name is taken or can't be written; choose another")
    model = load(section.model, section.plugin)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ContractError(f"{where}: {section.model!r} is no pydantic model")
    if model.model_config.get("extra") != "forbid":
        raise ContractError(
            f"{where}: a misspelt key would go unnoticed; "
            f"give {model.__name__} model_config = ConfigDict(extra='forbid')"
        )
    return model


# -- sources --


def _environment(
    settings: type[Config], environ: Mapping[str, str], unread: frozenset[str]
) -> Layer:
    known = fields_of(settings)

    def accepts(variable: str, key: Key) -> bool:
        if key[0] in known:
            return True
        if key[0] in unread:
            return False
        near = get_close_matches(key[0], known, n=1, cutoff=0.8)
        # Orchestrators put names such as POISE_PORT into every environment, so a name that looks
        # like no setting of ours is not one; a nested or a nearly right one is a mistake.
        if near or len(key) > 1:
            mend = f"did you mean POISE_{near[0].upper()}?" if near else _no_section(key[0])
            raise ConfigError(f"{variable}: unknown setting {'.'.join(key)!r}; {mend}")
        return False

    def secret(key: Key, variable: str) -> tuple[Key, str] | None:
        named = secret_in_file(settings, key)
        return None if named is None else (named, read_secret(variable, environ[variable]))

    return environment_layer(
        environ,
        accepts=accepts,
        decode=lambda key, text: decode_text(settings, key, text),
        secret=secret,
    )


def _no_section(name: str) -> str:
    return f"no loaded plugin declares the section [{name}]; is poise-{name} installed?"


def _without(layer: Layer, names: frozenset[str]) -> Layer:
    return Layer(
        {name: value for name, value in layer.values.items() if name not in names},
        {key: origin for key, origin in layer.origins.items() if key[0] not in names},
    )
