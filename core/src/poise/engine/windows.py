"""What a model reads at most: prompts are fitted to it, and never silently."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise.engine import fitting
from poise.engine.account import Account
from poise.engine.deciding import as_written
from poise.engine.routing import ModelRoutes, Served
from poise.engine.settings import EngineLimits
from poise.errors import ContextTooLongError, ProviderError
from poise.turn.generation import GenerationOptions
from poise.turn.models import DecisionRequest
from poise.turn.prompts import Prompt

_MARGIN = 0.95  # of a window that a provider told us: our estimate of tokens is not its count


class DoesNotFitError(ContextTooLongError):
    """Our own count says that a prompt can't be fitted: nothing was sent."""


class Windows:
    """Fits what one turn asks to the windows of the models that it asks.

    Args:
        routes: Remember the windows that providers told of.
        limits: How much is kept for the answer.
        account: Takes note of what is left out.
    """

    def __init__(self, routes: ModelRoutes, limits: EngineLimits, account: Account | None) -> None:
        self._told = routes.windows
        self._limits = limits
        self._account = account

    def fitted(
        self,
        served: Served,
        prompt: Prompt,
        options: GenerationOptions,
        *,
        route: str,
        share: float = 1.0,
    ) -> Prompt:
        """Return what of `prompt` fits into a share of the window; what does not is recorded.

        Raises:
            DoesNotFitError: What may not be left out does not fit.
        """
        room = self._room(served, options)
        if room is None:
            return prompt
        room = int(room * share)
        found = fitting.fit(prompt, room)
        if not found.fits:
            raise DoesNotFitError(
                served.provider,
                served.model,
                route,
                f"about {found.tokens} tokens are left when all that may go has gone, and {room} "
                f"fit; choose a model with a larger window, or shorten what every prompt holds",
                sent=found.tokens,
                limit=room,
            )
        self._note(found.omitted, served, route)
        return found.prompt

    def split(
        self, served: Served, request: DecisionRequest, limit: int, options: GenerationOptions
    ) -> Sequence[DecisionRequest]:
        """Return the request in pieces of at most `limit` questions that fit the window."""
        room = self._room(served, options)
        if room is not None:
            said = fitting.estimate(request.state.text) + sum(map(fitting.estimate, request.focus))
            said += sum(fitting.estimate(form.task) for form in request.forms)
            room = max(room - said, 1)
        batches = fitting.split_questions(
            request.questions,
            room,
            limit=limit,
            count=lambda question: fitting.estimate(as_written(question)),
        )
        return [attrs.evolve(request, questions=tuple(batch)) for batch in batches]

    def learns(self, served: Served, exc: ProviderError) -> bool:
        """Remember a window that a provider told of; say whether that was news."""
        if not isinstance(exc, ContextTooLongError) or isinstance(exc, DoesNotFitError):
            return False
        if exc.limit is None:
            return False
        told = int(exc.limit * _MARGIN)
        known = self._told.get(served.name, served.card.context)
        if known is not None and known <= told:
            return False
        self._told[served.name] = told
        return True

    def _room(self, served: Served, options: GenerationOptions) -> int | None:
        """Return the tokens that a prompt may have; `None` where the window is not known."""
        window = self._told.get(served.name, served.card.context)
        if window is None:
            return None
        reserve = options.max_output or self._limits.output_reserve
        return window - min(reserve, window // 4)

    def _note(self, omitted: Sequence[str], served: Served, route: str) -> None:
        if self._account is None:
            return
        for each in omitted:
            said = f"{route}: {each} (for {served.name})"
            if said not in self._account.omissions:
                self._account.omissions.append(said)
