"""The tools of each domain over the bank in memory: no agent, no model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import poise
from poise_example_bank.domains.cards.tools import card_tools
from poise_example_bank.domains.complaints.tools import complaint_tool
from poise_example_bank.domains.fees.tools import account_tools
from poise_example_bank.domains.general.tools import hand_over
from poise_example_bank.domains.transfers.tools import transfer_tools
from poise_example_bank.fake import FakeBank
from poise_example_bank.services import NotEnoughMoneyError

pytestmark = pytest.mark.anyio
Contexts = Callable[..., poise.ToolContext]
IBAN = "DE89370400440532013000"


async def test_freezing_a_card_freezes_it(bank: FakeBank, context_of: Contexts) -> None:
    done = await card_tools(bank).freeze_card(context_of(), "4417")

    assert done == {"card_ending": "4417", "card_state": "frozen"}
    assert [card.state for card in await bank.cards("ada")] == ["frozen", "active"]


async def test_a_card_of_nobody_is_named_beside_ones_own(
    bank: FakeBank, context_of: Contexts
) -> None:
    done = await card_tools(bank).freeze_card(context_of(), "1111")

    assert done == {"card_problem": "your cards end in 4417 and 9020, none in 1111"}
    assert [card.state for card in await bank.cards("ada")] == ["active", "active"]


async def test_a_replacement_is_of_the_same_kind(bank: FakeBank, context_of: Contexts) -> None:
    done = await card_tools(bank).order_replacement(context_of(), "9020")

    new = next(card for card in await bank.cards("ada") if card.state == "on its way")
    assert new.kind == "credit"
    assert done == {"new_card_ending": new.number_ends, "new_card_arrives": "08 December"}


async def test_cards_are_listed_with_their_state(bank: FakeBank, context_of: Contexts) -> None:
    done = await card_tools(bank).list_cards(context_of())

    assert done == {"cards": "debit card 4417 (active); credit card 9020 (active)"}


async def test_a_customer_sees_no_card_of_another(bank: FakeBank, context_of: Contexts) -> None:
    await card_tools(bank).freeze_card(context_of("ada"), "4417")

    assert "frozen" not in (await card_tools(bank).list_cards(context_of("bob")))["cards"]


async def test_money_is_sent_once_per_key(bank: FakeBank, context_of: Contexts) -> None:
    tools = transfer_tools(bank)

    first = await tools.send_money(context_of(key="k"), IBAN, 100.0)
    again = await tools.send_money(context_of(key="k"), IBAN, 100.0)

    assert first == again
    assert await bank.balance("ada") == pytest.approx(2380.50)


async def test_money_that_is_not_there_is_not_sent(bank: FakeBank, context_of: Contexts) -> None:
    done = await transfer_tools(bank).send_money(context_of(), IBAN, 9999.0)

    assert done == {"transfer_problem": "there are 2480.50 euros on your account"}
    assert await bank.balance("ada") == 2480.50


@pytest.mark.parametrize("amount", [0.0, -5.0])
async def test_no_amount_is_no_transfer(bank: FakeBank, amount: float) -> None:
    with pytest.raises(NotEnoughMoneyError):
        await bank.transfer("ada", IBAN, amount, "k")


async def test_a_transfer_is_found_by_its_reference(bank: FakeBank, context_of: Contexts) -> None:
    tools = transfer_tools(bank)
    sent = await tools.send_money(context_of(), IBAN, 20.0)

    found = await tools.transfer_status(context_of(), sent["transfer_reference"])

    assert found["status_recipient"] == IBAN


async def test_a_transfer_of_another_is_not_found(bank: FakeBank, context_of: Contexts) -> None:
    tools = transfer_tools(bank)
    sent = await tools.send_money(context_of("ada"), IBAN, 20.0)

    found = await tools.transfer_status(context_of("bob"), sent["transfer_reference"])

    assert found == {"status_problem": "you have no transfer T-2001"}


async def test_balance_is_loaded_as_it_is_written(bank: FakeBank, context_of: Contexts) -> None:
    assert await account_tools(bank).load_balance(context_of()) == "2480.50"


async def test_payments_are_listed(bank: FakeBank, context_of: Contexts) -> None:
    listed = (await account_tools(bank).latest_payments(context_of()))["payments"]

    assert listed.startswith("Streamly 12.99 on 28 November (P-1042); ")


async def test_a_complaint_is_opened_once_per_key(bank: FakeBank, context_of: Contexts) -> None:
    complain = complaint_tool(bank)

    cases = [(await complain(context_of(key=key)))["case"] for key in ("a", "a", "b")]

    assert cases == ["C-3001", "C-3001", "C-3002"]


async def test_handing_over_makes_the_session_manual(context_of: Contexts) -> None:
    done = await hand_over(context_of())

    assert done.mode == "manual"
    assert done.labels == {"handed-over"}
