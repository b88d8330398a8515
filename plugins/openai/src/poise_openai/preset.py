"""Presets: what is to be known of a server that speaks this wire, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import attrs

from poise.errors import InvalidValueError


class Api(Enum):
    """Which of the two generating endpoints is used."""

    RESPONSES = "responses"
    CHAT = "chat"


class Level(Enum):
    """How a server is made to write JSON of a schema, best first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    TOOL = "tool"
    PROMPT = "prompt"


class Caching(Enum):
    """What a server keeps of the beginning of a prompt."""

    AUTOMATIC = "automatic"
    NONE = "none"


class Decisions(Enum):
    """How a server's models answer yes/no questions where their cards do not say."""

    ENDPOINT = "endpoint"
    SYSTEM_ONE = "system_one"
    LOGPROBS = "logprobs"
    STRUCTURED = "structured"


def _names(said: str | Iterable[str]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else tuple(said)


def _levels(said: Iterable[Level | str]) -> tuple[Level, ...]:
    return tuple(Level(each) for each in said)


@attrs.frozen
class Preset:
    """One kind of server: where it is, how it is paid, and where it leaves the common wire.

    Attributes:
        name: The provider's name, as routes write it; an identifier.
        base_url: Where it is, unless settings say otherwise; empty: the SDK's own address.
        key_env: Environment variables that hold the key, the first one is named in errors.
        base_url_env: Environment variables that hold the address.
        needs_key: Whether it answers nobody without a key.
        path: Appended to an address that has none: `http://localhost:8000` becomes `…/v1`.
        port: Put into an address that has none.
        api: The endpoint, unless settings say otherwise.
        azure: Addressed by deployment, and takes AD tokens.
        system_role: What it calls the role of instructions.
        max_tokens: What Chat Completions calls the limit on output.
        stream_usage: Whether it can be asked for token counts at the end of a stream.
        levels: Ways to JSON that are worth trying, best first.
        strict: Whether it takes `strict` on schemas and functions.
        reasoning: Whether its models may be told how much to think.
        cache_key: Whether it takes `prompt_cache_key`.
        caching: What it keeps of a prompt.
        decisions: How its models decide.
        encoding: Format of embeddings.
        embed_batch: Texts in one request for embeddings.
        embed_tokens: Tokens in one request for embeddings.
        embed_context: Tokens of one text, where the model's card does not say.
        moderates: Whether it has a moderation endpoint.
        headers: Sent with every request.
    """

    name: str
    base_url: str = ""
    key_env: tuple[str, ...] = attrs.field(default=(), converter=_names)
    base_url_env: tuple[str, ...] = attrs.field(default=(), converter=_names)
    needs_key: bool = True
    path: str = ""
    port: int | None = None
    api: Api = attrs.field(default=Api.CHAT, converter=Api)
    azure: bool = False
    system_role: str = "system"
    max_tokens: str = "max_tokens"
    stream_usage: bool = True
    levels: tuple[Level, ...] = attrs.field(default=tuple(Level), converter=_levels)
    strict: bool = True
    reasoning: bool = True
    cache_key: bool = False
    caching: Caching = attrs.field(default=Caching.AUTOMATIC, converter=Caching)
    decisions: Decisions = attrs.field(default=Decisions.LOGPROBS, converter=Decisions)
    encoding: str = "float"
    embed_batch: int = 128
    embed_tokens: int = 200_000
    embed_context: int = 2048
    moderates: bool = False
    headers: Mapping[str, str] = attrs.field(factory=dict, hash=False)

    def __attrs_post_init__(self) -> None:
        if not self.name.isidentifier():
            raise InvalidValueError("preset", "name", f"is {self.name!r}; it must be an identifier")
        if not self.levels:
            raise InvalidValueError(f"preset {self.name!r}", "levels", "are empty; name one")


def preset_from(name: str, said: Mapping[str, Any]) -> Preset:
    """Return the preset that a table of a data file describes.

    Raises:
        InvalidValueError: A field is unknown or has a value that it can't have.
    """
    known = {field.name for field in attrs.fields(Preset)} - {"name"}
    unknown = sorted(said.keys() - known)
    if unknown:
        raise InvalidValueError(
            f"preset {name!r}", unknown[0], f"is unknown; there are: {', '.join(sorted(known))}"
        )
    try:
        return Preset(name, **said)
    except (ValueError, TypeError) as exc:
        if isinstance(exc, InvalidValueError):
            raise
        raise InvalidValueError(f"preset {name!r}", "data", f"can't be read: {exc}") from exc


@cache
def load_presets(package: str = "poise_openai", file: str = "presets.toml") -> Mapping[str, Preset]:
    """Return the presets of a data file in a package, by name, one table each.

    Raises:
        InvalidValueError: A preset has a field that it can't have.
    """
    said = tomllib.loads(resources.files(package).joinpath(file).read_text("utf-8"))
    return MappingProxyType({name: preset_from(name, table) for name, table in said.items()})
