"""Poise: customer-facing conversational agents governed by rules.

Names load on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from poise._homes import HOMES

if TYPE_CHECKING:
    from poise.errors import (
        AuthenticationError,
        ConfigError,
        ConflictError,
        ContextTooLongError,
        ContractError,
        DuplicateKeyError,
        DuplicateOfferError,
        HookError,
        InvalidRequestError,
        InvalidValueError,
        InvalidVerdictError,
        MalformedReplyError,
        NotFoundError,
        OverQuotaError,
        PluginLoadError,
        PoiseError,
        ProviderError,
        ProviderTimeoutError,
        ProviderUnavailableError,
        RateLimitedError,
        RefusedError,
        SpendingLimitError,
        StaleFenceError,
        StoreError,
        TruncatedError,
        UnknownModelError,
        UnknownOfferError,
        UnservedRouteError,
        UnsupportedError,
    )
    from poise.hooks.cards import (
        Cards,
    )
    from poise.hooks.findings import (
        Examination,
        Finding,
        Severity,
    )
    from poise.hooks.markers import (
        hookimpl,
        hookspec,
    )
    from poise.hooks.offers import (
        Offers,
        Sections,
    )
    from poise.ports.composition import (
        Composer,
        TermFinder,
    )
    from poise.ports.discovery import (
        Annotator,
        Discoverer,
        Progress,
    )
    from poise.ports.matching import (
        Matcher,
        Planner,
        Resolver,
    )
    from poise.ports.models import (
        DecisionModel,
        Embedder,
        ModelProvider,
        Moderator,
        PriceTable,
        Providers,
        StructuredGenerator,
        TextGenerator,
    )
    from poise.ports.runtime import (
        Bus,
        ConversationEngine,
        Dispatcher,
    )
    from poise.ports.stores import (
        ArtifactStore,
        Page,
        Repository,
        SessionStore,
        Stores,
    )
    from poise.ports.tools import (
        Extractor,
        ToolCaller,
        ToolService,
    )
    from poise.sdk.agent import (
        Agent,
    )
    from poise.sdk.annotations import (
        ToolParameter,
    )
    from poise.sdk.application import (
        Application,
        Server,
    )
    from poise.sdk.options import (
        MATCH_ALWAYS,
    )
    from poise.sdk.rules import (
        Guideline,
        Observation,
        Policy,
        RuleHandle,
    )
    from poise.sdk.session import (
        Reply,
        Session,
    )
    from poise.sdk.tags import (
        all_of,
        any_of,
    )
    from poise.sdk.tool import (
        DeclaredTool,
        tool,
    )
    from poise.sdk.variables import (
        Variable,
    )
    from poise.turn.cards import (
        ModelCard,
        Price,
        SizeClass,
    )
    from poise.turn.context import (
        StashKey,
        TurnContext,
    )
    from poise.turn.control import (
        Bail,
        Contribution,
        Skip,
        Skippable,
    )
    from poise.turn.fates import (
        Fate,
    )
    from poise.turn.generation import (
        Finish,
        Generation,
        GenerationOptions,
        ModelCall,
        Moderation,
        Reasoning,
        StructuredReply,
        TextChunk,
        ToolSpec,
        Usage,
    )
    from poise.turn.ledger import (
        Ledger,
        LedgerLine,
    )
    from poise.turn.models import (
        Answer,
        Capability,
        DecisionRequest,
        Probability,
        Question,
        TurnModels,
    )
    from poise.turn.prompts import (
        Cut,
        Prompt,
        Section,
        Stability,
    )
    from poise.turn.schemas import (
        Schema,
    )
    from poise.turn.speech import (
        Message,
    )
    from poise.turn.tooling import (
        ToolOutcome,
    )
    from poise.turn.verdicts import (
        Verdict,
        VerdictKind,
    )
    from poise.values.agents import (
        CompositionMode,
        Effort,
        OutputMode,
    )
    from poise.values.canned import (
        CannedResponse,
        Role,
    )
    from poise.values.catalog import (
        CatalogSnapshot,
    )
    from poise.values.customers import (
        Customer,
        Tag,
    )
    from poise.values.events import (
        Event,
        EventKind,
        NewEvent,
        Source,
        Status,
    )
    from poise.values.relationships import (
        DependencyMode,
    )
    from poise.values.rules import (
        Rule,
        RuleKind,
        WayIn,
        Weight,
    )
    from poise.values.scope import (
        Scope,
    )
    from poise.values.sessions import (
        SessionMode,
    )
    from poise.values.terms import (
        Term,
    )
    from poise.values.tools import (
        ArgumentSource,
        ToolCall,
        ToolContext,
        ToolResult,
    )

__all__ = [  # noqa: RUF022 - in plain order, as the layout test has it
    "Agent",
    "Annotator",
    "Answer",
    "Application",
    "ArgumentSource",
    "ArtifactStore",
    "AuthenticationError",
    "Bail",
    "Bus",
    "CannedResponse",
    "Capability",
    "Cards",
    "CatalogSnapshot",
    "Composer",
    "CompositionMode",
    "ConfigError",
    "ConflictError",
    "ContextTooLongError",
    "ContractError",
    "Contribution",
    "ConversationEngine",
    "Customer",
    "Cut",
    "DecisionModel",
    "DecisionRequest",
    "DeclaredTool",
    "DependencyMode",
    "Discoverer",
    "Dispatcher",
    "DuplicateKeyError",
    "DuplicateOfferError",
    "Effort",
    "Embedder",
    "Event",
    "EventKind",
    "Examination",
    "Extractor",
    "Fate",
    "Finding",
    "Finish",
    "Generation",
    "GenerationOptions",
    "Guideline",
    "HookError",
    "InvalidRequestError",
    "InvalidValueError",
    "InvalidVerdictError",
    "Ledger",
    "LedgerLine",
    "MATCH_ALWAYS",
    "MalformedReplyError",
    "Matcher",
    "Message",
    "ModelCall",
    "ModelCard",
    "ModelProvider",
    "Moderation",
    "Moderator",
    "NewEvent",
    "NotFoundError",
    "Observation",
    "Offers",
    "OutputMode",
    "OverQuotaError",
    "Page",
    "Planner",
    "PluginLoadError",
    "PoiseError",
    "Policy",
    "Price",
    "PriceTable",
    "Probability",
    "Progress",
    "Prompt",
    "ProviderError",
    "ProviderTimeoutError",
    "ProviderUnavailableError",
    "Providers",
    "Question",
    "RateLimitedError",
    "Reasoning",
    "RefusedError",
    "Reply",
    "Repository",
    "Resolver",
    "Role",
    "Rule",
    "RuleHandle",
    "RuleKind",
    "Schema",
    "Scope",
    "Section",
    "Sections",
    "Server",
    "Session",
    "SessionMode",
    "SessionStore",
    "Severity",
    "SizeClass",
    "Skip",
    "Skippable",
    "Source",
    "SpendingLimitError",
    "Stability",
    "StaleFenceError",
    "StashKey",
    "Status",
    "StoreError",
    "Stores",
    "StructuredGenerator",
    "StructuredReply",
    "Tag",
    "Term",
    "TermFinder",
    "TextChunk",
    "TextGenerator",
    "ToolCall",
    "ToolCaller",
    "ToolContext",
    "ToolOutcome",
    "ToolParameter",
    "ToolResult",
    "ToolService",
    "ToolSpec",
    "TruncatedError",
    "TurnContext",
    "TurnModels",
    "UnknownModelError",
    "UnknownOfferError",
    "UnservedRouteError",
    "UnsupportedError",
    "Usage",
    "Variable",
    "Verdict",
    "VerdictKind",
    "WayIn",
    "Weight",
    "all_of",
    "any_of",
    "hookimpl",
    "hookspec",
    "tool",
]

_HOME_OF = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
