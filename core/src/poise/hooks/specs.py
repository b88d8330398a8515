"""The hook specifications: signatures and docstrings alone, in the order a turn meets them."""

from __future__ import annotations

from collections.abc import Sequence

from poise.hooks.cards import Cards
from poise.hooks.findings import Examination, Finding
from poise.hooks.markers import hookspec
from poise.hooks.offers import Offers, Sections
from poise.turn.context import TurnContext
from poise.turn.control import Bail, Contribution, Skip
from poise.turn.generation import Usage
from poise.turn.requests import ModelRequest
from poise.turn.speech import Message
from poise.turn.tooling import ToolOutcome
from poise.values.catalog import CatalogSnapshot
from poise.values.events import Event, NewEvent
from poise.values.rules import Rule
from poise.values.tools import ToolCall

# -- start-up: plain functions, called once --


@hookspec
def poise_config(sections: Sections) -> None:
    """Declare the plugin's section of the settings.

    Order: by plugin name. Failure: the start fails and names the plugin. Since: 0.1
    """


@hookspec
def poise_provide(offers: Offers) -> None:
    """Offer implementations of ports.

    Order: by plugin name. Failure: the start fails and names the plugin. Since: 0.1
    """


@hookspec
def poise_models(cards: Cards) -> None:
    """Say what is known of models: limits, classes, capabilities, prices; best from a data file.

    A plugin may say it of any provider's models, its own or not.

    Order: by plugin name. Failure: the start fails and names the plugin. Since: 0.1
    """


@hookspec
def poise_lint(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return what is doubtful about a catalog; called at start and after each change.

    Order: by plugin name. Failure: logged, and an error where `poise lint` asks; the start goes
    on. Since: 0.1
    """
    raise NotImplementedError


# -- on request: `poise lint` --


@hookspec
async def poise_examine(examination: Examination) -> Sequence[Finding]:
    """Return what is doubtful about a catalog and takes its time to find; for `poise lint` alone.

    The catalog is annotated and indexed; texts may be embedded and scored.

    Order: by plugin name, one at a time. Failure: a finding that names the plugin; the other
    checks go on. Cancellation: passes. Since: 0.1
    """
    raise NotImplementedError


# -- what comes in --


@hookspec
async def on_event(event: NewEvent) -> NewEvent | Bail | None:
    """Mask, replace or refuse an event before it is stored.

    Order: one at a time, in the settings' order, then by plugin name; each sees what the one
    before it returned.

    Args:
        event: What a customer, a person or a program is about to append.

    Returns:
        Another event to store instead, a `Bail` to refuse it, or `None` to go on.

    Failure: the event is refused. Cancellation: passes. Since: 0.1
    """


# -- a turn --


@hookspec
async def on_acknowledging(turn: TurnContext) -> Bail | Skip | Contribution | None:
    """Decide whether the turn happens at all, before anything is shown; a bail leaves no trace.

    Order: in the settings' order, then by plugin name. Returns: see `Bail`, `Skip`,
    `Contribution`. Failure: a degradation in the ledger. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_acknowledged(turn: TurnContext) -> Bail | Skip | Contribution | None:
    """Act once the customer sees that the message was taken.

    Order: in the settings' order, then by plugin name. Returns: see `Bail`, `Skip`,
    `Contribution`. Failure: a degradation in the ledger. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_preparing(turn: TurnContext) -> Bail | Skip | Contribution | None:
    """Act once everything is loaded and planned, before the first preparation pass.

    Order: in the settings' order, then by plugin name. Returns: see `Bail`, `Skip`,
    `Contribution`. Failure: a degradation in the ledger. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_preparation_iteration_start(
    turn: TurnContext,
) -> Bail | Skip | Contribution | None:
    """Act before a preparation pass; a bail ends the turn.

    Order: in the settings' order, then by plugin name. Returns: see `Bail`, `Skip`,
    `Contribution`. Failure: a degradation in the ledger. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_preparation_iteration_end(turn: TurnContext) -> Bail | Contribution | None:
    """Act after a preparation pass; a bail ends preparation, and the reply is made.

    Order: in the settings' order, then by plugin name. Returns: see `Bail`, `Contribution`.
    Failure: a degradation in the ledger. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_rule_selected(rule: Rule, turn: TurnContext) -> None:
    """Take note that a rule survived resolution, once per turn.

    Order: in the settings' order, then by plugin name. Failure: a degradation in the ledger.
    Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_model_request(route: str, request: ModelRequest, turn: TurnContext | None) -> None:
    """Take note of a request before it goes out, each try anew; `turn` is `None` while indexing.

    Order: in the settings' order, then by plugin name. Failure: a degradation in the ledger.
    Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_model_response(
    route: str,
    model: str,
    milliseconds: float,
    error: str | None,
    turn: TurnContext | None,
    usage: Usage | None,
    attempt: int,
) -> None:
    """Take note of a model's answer, or of its failure; `attempt` counts from 1.

    Order: in the settings' order, then by plugin name. Failure: a degradation in the ledger.
    Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_tool_call(call: ToolCall, turn: TurnContext) -> ToolCall | Bail | None:
    """Replace or refuse a tool call that the gate has let through.

    Order: in the settings' order, then by plugin name; each sees what the one before returned.
    Returns: another call (which passes the gate again), a `Bail` whose reason becomes the
    refusal, or `None`. Failure: the call is refused. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_tool_result(outcome: ToolOutcome, turn: TurnContext) -> None:
    """Take note of what came of a tool call.

    Order: in the settings' order, then by plugin name. Failure: a degradation in the ledger.
    Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_generating_messages(turn: TurnContext) -> Bail | Contribution | None:
    """Act once preparation is over, before the reply is worded.

    Order: in the settings' order, then by plugin name. Returns: a `Bail` ends the turn with
    `ready`; a `Contribution` with a draft is worded from. Failure: a degradation in the ledger.
    Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_draft_generated(message: Message, turn: TurnContext) -> Message | Bail | None:
    """Replace or hold back a composed message before review.

    Order: in the settings' order, then by plugin name; each sees what the one before returned.
    Returns: another message, a `Bail` to say nothing, or `None`. Failure: becomes the turn's
    error, which names the plugin. Cancellation: passes. Since: 0.1
    """


@hookspec
async def on_message_generated(message: Message, turn: TurnContext) -> Message | Bail | None:
    """Replace or hold back the agent's words, after review and before they are sent.

    Order: in the settings' order, then by plugin name; each sees what the one before returned.

    Args:
        message: The words about to be sent; a frozen value.
        turn: The turn that produced them.

    Returns:
        Another message to send instead, a `Bail` to send nothing, or `None` to go on.

    Failure: becomes the turn's error, which names the plugin.
    Cancellation: passes; a new message restarts the turn until its words have left.
    Since: 0.1
    """


@hookspec
async def on_messages_emitted(messages: Sequence[Event], turn: TurnContext) -> None:
    """Take note of what was said; it is stored and can't be taken back.

    Order: in the settings' order, then by plugin name. Failure: a degradation, logged.
    Cancellation: shielded; keep it short. Since: 0.1
    """


@hookspec
async def on_rule_message(rule: Rule, turn: TurnContext) -> None:
    """Take note that a reply was sent while `rule` was active.

    Order: in the settings' order, then by plugin name. Failure: a degradation, logged.
    Cancellation: shielded; keep it short. Since: 0.1
    """


@hookspec
async def on_error(error: Exception, turn: TurnContext | None) -> None:
    """Take note that a turn failed; the customer has been sent the apology.

    Order: in the settings' order, then by plugin name. Failure: logged. Cancellation: shielded.
    Since: 0.1
    """


# -- the catalog --


@hookspec
async def on_catalog_changed(catalog: CatalogSnapshot) -> None:
    """Take note of a new catalog version, once it serves turns.

    Order: in the settings' order, then by plugin name. Failure: logged. Cancellation: passes.
    Since: 0.1
    """


FOLDING = frozenset({"on_event", "on_tool_call", "on_draft_generated", "on_message_generated"})
"""Hooks whose implementations see what the one before returned; they fail closed."""
