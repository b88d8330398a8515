"""Why an answer did not count: what the customer replied to a question, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.turn.context import TurnContext
from poise.values.tools import Parameter, ParameterKind
from poise_tools.answers import is_answer, is_free_text, whole_reply
from poise_tools.conversation import asked, exchanges

_LONGEST = 60  # characters of a reply that is an attempt at a value
_FEW = 4  # words of one

_EXPECTED = {
    ParameterKind.INTEGER: "a whole number",
    ParameterKind.NUMBER: "a number",
    ParameterKind.DATE: "a date that can be read in one way, such as 2026-03-05",
    ParameterKind.DATETIME: "a date with a time of day",
}


def complaints(parameters: Sequence[Parameter], turn: TurnContext) -> Mapping[str, str]:
    """Return, by parameter, what was wrong with the answer to the agent's last question.

    Args:
        parameters: Those for which no value was found.
        turn: Whose unanswered message may be such an answer.
    """
    exchange = next(iter(exchanges(turn)), None)
    if exchange is None or not exchange.is_new:
        return {}
    reply = whole_reply(exchange)
    names = asked(parameters, exchange)
    if reply is None or len(names) != 1 or len(reply.text) > _LONGEST:
        return {}
    parameter = next(each for each in parameters if each.name in names)
    expected = _expected(parameter)
    if expected is None or not is_answer(reply.text) or not _is_attempt(parameter, reply.text):
        return {}
    return {parameter.name: f"{reply.said.strip()!r} is not {expected}"}


def _expected(parameter: Parameter) -> str | None:
    if is_free_text(parameter):
        return None
    if parameter.choices:
        return f"one of {', '.join(str(choice) for choice in parameter.choices)}"
    if parameter.pattern is not None:
        return "written as it has to be"
    return _EXPECTED.get(parameter.kind)


def _is_attempt(parameter: Parameter, text: str) -> bool:
    if parameter.choices or parameter.pattern is not None:
        return len(text.split()) <= _FEW
    return any(each.isdigit() for each in text)
