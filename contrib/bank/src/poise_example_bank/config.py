"""Which systems the agent works on."""

from __future__ import annotations

from poise_example_bank.fake import FakeBank
from poise_example_bank.services import Bank


def open_bank() -> Bank:
    """Return the bank that the agent talks to.

    Here it is the one in memory. A real bank's team returns its client here, and nothing else
    changes: domains are handed a `Bank` and know no more of it.
    """
    return FakeBank()
