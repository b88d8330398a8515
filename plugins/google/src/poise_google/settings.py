"""The sections `google` and `vertex` of the settings."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, SecretStr


class ServiceSettings(BaseModel):
    """What both of Google's services may be told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    concurrency: PositiveInt | None = Field(
        default=None,
        description="Requests that may be under way at once; default: any number.",
    )
    connect_timeout: PositiveFloat = Field(
        default=15.0,
        description="Seconds for opening a connection; how long an answer may take, routes say.",
    )
    api_version: str | None = Field(
        default=None,
        description="Of Google's API, e.g. `v1beta` for previews; default: what the SDK takes.",
    )
    cache: Literal["implicit", "explicit"] = Field(
        default="implicit",
        description="`explicit` stores long beginnings of prompts at Google, and pays for storage.",
    )
    cache_ttl: PositiveInt = Field(
        default=600,
        description="Seconds for which an explicitly stored beginning is kept.",
    )


class GoogleSettings(ServiceSettings):
    """How the Gemini API is reached."""

    api_key: SecretStr | None = Field(
        default=None,
        description="The key of the Gemini API.",
        json_schema_extra={"env": ["GEMINI_API_KEY", "GOOGLE_API_KEY"]},
    )
    base_url: str | None = Field(
        default=None,
        description="Where the API is, if elsewhere than at Google's.",
        json_schema_extra={"env": ["GOOGLE_GEMINI_BASE_URL"]},
    )


class VertexSettings(ServiceSettings):
    """How Vertex AI is reached: by the application default credentials, or by a key."""

    project: str | None = Field(
        default=None,
        description="The Google Cloud project; default: that of the credentials.",
        json_schema_extra={"env": ["GOOGLE_CLOUD_PROJECT"]},
    )
    location: str = Field(
        default="global",
        description="The region that serves, e.g. `europe-west4`.",
        json_schema_extra={"env": ["GOOGLE_CLOUD_LOCATION"]},
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="A key of Vertex AI in express mode; without one, credentials are looked for.",
    )
    base_url: str | None = Field(
        default=None,
        description="Where the API is, if elsewhere than at Google's.",
        json_schema_extra={"env": ["GOOGLE_VERTEX_BASE_URL"]},
    )
