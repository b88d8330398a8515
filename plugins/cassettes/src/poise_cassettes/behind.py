"""The model behind a tape: made when it is first asked, so that replay needs no provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from poise_cassettes.requests import Json
from poise_cassettes.tape import Tape

W = TypeVar("W")


class Behind(Generic[W]):
    """The model behind a tape, made when it is first asked.

    Args:
        make: Makes it.
        capabilities: Says what it can be asked for.
    """

    def __init__(self, make: Callable[[], W], capabilities: Callable[[], Sequence[str]]) -> None:
        self._make = make
        self._capabilities = capabilities
        self._made: W | None = None

    def get(self) -> W:
        """Return the model.

        Raises:
            UnknownOfferError: No plugin offers its provider, or that has no such model.
        """
        if self._made is None:
            self._made = self._make()
        return self._made

    async def noted(self, tape: Tape, **facts: Json) -> None:
        """Keep on the tape what the model is."""
        await tape.keep_facts(capabilities=list(self._capabilities()), **facts)
