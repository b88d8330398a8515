"""Texts that break things elsewhere: kept verbatim, never filled, never run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import poise
from poise import (
    Application,
    tool,
)
from poise.errors import (
    InvalidValueError,
)
from poise.testing.session_laws import ledgers
from poise.values.agents import DEFAULT_APOLOGY

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

ODD_TEXTS = {
    "braces": "{}",
    "field": "{name}",
    "double braces": "{{…}}",
    "expression": "{{ 7 * 7 }}",
    "statement": "{% for x in y %}",
    "format": "%s {0!r:>10}",
    "attributes": "{std.__class__.__mro__}",
    "quotes": "\"'`\\",
    "line breaks": "a\r\nb\u2028c",
    "right to left": "مرحبا {} 你好",
}


def degraded(reply: poise.Reply) -> Mapping[str, str]:
    """Return what failed on a turn, with its reason."""
    assert reply.ledger is not None
    return {each.part: each.reason for each in reply.ledger.degradations}


# -- texts --


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
async def test_empty_message_is_refused_and_nothing_is_stored(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        with pytest.raises(InvalidValueError, match="empty"):
            await session.say(text)

        assert await session.events() == ()
        await shop.still_serves(session)


@pytest.mark.parametrize(
    "text",
    [
        "open " * 200_000,
        "o\0p\0e\0n",
        "open \ud800 \udfff",
        "\u202eopen\u202c",
        "👩‍👩‍👧‍👦" * 100,
        *ODD_TEXTS.values(),
    ],
    ids=["1 MB", "null bytes", "lone surrogates", "overrides", "emoji", *ODD_TEXTS],
)
async def test_customer_may_write_anything_and_it_is_kept_verbatim(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say(text)

        assert reply.messages
        assert reply.text != DEFAULT_APOLOGY
        assert not degraded(reply)
        assert (await session.events())[0].text == text
        await shop.still_serves(session)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_braces_in_a_rule_are_text(open_application: Open, shop: Any, text: str) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy(
            f"Odd {text}",
            f"Say {text}",
            when=f"the customer says {text}",
            signals=[f"odd {text}"],
            canned_responses=["Odd indeed."],
        )
        await agent.create_term(f"term {text}", f"means {text}")
        session = await app.open_session(agent)

        reply = await session.say(f"odd {text}")

        assert reply.text == "Odd indeed."
        assert not degraded(reply)
        await shop.still_serves(session)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_braces_in_a_value_are_said_as_they_stand_and_never_filled(
    open_application: Open, shop: Any, text: str
) -> None:
    """B-111, its deterministic part: what a tool, a name or a variable says is data."""

    async def look_it_up() -> poise.ToolResult:
        return poise.ToolResult(data=text, fields={"found": text})

    async with open_application() as app:
        agent = await shop.open(app)
        plan = await agent.create_variable("plan")
        await agent.create_policy(
            "Odd",
            "Say it",
            signals=["odd"],
            tools=[tool(look_it_up)],
            canned_responses=["{std.customer.name}|{found}|{plan}"],
        )
        customer = await app.create_customer(f"Ann {text}", id="ann")
        await plan.set_value(customer, text)
        session = await app.open_session(agent, customer)

        reply = await session.say("odd")

        assert not degraded(reply)
        said = "".join(reply.text.split())
        expected = "".join(f"Ann {text}|{text}|{text}".split())
        assert said == expected
        await shop.still_serves(session)


@pytest.mark.parametrize("text", ["{}", "{{…}}", "{unknown}", "{{ unknown }}", "a {", "} b"])
async def test_template_with_odd_braces_is_said_or_passed_over_but_never_half_filled(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Odd", "Say it", signals=["odd"], canned_responses=[f"Odd: {text}"]
        )
        session = await app.open_session(agent)

        reply = await session.say("odd")

        expected = "Hm?" if "unknown" in text else f"Odd: {text}"
        assert reply.text == expected
        await shop.still_serves(session)


async def test_every_account_of_these_sessions_can_be_read_again(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        for text in ODD_TEXTS.values():
            await session.say(f"{text} open?")

        assert len(ledgers(await session.events())) == len(ODD_TEXTS)
