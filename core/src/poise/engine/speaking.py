"""The stage *compose*: which composer words the reply, and what hooks make of it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise.engine.account import Account
from poise.engine.parts import Parts
from poise.errors import ConfigError, ContractError
from poise.ports.composition import Composer
from poise.turn.context import TurnContext
from poise.turn.control import Bail
from poise.turn.ledger import CompositionLine
from poise.turn.speech import Message, Utterance, UtteranceKind
from poise.values.agents import CompositionMode


def composer_for(mode: CompositionMode, composers: Sequence[Composer]) -> Composer:
    """Return the first composer of `mode`, else of the next stricter mode, else of a freer one.

    Raises:
        ConfigError: There is no composer at all.
    """
    stricter = [each for each in CompositionMode if each >= mode]
    freer = [each for each in reversed(CompositionMode) if each < mode]
    for wanted in (*stricter, *freer):
        for composer in composers:
            if wanted in composer.modes:
                return composer
    raise ConfigError("no composer is installed; pip install 'poise[standard]'")


async def compose(
    turn: TurnContext, draft: str | None, *, parts: Parts, account: Account
) -> tuple[TurnContext, Sequence[Message]]:
    """Return what is to be said, after the hooks that may still replace it.

    Args:
        turn: A prepared turn.
        draft: A reply that a hook contributed; it is said only where the mode is fluid.
        parts: The engine's collaborators.
        account: The turn's account.
    """
    composer = composer_for(turn.mode, parts.composers)
    if draft is not None and turn.mode is CompositionMode.FLUID:
        said = [Utterance(UtteranceKind.MESSAGE, draft, note="contributed by a hook")]
    else:
        said = [utterance async for utterance in composer.compose(turn)]
    turn = attrs.evolve(turn, said=tuple(said))
    account.composition = _line(turn, composer)
    messages: list[Message] = []
    for utterance in said:
        if utterance.kind is UtteranceKind.SILENCE:
            continue
        if not utterance.text.strip():
            raise ContractError(
                f"composer {type(composer).__name__} put forward an empty message; "
                f"yield a SILENCE with its reason instead"
            )
        message: Message | None = Message(utterance.text, utterance.chosen)
        for hook in ("on_draft_generated", "on_message_generated"):
            if message is not None and parts.hooks.has(hook):
                answer = await parts.hooks.fold(hook, "message", message, turn=turn)
                message = None if isinstance(answer, Bail) else answer
        if message is not None and message.text.strip():
            messages.append(message)
    return turn, messages


def _line(turn: TurnContext, composer: Composer) -> CompositionLine:
    fields: dict[str, str] = {}
    for utterance in turn.said:
        fields.update(utterance.fields)
    return CompositionLine(
        composer=type(composer).__name__,
        mode=turn.mode.name.lower(),
        mode_set_by=turn.mode_set_by,
        candidates=tuple(
            dict.fromkeys(each for utterance in turn.said for each in utterance.candidates)
        ),
        chosen=tuple(each for utterance in turn.said for each in utterance.chosen),
        fields=fields,
        note="; ".join(
            utterance.note
            if utterance.kind is not UtteranceKind.SILENCE
            else f"silent: {utterance.text}"
            for utterance in turn.said
            if utterance.note or utterance.kind is UtteranceKind.SILENCE
        ),
    )
