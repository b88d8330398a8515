"""An example agent: the customer service of a bank, written as a customer's team would write it."""

from __future__ import annotations

__all__: list[str] = []
