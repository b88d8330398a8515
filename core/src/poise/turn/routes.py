"""The routes: every use of a model by name, and what it needs."""

from __future__ import annotations

import attrs

from poise.turn.cards import SizeClass
from poise.turn.models import Capability


@attrs.frozen
class Route:
    """A use of a model.

    Attributes:
        name: As settings write it.
        capability: What it asks for.
        size: The class that it takes where settings name a provider and no model.
        purpose: What it is for.
    """

    name: str
    capability: Capability
    size: SizeClass
    purpose: str


_S, _M, _L = SizeClass.SMALL, SizeClass.MEDIUM, SizeClass.LARGE

ROUTES: tuple[Route, ...] = (
    Route("matching.verdict", Capability.DECIDE, _M, "Judges whether candidates apply."),
    Route("matching.reconsider", Capability.DECIDE, _L, "Judges what stayed undecided."),
    Route("matching.rank", Capability.DECIDE, _S, "Orders candidates by how likely they apply."),
    Route("matching.disambiguate", Capability.STRUCTURED, _M, "Finds what to ask the customer."),
    Route("journeys.step", Capability.STRUCTURED, _M, "Finds the next step of a journey."),
    Route("tools.infer", Capability.STRUCTURED, _M, "Decides which offered tools to call."),
    Route("tools.extract", Capability.STRUCTURED, _S, "Finds arguments in the conversation."),
    Route("compose.draft", Capability.TEXT, _L, "Drafts a reply to choose approved words by."),
    Route("compose.select", Capability.DECIDE, _M, "Chooses among approved responses."),
    Route("compose.message", Capability.TEXT, _L, "Words the reply."),
    Route("compose.preamble", Capability.TEXT, _S, "Words a filler while work goes on."),
    Route("compose.field", Capability.STRUCTURED, _S, "Fills a generative field of a template."),
    Route("review.reply", Capability.STRUCTURED, _L, "Holds a draft against the rules."),
    Route("review.tools", Capability.STRUCTURED, _L, "Holds proposed calls against the rules."),
    Route("settle.fulfilled", Capability.DECIDE, _S, "Says which rules the reply carried out."),
    Route("index.annotate", Capability.STRUCTURED, _M, "Says at compile time how rules come up."),
    Route("index.signals", Capability.STRUCTURED, _M, "Proposes signals."),
    Route("screen", Capability.MODERATE, _S, "Screens what comes in and goes out."),
    Route("compact", Capability.TEXT, _S, "Sums up a long conversation."),
    Route("embed", Capability.EMBED, _S, "Turns texts into vectors."),
)
"""Every route of the engine and its own plugins; other plugins may use names of their own."""

_BY_NAME = {route.name: route for route in ROUTES}


def route_named(name: str) -> Route | None:
    """Return the route of that name, or `None` for one that a plugin made up."""
    return _BY_NAME.get(name)
