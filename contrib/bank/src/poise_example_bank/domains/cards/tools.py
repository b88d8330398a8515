"""What the agent can do with cards."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

import poise
from poise_example_bank.services import Bank, UnknownReferenceError

CardEnding = Annotated[
    str,
    poise.ToolParameter(
        description="The last four digits of the card",
        pattern=r"\d{4}",
        question="Which card is it? Please tell me its last four digits.",
    ),
]


@attrs.frozen
class CardTools:
    """The domain's tools."""

    freeze_card: poise.DeclaredTool[..., Any]
    order_replacement: poise.DeclaredTool[..., Any]
    list_cards: poise.DeclaredTool[..., Any]


def card_tools(bank: Bank) -> CardTools:
    """Return the tools over one bank."""

    @poise.tool(consequential=True)
    async def freeze_card(context: poise.ToolContext, card_ending: CardEnding) -> dict[str, str]:
        """Freeze a card so that nobody can pay with it."""
        try:
            card = await bank.freeze(context.customer, card_ending)
        except UnknownReferenceError as exc:
            return {"card_problem": str(exc)}
        return {"card_ending": card.number_ends, "card_state": card.state}

    @poise.tool(consequential=True)
    async def order_replacement(
        context: poise.ToolContext, card_ending: CardEnding
    ) -> dict[str, str]:
        """Order a new card in place of one that no longer works."""
        try:
            card = await bank.replace(context.customer, card_ending)
        except UnknownReferenceError as exc:
            return {"card_problem": str(exc)}
        arrives = f"{card.arrives:%d %B}" if card.arrives else "the end of next week"
        return {"new_card_ending": card.number_ends, "new_card_arrives": arrives}

    @poise.tool
    async def list_cards(context: poise.ToolContext) -> dict[str, str]:
        """List the customer's cards with their state."""
        cards = await bank.cards(context.customer)
        listed = "; ".join(f"{each.kind} card {each.number_ends} ({each.state})" for each in cards)
        return {"cards": listed}

    return CardTools(freeze_card, order_replacement, list_cards)
