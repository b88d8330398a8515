"""The settings around models: routes of an agent, cards of models, limits on spending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from poise.app.kinds import Count, Names
from poise.engine.settings import SpendingLimits
from poise.turn.cards import ModelCard, Price, SizeClass
from poise.turn.models import Capability

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _listed(value: object) -> object:
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    return value


Capabilities = Annotated[tuple[Capability, ...], BeforeValidator(_listed)]


class AgentSettings(BaseModel):
    """A table `[agents.NAME]`: what is different for one agent, by its name or id."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: Mapping[str, Names] = Field(
        default_factory=dict,
        description="Which models serve a route of this agent; comes before `[models]`.",
    )


class PriceSettings(BaseModel):
    """What a model costs, in US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars = Field(description="Fresh input.")

    output: Dollars = Field(default=0.0, description="Output, reasoning included.")

    cached: Dollars | None = Field(
        default=None, description="Input read from the provider's cache; default: as `input`."
    )

    written: Dollars | None = Field(
        default=None, description="Input written to the provider's cache; default: as `input`."
    )

    def price(self) -> Price:
        """Return the price as the engine takes it."""
        return Price(self.input, self.output, self.cached, self.written)


class CardSettings(BaseModel):
    """A table `[model_cards."provider:model"]`: what the plugins' data does not say of a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    context: Count | None = Field(
        default=None, description="Tokens that it reads and writes together."
    )

    max_output: Count | None = Field(default=None, description="Tokens that it writes at most.")

    size: SizeClass | None = Field(default=None, description="Its class: small, medium or large.")

    capabilities: Capabilities = Field(
        default=(), description="What it can be asked for; empty: whatever its provider says."
    )

    price: PriceSettings | None = Field(
        default=None, description="US dollars per million tokens: input, output, cached, written."
    )

    band: tuple[float, float] | None = Field(
        default=None,
        description="For decisions: a no up to the first probability, a yes from the second.",
    )

    questions: Count | None = Field(
        default=None, description="Questions that one decision request may hold."
    )

    dimensions: Count | None = Field(default=None, description="Length of a vector.")

    quirks: Mapping[str, Any] = Field(  # its provider says which keys there are, and their values
        default_factory=dict, description="What else its provider must know, by its own keys."
    )

    @model_validator(mode="after")
    def _rising(self) -> CardSettings:
        if self.band is not None and not 0.0 <= self.band[0] <= self.band[1] <= 1.0:
            raise ValueError(f"band is {list(self.band)}; it must rise within 0 to 1")
        return self

    def card(self, name: str) -> ModelCard:
        """Return the card of the model `name`, written `provider:model`."""
        provider, _, model = name.partition(":")
        return ModelCard(
            provider,
            model,
            context=self.context,
            max_output=self.max_output,
            size=self.size,
            capabilities=frozenset(self.capabilities),
            price=self.price.price() if self.price else None,
            band=self.band,
            questions=self.questions,
            dimensions=self.dimensions,
            quirks=dict(self.quirks),
        )


class SpendingSettings(BaseModel):
    """The section `[spending]`: what models may cost, in US dollars."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: Dollars | None = Field(default=None, description="For one turn; default: any sum.")

    session: Dollars | None = Field(default=None, description="For one session; default: any sum.")

    day: Dollars | None = Field(
        default=None, description="For all sessions of a day (UTC); default: any sum."
    )

    degrade_at: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="Share of a limit from which on turns spend less effort.",
    )

    def limits(self) -> SpendingLimits:
        """Return the limits as the engine takes them."""
        return SpendingLimits(self.turn, self.session, self.day, self.degrade_at)
