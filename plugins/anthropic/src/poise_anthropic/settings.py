"""The section `anthropic` of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, SecretStr


class AnthropicSettings(BaseModel):
    """How the vendor, or a server that speaks as it does, is reached; a key is all it needs."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    api_key: SecretStr | None = Field(
        default=None,
        description="The key; a server of one's own needs none.",
        json_schema_extra={"env": ["ANTHROPIC_API_KEY"]},
    )
    auth_token: SecretStr | None = Field(
        default=None,
        description="A bearer token in place of a key; the key counts where both are there.",
        json_schema_extra={"env": ["ANTHROPIC_AUTH_TOKEN"]},
    )
    base_url: str | None = Field(
        default=None,
        description="A gateway or a compatible server; unset: the vendor.",
        json_schema_extra={"env": ["ANTHROPIC_BASE_URL"]},
    )
    headers: Mapping[str, SecretStr] = Field(
        default_factory=dict, description="Sent with every request."
    )
    concurrency: PositiveInt | None = Field(
        default=None, description="Requests under way at once; unset: any number."
    )
    cache_ttl: Literal["5m", "1h"] = Field(
        default="5m",
        description="How long a prompt's stable part is cached; an hour costs more to write.",
    )
    connect_timeout: PositiveFloat = Field(
        default=10.0, description="Seconds to reach the server; the rest is the route's deadline."
    )
