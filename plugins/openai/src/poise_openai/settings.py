"""The section `openai` of the settings, with a table for every preset."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    create_model,
)

from poise_openai.preset import Api, Preset, load_presets

_FORBID = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ServerSettings(BaseModel):
    """What can be said of any server; every setting has a default that works."""

    model_config = _FORBID

    api_key: SecretStr | None = Field(default=None, description="The key.")
    base_url: str | None = Field(
        default=None, description="Where the server is; governs every kind of call."
    )
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="Sent with every request."
    )
    model: str | None = Field(
        default=None, description="What generates where a route names the provider alone."
    )
    embedding_model: str | None = Field(
        default=None, description="What embeds where a route names the provider alone."
    )
    api: Api | None = Field(
        default=None,
        description="`responses` or `chat`; unset: what the server is known to take.",
    )
    concurrency: PositiveInt | None = Field(
        default=None, description="Requests under way at once; unset: any number."
    )
    connect_timeout: PositiveFloat = Field(
        default=10.0, description="Seconds to reach the server; the rest is the route's deadline."
    )


class AzureSettings(ServerSettings):
    """What can be said of a resource on Azure."""

    endpoint: str | None = Field(
        default=None,
        description="The resource's address, `https://NAME.openai.azure.com`.",
        json_schema_extra={"env": ["AZURE_OPENAI_ENDPOINT"]},
    )
    api_version: str | None = Field(
        default=None,
        description="Version of the dated API; unset: the undated one, `/openai/v1`.",
        json_schema_extra={"env": ["OPENAI_API_VERSION"]},
    )
    ad_token: SecretStr | None = Field(
        default=None,
        description="A Microsoft Entra (AD) token in place of a key.",
        json_schema_extra={"env": ["AZURE_OPENAI_AD_TOKEN"]},
    )
    ad_token_provider: str | None = Field(
        default=None,
        description="`package.module:function` that returns a fresh token, asked every request.",
    )


def settings_for(preset: Preset) -> type[ServerSettings]:
    """Return the settings model of a preset, with the environment variables that its data name."""
    base = AzureSettings if preset.azure else ServerSettings
    said: Mapping[str, tuple[tuple[str, ...], Any]] = {
        "api_key": (preset.key_env, SecretStr | None),
        "base_url": (preset.base_url_env, str | None),
    }
    fields: dict[str, Any] = {
        name: (
            kind,
            Field(
                default=None,
                description=base.model_fields[name].description,
                json_schema_extra={"env": list(variables)},
            ),
        )
        for name, (variables, kind) in said.items()
        if variables
    }
    return create_model(
        f"{preset.name.capitalize()}Settings",
        __base__=base,
        __doc__=f"What can be said of the preset `{preset.name}`.",
        __module__=__name__,
        **fields,
    )


PRESET_SETTINGS: Mapping[str, type[ServerSettings]] = MappingProxyType(
    {name: settings_for(preset) for name, preset in load_presets().items() if name != "openai"}
)
"""The settings model of every preset here but the vendor's own, which is the section itself."""

if TYPE_CHECKING:

    class PresetsSettings(BaseModel):
        """A table for every preset; its fields come from the data."""
else:
    PresetsSettings = create_model(
        "PresetsSettings",
        __config__=_FORBID,
        __doc__="A table for every preset.",
        __module__=__name__,
        **{
            name: (model, Field(default_factory=model, description=f"The preset `{name}`."))
            for name, model in PRESET_SETTINGS.items()
        },
    )


class OpenAISettings(ServerSettings):
    """The vendor's own settings, those of a compatible server in its place, and the presets'."""

    api_key: SecretStr | None = Field(
        default=None,
        description="The key; a server of one's own needs none.",
        json_schema_extra={"env": ["OPENAI_API_KEY"]},
    )
    base_url: str | None = Field(
        default=None,
        description="A compatible server in the vendor's place; governs every kind of call.",
        json_schema_extra={"env": ["OPENAI_BASE_URL"]},
    )
    organization: str | None = Field(
        default=None,
        description="The organization that pays.",
        json_schema_extra={"env": ["OPENAI_ORG_ID"]},
    )
    project: str | None = Field(
        default=None,
        description="The project that pays.",
        json_schema_extra={"env": ["OPENAI_PROJECT_ID"]},
    )
    presets: PresetsSettings = Field(
        default_factory=PresetsSettings, description="A table for every preset."
    )

    def of(self, preset: str) -> ServerSettings:
        """Return the settings of a preset of this package."""
        if preset == "openai":
            return self
        found: ServerSettings = getattr(self.presets, preset)
        return found
