"""The limits of a turn, as the engine takes them; `app.config` reads them from settings."""

from __future__ import annotations

import attrs


@attrs.frozen
class SpendingLimits:
    """What models may cost, in US dollars; `None` is any sum.

    Attributes:
        turn: For one turn.
        session: For one session.
        day: For all sessions of one tenant on one day (UTC).
        degrade_at: Share of a limit from which on turns spend less effort.
    """

    turn: float | None = None
    session: float | None = None
    day: float | None = None
    degrade_at: float = 0.8

    @property
    def are_set(self) -> bool:
        """Whether there is any limit."""
        return not (self.turn is None and self.session is None and self.day is None)


@attrs.frozen
class EngineLimits:
    """Limits of a turn. Times are in seconds.

    Attributes:
        turn_deadline: After it the customer gets the apology; default 60.
        tool_timeout: For a tool that names none; default 30.
        model_timeout: For one request to a model; default 30.
        index_timeout: For one request to a model while a catalog is indexed; default 600.
        index_retry: After a failed indexing, until it is tried again; doubles, up to five minutes;
            default 5.
        retries: How often a request to a model is sent again, where that may help; default 3.
        retry_wait: Before the first retry, unless the provider says; doubles; default 0.5.
        repairs: How often a model may mend a malformed answer; default 1.
        output_reserve: Tokens of a model's window that are kept for its answer; default 2048.
        capture_content: Whether prompts and answers enter spans; default no.
        settle_wait: How long what follows the reply may take; default 2.
        lease: Life of a session's lease; default 20.
        lease_renewal: How often it is renewed; default 7.
        history: How many events of messages and tools a turn reads; default 40.
        tool_result_limit: Characters of one tool result in prompts; default 16,000.
        working_set: Above this many rules the working set is pruned; default 30.
        working_set_after: Down to this many; default 20.
        working_set_tokens: Tokens that the texts of its rules may take; default 4,000.
        working_set_share: The share of a model's window that they may take; default 0.1.
        spending: What models may cost; default: any sum.
    """

    turn_deadline: float = 60.0
    tool_timeout: float = 30.0
    model_timeout: float = 30.0
    index_timeout: float = 600.0
    index_retry: float = 5.0
    retries: int = 3
    retry_wait: float = 0.5
    repairs: int = 1
    output_reserve: int = 2048
    capture_content: bool = False
    settle_wait: float = 2.0
    lease: float = 20.0
    lease_renewal: float = 7.0
    history: int = 40
    tool_result_limit: int = 16_000
    working_set: int = 30
    working_set_after: int = 20
    working_set_tokens: int = 4_000
    working_set_share: float = 0.1
    spending: SpendingLimits = SpendingLimits()
