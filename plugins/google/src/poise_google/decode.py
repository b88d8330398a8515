"""What the Gemini API answers, as Poise reads it: words, calls, why it stopped, and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise import Finish, MalformedReplyError, ModelCall, TextChunk, Usage

if TYPE_CHECKING:
    from google.genai.types import Candidate, GenerateContentResponse

_COMPLETE = frozenset({"STOP"})
_TRUNCATED = frozenset({"MAX_TOKENS", "CONTINUATION"})
_MALFORMED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    }
)
_UNSAID = frozenset({"FINISH_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"})

_WHY = {
    "SAFETY": "Google's safety filter stopped it",
    "RECITATION": "it would have recited a source",
    "LANGUAGE": "the language is not supported",
    "BLOCKLIST": "it held a blocked term",
    "PROHIBITED_CONTENT": "the content is prohibited",
    "SPII": "it held sensitive personal data",
    "MODEL_ARMOR": "Model Armor blocked it",
    "JAILBREAK": "the prompt looks like a jailbreak",
    "ESCALATION": "an escalation rule filtered it",
    "PUP_LIMITED_DISABLED": "the account is limited for breaking Google's policy",
}


class Reading:
    """Reads one answer, whole or piece by piece, and says at the end what it came to."""

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model
        self._calls: list[ModelCall] = []
        self._usage: Usage | None = None
        self._build = ""
        self._stopped = ""
        self._blocked = ""
        self._message = ""

    def take(self, response: GenerateContentResponse) -> str:
        """Return the words of a response or of a piece of one; keep all else for the end."""
        if response.usage_metadata is not None:
            self._usage = usage_of(response)
        self._build = response.model_version or self._build
        feedback = response.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            self._blocked = _said(feedback.block_reason.value)
            self._message = feedback.block_reason_message or self._message
        if not response.candidates:
            return ""
        candidate = response.candidates[0]
        if candidate.finish_reason is not None:
            self._stopped = _said(candidate.finish_reason.value)
            self._message = candidate.finish_message or self._message
        return self._words(candidate)

    def end(self, written: Usage | None = None) -> TextChunk | None:
        """Return the last chunk, without words; `None` where the model never said why it stopped.

        Args:
            written: What storing the beginning of the prompt took, where that was done for it.

        Raises:
            MalformedReplyError: The model stopped over a call or an answer that can't be read.
        """
        if not self._blocked and not self._stopped:
            return None
        if self._stopped in _MALFORMED:
            raise MalformedReplyError(
                self._provider,
                self._model,
                "",
                f"the model stopped with {self._stopped}"
                f"{f' ({self._message})' if self._message else ''}; ask again, or another model",
            )
        usage = self._usage
        if written is not None:
            usage = written + (usage or Usage())
        finish = self._finish()
        reason = self._blocked or self._stopped
        return TextChunk(
            finish=finish,
            usage=usage,
            calls=tuple(self._calls) if finish is Finish.CALLS else (),
            reason=(self._message or _WHY.get(reason, f"it stopped with {reason}"))
            if finish is Finish.REFUSED
            else "",
            model=self._build,
        )

    def _finish(self) -> Finish:
        if self._blocked:
            return Finish.REFUSED
        if self._stopped in _COMPLETE:
            return Finish.CALLS if self._calls else Finish.COMPLETE
        return Finish.TRUNCATED if self._stopped in _TRUNCATED else Finish.REFUSED

    def _words(self, candidate: Candidate) -> str:
        words: list[str] = []
        parts = (candidate.content.parts if candidate.content else None) or []
        for part in parts:
            if part.function_call is not None:
                called = part.function_call
                self._calls.append(
                    ModelCall(
                        called.id or f"call_{len(self._calls) + 1}",
                        called.name or "",
                        called.args or {},
                    )
                )
            elif part.text and not part.thought:
                words.append(part.text)
        return "".join(words)


def usage_of(response: GenerateContentResponse) -> Usage | None:
    """Return what a response says that it took."""
    told = response.usage_metadata
    if told is None:
        return None
    thoughts = told.thoughts_token_count or 0
    return Usage(
        input_tokens=(told.prompt_token_count or 0) + (told.tool_use_prompt_token_count or 0),
        cached_tokens=told.cached_content_token_count or 0,
        output_tokens=(told.candidates_token_count or 0) + thoughts,
        reasoning_tokens=thoughts,
    )


def _said(reason: str) -> str:
    return "" if reason in _UNSAID else reason.upper()
