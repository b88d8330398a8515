"""The core's own settings: which offer fills each port, which model serves each route, limits.

Every field says what it means; `poise config show` and the reference page read it from here.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from poise.app.kinds import Count, Names, Seconds
from poise.app.model_settings import AgentSettings, CardSettings, SpendingSettings
from poise.engine.settings import EngineLimits


class PluginSettings(BaseModel):
    """The section `[plugins]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    order: Names = Field(
        default=(),
        description="Plugins whose turn hooks run first, in this order; the others follow by name.",
    )

    blocked: Names = Field(default=(), description="Plugins that are not even imported.")

    agents: Mapping[str, Names] = Field(
        default_factory=dict,
        description="By plugin, the agents on whose turns its hooks run; unnamed ones: all.",
    )


class EngineSettings(BaseModel):
    """The section `[engine]`: the limits of a turn. Times are in seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    turn_deadline: Seconds = Field(
        default=60.0,
        description="After it the customer gets the configured apology.",
    )

    tool_timeout: Seconds = Field(
        default=30.0,
        description="For a tool that names none; after it the call's outcome is unknown.",
    )

    model_timeout: Seconds = Field(default=30.0, description="For one request to a model.")

    index_timeout: Seconds = Field(
        default=600.0,
        description="For one request to a model while a catalog is indexed.",
    )

    index_retry: Seconds = Field(
        default=5.0,
        description="After a failed indexing, until it is tried again; doubles, up to 5 minutes.",
    )

    retries: int = Field(
        default=3,
        ge=0,
        description="How often a request to a model is sent again, where that may help.",
    )

    retry_wait: Seconds = Field(
        default=0.5,
        description="Before the first retry, unless the provider says; doubles, with jitter.",
    )

    repairs: int = Field(
        default=1,
        ge=0,
        description="How often a model may mend a malformed answer before the next one is asked.",
    )

    output_reserve: Count = Field(
        default=2048,
        description="Tokens of a model's window that are kept for its answer.",
    )

    capture_content: bool = Field(
        default=False,
        description="Whether prompts and answers enter spans; they hold customers' words.",
    )

    settle_wait: Seconds = Field(
        default=2.0,
        description="How long the next turn waits for what follows the reply of the last one.",
    )

    lease: Seconds = Field(
        default=20.0,
        description="How long a session stays claimed by a turn that shows no sign of life.",
    )

    lease_renewal: Seconds = Field(
        default=7.0,
        description="How often a running turn renews its claim; shorter than `lease`.",
    )

    history: Count = Field(
        default=40,
        description="How many messages and tool results a turn reads, the newest.",
    )

    tool_result_limit: Count = Field(
        default=16_000,
        description="Characters of one tool result that a prompt may hold.",
    )

    working_set: Count = Field(
        default=30, description="Above this many rules the working set is pruned."
    )

    working_set_after: Count = Field(
        default=20,
        description="How many rules are left after pruning; at most `working_set`.",
    )

    working_set_tokens: Count = Field(
        default=4_000, description="Tokens that the texts of the working set's rules may take."
    )

    working_set_share: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="The share of the window of a model that reads the working set that its rules "
        "may take: a small model follows fewer rules.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> EngineSettings:
        if self.lease_renewal >= self.lease:
            raise ValueError(
                f"lease_renewal ({self.lease_renewal:g}) must be shorter than "
                f"lease ({self.lease:g})"
            )
        if self.working_set_after > self.working_set:
            raise ValueError(
                f"working_set_after ({self.working_set_after}) must be at most "
                f"working_set ({self.working_set})"
            )
        return self

    def limits(self) -> EngineLimits:
        """Return the limits as the engine takes them."""
        return EngineLimits(
            turn_deadline=self.turn_deadline,
            tool_timeout=self.tool_timeout,
            model_timeout=self.model_timeout,
            index_timeout=self.index_timeout,
            index_retry=self.index_retry,
            retries=self.retries,
            retry_wait=self.retry_wait,
            repairs=self.repairs,
            output_reserve=self.output_reserve,
            capture_content=self.capture_content,
            settle_wait=self.settle_wait,
            lease=self.lease,
            lease_renewal=self.lease_renewal,
            history=self.history,
            tool_result_limit=self.tool_result_limit,
            working_set=self.working_set,
            working_set_after=self.working_set_after,
            working_set_tokens=self.working_set_tokens,
            working_set_share=self.working_set_share,
        )


class CoreSettings(BaseModel):
    """What an application is to be made of, and its limits.

    The choices name offers; left open (`None`), the default offer of the port is taken.
    """

    model_config = ConfigDict(protected_namespaces=())

    discoverer: str | None = Field(
        default=None,
        description="Finds the rules that a conversation makes relevant.",
    )

    annotator: str | None = Field(
        default=None, description="Says at compile time how a rule comes up."
    )

    matchers: Names = Field(
        default=(
            "always",
            "code",
            "disambiguation",
            "answering",
            "previously_applied",
            "customer_dependent",
            "low_weight",
            "observational",
            "actionable",
            "decision_batch",
        ),
        description="Judge candidates; the first that claims one judges it.",
    )

    resolver: str | None = Field(default=None, description="Settles the relations between rules.")

    planner: str | None = Field(default=None, description="Decides what a turn may spend.")

    composers: Names = Field(
        default=("canned",),
        description="Word the reply; the first that knows the turn's composition mode is taken.",
    )

    term_finder: str | None = Field(
        default=None,
        description="Finds the vocabulary that a conversation mentions.",
    )

    extractor: str | None = Field(
        default=None,
        description="Finds arguments for tools in the conversation.",
    )

    tool_caller: str | None = Field(
        default=None, description="Decides which offered tools to call."
    )

    tool_services: Names = Field(default=("functions",), description="Run tools.")

    may_instruct: Names = Field(
        default=("functions",),
        description="Tool services whose results may carry instructions for the turn.",
    )

    stores: str | None = Field(
        default=None, description="Keeps sessions, customers and what is derived."
    )

    dispatcher: str | None = Field(
        default=None, description="Brings what wakes a session to the engine."
    )

    bus: str | None = Field(
        default=None,
        description="Carries what is not stored: live statuses and chunks.",
    )

    engine_name: str | None = Field(
        default=None,
        description="The engine, where another than Poise's own is to run turns.",
    )

    models: Mapping[str, Names] = Field(
        default_factory=dict,
        description="Which models serve a route, in order: `provider:model`, or an offer's name.",
    )

    agents: Mapping[str, AgentSettings] = Field(
        default_factory=dict,
        description="By an agent's name or id, what is different for it: its own `models`.",
    )

    model_cards: Mapping[str, CardSettings] = Field(
        default_factory=dict,
        description="By `provider:model`, limits, prices and quirks that plugins do not know.",
    )

    spending: SpendingSettings = Field(
        default_factory=SpendingSettings,
        description="What models may cost.",
    )

    plugins: PluginSettings = Field(
        default_factory=PluginSettings,
        description="Order and blocking of plugins.",
    )

    engine: EngineSettings = Field(default_factory=EngineSettings, description="Limits of a turn.")

    @field_validator("model_cards")
    @classmethod
    def _named(cls, cards: Mapping[str, CardSettings]) -> Mapping[str, CardSettings]:
        for name in cards:
            provider, _, model = name.partition(":")
            if not provider or not model:
                raise ValueError(f"{name!r} names no model; write 'provider:model'")
        return cards
