"""On whose behalf something is done: bound before a store is touched, and on every event."""

from __future__ import annotations

import attrs


@attrs.frozen
class Scope:
    """A tenant, and who acts within it. There is no default: a surface always names both."""

    tenant: str
    actor: str

    @classmethod
    def local(cls) -> Scope:
        """Return the scope of a program that serves one tenant on one machine."""
        return cls(tenant="local", actor="local")
