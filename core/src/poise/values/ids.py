"""Typed ids: stable for what is declared in code, random and time-sortable for the rest."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from datetime import datetime
from typing import NewType, Protocol

from poise.values.clock import Clock, SystemClock

AgentId = NewType("AgentId", str)
RuleId = NewType("RuleId", str)
ToolId = NewType("ToolId", str)
CannedResponseId = NewType("CannedResponseId", str)
TermId = NewType("TermId", str)
VariableId = NewType("VariableId", str)
TagId = NewType("TagId", str)
JourneyId = NewType("JourneyId", str)
NodeId = NewType("NodeId", str)
GroupId = NewType("GroupId", str)
CustomerId = NewType("CustomerId", str)
SessionId = NewType("SessionId", str)
EventId = NewType("EventId", str)
TurnId = NewType("TurnId", str)
IndexId = NewType("IndexId", str)

Subject = RuleId | JourneyId | NodeId
"""What a turn comes to a decision about: a rule, a journey, or a node of one."""

GUEST = CustomerId("guest")
"""The customer of a session that names none."""


def digest(*parts: str) -> str:
    """Return 26 lower-case characters that stand for `parts`: the same on every machine and run.

    Parts are length-prefixed before hashing, so `("ab", "c")` and `("a", "bc")` differ.
    """
    hashed = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hashed.update(len(raw).to_bytes(8, "big"))
        hashed.update(raw)
    return base64.b32encode(hashed.digest()[:16]).decode("ascii").rstrip("=").lower()


def stable_id(kind: str, agent: str, key: str) -> str:
    """Return the id of something declared in code, from its agent, its kind and its key.

    Args:
        kind: The entity's kind in lower case, such as `rule`; becomes the id's prefix.
        agent: The id of the owning agent, or an empty string for what no agent owns.
        key: The id that the author gave, else the title, else a digest of the content.
    """
    return f"{kind}_{digest(kind, agent, key)[:20]}"


class IdSource(Protocol):
    """Whatever makes ids for what is not declared in code."""

    def new(self, kind: str) -> str:
        """Return an id with the prefix `kind`, unique, sorting by the time it was made."""
        ...


class SortableIds:
    """Ids of 48 bits of milliseconds and 80 random bits, in an alphabet that sorts like bytes."""

    def __init__(
        self, clock: Clock | None = None, entropy: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._clock = clock or SystemClock()
        self._entropy = entropy

    def new(self, kind: str) -> str:
        """Return an id with the prefix `kind`, unique, sorting by the time it was made."""
        return sortable_id(kind, self._clock.now(), self._entropy(10))


def sortable_id(kind: str, at: datetime, entropy: bytes) -> str:
    """Return `kind_` followed by `at` in milliseconds and ten bytes of `entropy`."""
    raw = int(at.timestamp() * 1000).to_bytes(6, "big") + entropy
    return f"{kind}_{base64.b32hexencode(raw).decode('ascii').rstrip('=').lower()}"
