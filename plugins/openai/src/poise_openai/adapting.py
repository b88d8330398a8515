"""What models refuse, found out by asking: a refused parameter is left out from then on."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from openai import APIStatusError

logger = logging.getLogger(__name__)

R = TypeVar("R")

_RENAMED: Mapping[str, str] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
"""Parameters of which models take one or the other."""

_SPARED = (
    "temperature",
    "reasoning",
    "reasoning_effort",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "prompt_cache_breakpoint",
    "prompt_cache_options",
    "prompt_cache_key",
    "stream_options",
    "parallel_tool_calls",
    "store",
    "strict",
    "encoding_format",
    "dimensions",
)
"""Parameters without which a request still asks the same; the rest are the request itself."""

_REFUSING = re.compile(
    r"unsupported|not support|unknown|unrecognized|unexpected|not permitted|not allowed|invalid"
    r"|extra|deprecated|only the default|can ?not be (?:set|used)|must be|use '",
    re.IGNORECASE,
)


class Refusals:
    """The parameters that each model of one server was seen to refuse."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str | None]] = {}

    async def send(
        self, model: str, call: Callable[..., Awaitable[R]], params: Mapping[str, Any]
    ) -> R:
        """Return what `call(**params)` does, without the parameters that `model` refuses.

        A refusal is learnt from: the request goes out again at once without what was refused.
        Other failures are raised as they are.
        """
        from openai import BadRequestError, UnprocessableEntityError

        for _ in _SPARED:
            fitted = self.fit(model, params)
            try:
                return await call(**fitted)
            except (BadRequestError, UnprocessableEntityError) as exc:
                if not self._learn(model, exc, fitted):
                    raise
        return await call(**self.fit(model, params))

    def fit(self, model: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as `model` takes them, as far as is known."""
        fitted = dict(params)
        for name, instead in self._known.get(model, {}).items():
            if name in fitted:
                value = fitted.pop(name)
                if instead is not None:
                    fitted[instead] = value
            elif _nested(name, fitted):
                fitted = {key: _without(name, value) for key, value in fitted.items()}
        return fitted

    def _learn(self, model: str, exc: APIStatusError, sent: Mapping[str, Any]) -> bool:
        refused = _refused(exc, sent)
        if refused is None:
            return False
        known = self._known.setdefault(model, {})
        instead = _RENAMED.get(refused)
        # A model that refuses both names takes neither.
        known[refused] = instead if instead not in known else None
        if known[refused] is None and instead in known:
            known[str(instead)] = None
        logger.info("model refuses a parameter", extra={"model": model, "parameter": refused})
        return True


def _refused(exc: APIStatusError, sent: Mapping[str, Any]) -> str | None:
    present = [name for name in _SPARED if name in sent or _nested(name, sent)]
    named = (exc.param or "").split(".")[0].split("[")[0]
    if named in present:
        return named
    words = str(exc.body or exc.message)
    if not _REFUSING.search(words):
        return None
    return next((name for name in present if re.search(rf"\b{name}\b", words)), None)


def _nested(name: str, value: object) -> bool:
    if name not in ("prompt_cache_breakpoint", "strict"):
        return False
    if isinstance(value, Mapping):
        return name in value or any(_nested(name, inner) for inner in value.values())
    return isinstance(value, list) and any(_nested(name, inner) for inner in value)


def _without(name: str, value: Any) -> Any:  # JSON in, JSON out
    if isinstance(value, Mapping):
        return {key: _without(name, inner) for key, inner in value.items() if key != name}
    return [_without(name, inner) for inner in value] if isinstance(value, list) else value
