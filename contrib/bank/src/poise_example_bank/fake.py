"""A small bank in memory, in place of the real one: for the demo, trials and tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import attrs

from poise_example_bank.services import (
    Card,
    NotEnoughMoneyError,
    Payment,
    Transfer,
    UnknownReferenceError,
)


class FakeBank:
    """A `Bank` in which every customer starts with the same two cards and some payments."""

    def __init__(self) -> None:
        self._cards: dict[str, dict[str, Card]] = {}
        self._transfers: dict[str, dict[str, Transfer]] = {}
        self._balances: dict[str, float] = {}
        self._cases: dict[str, str] = {}
        self._orders: dict[str, Transfer] = {}

    async def cards(self, customer: str) -> Sequence[Card]:
        return tuple(self._of(customer).values())

    async def freeze(self, customer: str, number_ends: str) -> Card:
        return self._change(customer, number_ends, state="frozen")

    async def replace(self, customer: str, number_ends: str) -> Card:
        old = self._change(customer, number_ends, state="replaced")
        ends = f"{(int(number_ends) * 7 + 1301) % 10_000:04d}"
        card = Card(ends, old.kind, "on its way", arrives=date(2026, 12, 8))
        self._of(customer)[ends] = card
        return card

    async def balance(self, customer: str) -> float:
        return self._balances.setdefault(customer, 2480.50)

    async def payments(self, customer: str) -> Sequence[Payment]:
        return (
            Payment("P-1042", "Streamly", 12.99, date(2026, 11, 28), "booked"),
            Payment("P-1041", "Corner Grocery", 43.20, date(2026, 11, 27), "booked"),
            Payment("P-1037", "City Transport", 2.80, date(2026, 11, 27), "pending"),
        )

    async def transfer(self, customer: str, recipient: str, amount: float, key: str) -> Transfer:
        if key in self._orders:
            return self._orders[key]
        balance = await self.balance(customer)
        if not 0 < amount <= balance:
            raise NotEnoughMoneyError(f"there are {balance:.2f} euros on your account")
        self._balances[customer] = balance - amount
        ordered = Transfer(f"T-{2001 + len(self._orders)}", recipient, amount, "sent")
        self._orders[key] = ordered
        self._transfers.setdefault(customer, {})[ordered.reference] = ordered
        return ordered

    async def find_transfer(self, customer: str, reference: str) -> Transfer:
        own = self._transfers.setdefault(customer, {})
        own.setdefault(
            "T-1987", Transfer("T-1987", "Ana Lopez", 150.0, "waiting for the other bank")
        )
        try:
            return own[reference.upper()]
        except KeyError:
            raise UnknownReferenceError(f"you have no transfer {reference}") from None

    async def open_case(self, customer: str, subject: str, key: str) -> str:
        return self._cases.setdefault(key, f"C-{3001 + len(self._cases)}")

    async def plan(self, customer: str) -> str:
        return "Standard"

    def _of(self, customer: str) -> dict[str, Card]:
        return self._cards.setdefault(
            customer,
            {"4417": Card("4417", "debit", "active"), "9020": Card("9020", "credit", "active")},
        )

    def _change(self, customer: str, number_ends: str, *, state: str) -> Card:
        cards = self._of(customer)
        if number_ends not in cards:
            owned = " and ".join(cards)
            raise UnknownReferenceError(f"your cards end in {owned}, none in {number_ends}")
        cards[number_ends] = attrs.evolve(cards[number_ends], state=state)
        return cards[number_ends]
