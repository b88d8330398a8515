"""The bank's systems, as the agent's tools see them: what can be asked, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol

import attrs


@attrs.frozen
class Card:
    """A customer's card."""

    number_ends: str
    kind: str
    state: str
    arrives: date | None = None


@attrs.frozen
class Payment:
    """A movement on an account; amounts in the account's currency."""

    reference: str
    merchant: str
    amount: float
    on: date
    state: str


@attrs.frozen
class Transfer:
    """A transfer that was ordered."""

    reference: str
    recipient: str
    amount: float
    state: str
    fee: float = 0.0


class UnknownReferenceError(Exception):
    """Nothing by that reference belongs to the customer; says so in words for the customer."""


class NotEnoughMoneyError(Exception):
    """The account does not hold as much; says so in words for the customer."""


class Bank(Protocol):
    """What the agent needs of the bank: a real one in production, `fake.FakeBank` elsewhere."""

    async def cards(self, customer: str) -> Sequence[Card]:
        """Return the customer's cards."""
        ...

    async def freeze(self, customer: str, number_ends: str) -> Card:
        """Freeze a card and return it.

        Raises:
            UnknownReferenceError: The customer has no such card.
        """
        ...

    async def replace(self, customer: str, number_ends: str) -> Card:
        """Order a replacement and return the new card; raises as `freeze`."""
        ...

    async def balance(self, customer: str) -> float:
        """Return what is on the customer's account."""
        ...

    async def payments(self, customer: str) -> Sequence[Payment]:
        """Return the latest payments, newest first."""
        ...

    async def transfer(self, customer: str, recipient: str, amount: float, key: str) -> Transfer:
        """Order a transfer; the same key never orders it twice.

        Raises:
            NotEnoughMoneyError: The account does not hold as much.
        """
        ...

    async def find_transfer(self, customer: str, reference: str) -> Transfer:
        """Return a transfer.

        Raises:
            UnknownReferenceError: The customer ordered none of that reference.
        """
        ...

    async def open_case(self, customer: str, subject: str, key: str) -> str:
        """Open a complaint and return its reference; the same key never opens it twice."""
        ...

    async def plan(self, customer: str) -> str:
        """Return the name of the customer's plan."""
        ...
