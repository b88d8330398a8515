"""Names of the engine's spans, their attributes and its metrics, in one place.

The page `docs/reference/telemetry.md` is written from the tables below.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

# -- spans --

TURN = "poise.turn"
STAGE = "poise.stage."
TOOL = "poise.tool"
HOOK = "poise.hook."

OPERATIONS: Mapping[str, str] = {
    "embedding": "embeddings",
    "decision": "decide",
    "structured": "chat",
    "prompted": "chat",
    "text": "chat",
    "warming": "chat",
    "moderation": "moderate",
}
"""What spans and metrics call each way of asking a model."""

# -- attributes --

SESSION_ID = "poise.session.id"
TURN_ID = "poise.turn.id"
AGENT_ID = "poise.agent.id"
WAKE = "poise.turn.wake"
END = "poise.turn.end"
ROUTE = "poise.route"
ATTEMPT = "poise.model.attempt"
PROVIDER_NAME = "gen_ai.provider.name"
MODEL_NAME = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OPERATION = "gen_ai.operation.name"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - a name of an attribute
ERROR_TYPE = "error.type"
ITEMS = "poise.model.items"
TOOL_NAME = "poise.tool.name"
TOOL_KEY = "poise.tool.key"
TOOL_OUTCOME = "poise.tool.outcome"
PLUGIN = "poise.plugin"
STAGE_NAME = "poise.stage"
DEGRADATION_PART = "poise.degradation.part"

ATTRIBUTES: Mapping[str, str] = {
    SESSION_ID: "The session's id.",
    TURN_ID: "The turn's id, as on every event.",
    AGENT_ID: "The agent's id.",
    WAKE: "What woke the turn: `message`, `approval`, `operator`, `timer`, `utter`.",
    END: "How the turn ended: `sent`, `silent`, `bailed`, `failed`, `superseded`, `idle`.",
    ROUTE: "What a model was asked for, e.g. `matching.verdict`.",
    ATTEMPT: "Which try of this use it was, from 1; retries, repairs and fallbacks count on.",
    PROVIDER_NAME: "The provider's name; `poise` for a model that is offered by itself.",
    MODEL_NAME: "The model that was asked.",
    RESPONSE_MODEL: "The build that answered, where the provider says so.",
    INPUT_TOKENS: "Tokens of the prompt, cached ones included, where the provider says so.",
    CACHED_TOKENS: "Of these, read from the provider's cache.",
    OUTPUT_TOKENS: "Tokens generated.",
    INPUT_MESSAGES: "The prompt, only with `engine.capture_content`: it holds customers' words.",
    OPERATION: "`chat`, `decide`, `embeddings` or `moderate`.",
    TOKEN_TYPE: "`input` or `output`.",
    ERROR_TYPE: "The name of the error's class, `cancelled` for a request that was given up.",
    ITEMS: "How many texts or questions a request carried.",
    TOOL_NAME: "The tool's name.",
    TOOL_KEY: "The call's key, the same whenever the turn starts again.",
    TOOL_OUTCOME: "What became of the call.",
    PLUGIN: "The plugin whose hook ran.",
    STAGE_NAME: "The stage: `load`, `discover`, `match`, …",
    DEGRADATION_PART: "The kind of part that failed: `matcher`, `variable`, `on_preparing`, …",
}
"""What each attribute says."""


@attrs.frozen
class SpanKind:
    """A kind of span, as the reference page lists it.

    Attributes:
        name: With what differs in braces.
        meaning: What it covers.
        attributes: That it may have.
    """

    name: str
    meaning: str
    attributes: tuple[str, ...] = ()


SPANS: tuple[SpanKind, ...] = (
    SpanKind(
        TURN,
        "One turn, from its lease to *settled*; all others of the turn are below it.",
        (SESSION_ID, TURN_ID, AGENT_ID, WAKE, END),
    ),
    SpanKind(f"{STAGE}{{stage}}", "One stage; stages of *prepare* come once per iteration."),
    SpanKind(
        "{operation} {model}",
        "One request to a model, whether it succeeds or not.",
        (
            OPERATION,
            PROVIDER_NAME,
            MODEL_NAME,
            RESPONSE_MODEL,
            ROUTE,
            ATTEMPT,
            ITEMS,
            INPUT_TOKENS,
            CACHED_TOKENS,
            OUTPUT_TOKENS,
            INPUT_MESSAGES,
        ),
    ),
    SpanKind(TOOL, "One call of a tool.", (TOOL_NAME, TOOL_KEY, TOOL_OUTCOME)),
    SpanKind(f"{HOOK}{{hook}}", "One plugin's implementation of a hook.", (PLUGIN,)),
)
"""Every kind of span."""

# -- metrics --

OPERATION_DURATION_METRIC = "gen_ai.client.operation.duration"
TOKEN_USAGE_METRIC = "gen_ai.client.token.usage"  # noqa: S105 - a name of a metric
CACHED_TOKENS_METRIC = "poise.model.cached_tokens"
COST_METRIC = "poise.model.cost"
RETRIES_METRIC = "poise.model.retries"
FALLBACKS_METRIC = "poise.model.fallbacks"
TURN_DURATION_METRIC = "poise.turn.duration"
TURN_ENDS_METRIC = "poise.turn.ends"
STAGE_DURATION_METRIC = "poise.stage.duration"
DEGRADATIONS_METRIC = "poise.degradations"


@attrs.frozen
class Metric:
    """A metric, as it is made and as the reference page lists it.

    Attributes:
        name: As dashboards know it.
        unit: In UCUM.
        meaning: What it measures or counts.
        attributes: That its points have.
        boundaries: Of a histogram's buckets; empty for a counter.
    """

    name: str
    unit: str
    meaning: str
    attributes: tuple[str, ...]
    boundaries: tuple[float, ...] = ()


_MODEL = (OPERATION, PROVIDER_NAME, MODEL_NAME, ROUTE)
_SECONDS = tuple(0.01 * 2**step for step in range(14))  # up to 82 s
_SHORT_SECONDS = tuple(0.001 * 2**step for step in range(17))  # up to 66 s
_TOKENS = tuple(4.0**step for step in range(14))  # up to 67 million

METRICS: tuple[Metric, ...] = (
    Metric(
        OPERATION_DURATION_METRIC,
        "s",
        "How long a request to a model took.",
        (*_MODEL, ERROR_TYPE),
        _SECONDS,
    ),
    Metric(
        TOKEN_USAGE_METRIC,
        "{token}",
        "Tokens of a request to a model, by type.",
        (*_MODEL, TOKEN_TYPE),
        _TOKENS,
    ),
    Metric(
        CACHED_TOKENS_METRIC,
        "{token}",
        "Input tokens that were read from a provider's cache.",
        _MODEL,
    ),
    Metric(COST_METRIC, "{USD}", "What requests to models cost, where that is known.", _MODEL),
    Metric(
        RETRIES_METRIC,
        "{request}",
        "Requests that were sent again to the same model.",
        (PROVIDER_NAME, ROUTE),
    ),
    Metric(
        FALLBACKS_METRIC,
        "{request}",
        "Times that this provider was asked because the model before it failed.",
        (PROVIDER_NAME, ROUTE),
    ),
    Metric(
        TURN_DURATION_METRIC,
        "s",
        "How long a turn took, what follows the reply included.",
        (WAKE, END),
        _SECONDS,
    ),
    Metric(TURN_ENDS_METRIC, "{turn}", "Turns, by how they ended.", (WAKE, END)),
    Metric(
        STAGE_DURATION_METRIC,
        "s",
        "How long a stage of a turn took, each time that it ran.",
        (STAGE_NAME,),
        _SHORT_SECONDS,
    ),
    Metric(
        DEGRADATIONS_METRIC,
        "{degradation}",
        "Parts of turns that failed while the turn went on.",
        (DEGRADATION_PART,),
    ),
)
"""Every metric."""
