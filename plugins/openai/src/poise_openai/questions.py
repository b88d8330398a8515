"""What all ways of deciding have in common: a request in words, and the answers read back."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from poise import prompts
from poise.errors import MalformedReplyError
from poise.turn.models import DecisionRequest, Probability, Question
from poise.turn.prompts import Cut, Prompt, Section, Stability
from poise.values.ids import digest
from poise_openai.encode import clean
from poise_openai.errors import Place

logger = logging.getLogger(__name__)

_TASK = "Judge each question by itself, from what is said here and nothing else."
_NOISE = 1e-6
_DECLINED = "the model declined to answer"


def has_matter(request: DecisionRequest) -> bool:
    """Say whether there is anything to judge; where there is not, no model need be asked."""
    return bool(request.questions) and bool(
        request.state.text.strip() or any(text.strip() for text in request.focus)
    )


def abstentions(request: DecisionRequest) -> Sequence[Probability]:
    """Return an abstention for every question of a request about nothing."""
    return [Probability(each.id, None, "there is nothing to judge") for each in request.questions]


def in_words(request: DecisionRequest) -> Prompt:
    """Return what all questions of a request are about: state, messages, and how to read them."""
    said = "\n".join(f"- {prompts.quoted(text)}" for text in request.focus if text.strip())
    return request.state.followed_by(
        Section(
            "focus",
            f"The customer's new messages, which are to be judged (quoted data):\n{said}"
            if said
            else "",
            Stability.TURN,
            cut=Cut.NOTHING,
        ),
        Section("task", request.task or _TASK, Stability.TURN, cut=Cut.NOTHING),
    )


def shared_key(request: DecisionRequest) -> str:
    """Return a key for caches that all requests with the same lasting beginning share."""
    lasting = [text for stability, text in request.state.blocks if stability is Stability.CATALOG]
    return digest(*lasting) if lasting else ""


def keyed(request: DecisionRequest) -> Mapping[str, Question]:
    """Return the questions under keys of our own.

    Ids of rules are long, and nothing says what a server takes for a key.
    """
    return {f"q{number}": question for number, question in enumerate(request.questions, start=1)}


def instructions(question: Question, *, criteria: bool = True) -> str:
    """Return a question in words.

    Args:
        question: The question.
        criteria: Whether the words also say what makes it true, and what false.
    """
    lines = [question.text.strip() or question.id]
    if criteria:
        told = (("Yes if", question.yes_if), ("No if", question.no_if))
        lines += [f"{word}: {text.strip()}" for word, text in told if text.strip()]
    return clean("\n".join(lines))


def read_back(
    asked: Mapping[str, Question], found: Mapping[str, object], place: Place
) -> Sequence[Probability]:
    """Return the answers that came, in the order of the questions.

    What did not come is left out, so that the router asks again for it alone; it never becomes a
    no. What nobody asked comes last, for the router to note.

    Args:
        asked: The questions by key.
        found: Probabilities by key; `None`: the model declined.
        place: For the words of an error.

    Raises:
        MalformedReplyError: A probability is none.
    """
    answers = [
        Probability(question.id, None, _DECLINED)
        if found[key] is None
        else Probability(question.id, _probability(found[key], place))
        for key, question in asked.items()
        if key in found
    ]
    if len(answers) < len(asked):
        logger.warning(
            "a server left questions unanswered",
            extra={"model": place.model, "asked": len(asked), "answered": len(answers)},
        )
    strangers = [key for key in found if key not in asked]
    return [*answers, *(Probability(f"unasked {key}", None) for key in strangers)]


def _probability(value: object, place: Place) -> float:
    # Servers round, and a sum of rounded shares may pass 1 by a hair.
    if isinstance(value, int | float) and not isinstance(value, bool):
        near = min(1.0, max(0.0, float(value)))
        if abs(near - value) <= _NOISE:
            return near
    raise MalformedReplyError(
        place.provider,
        place.model,
        "",
        f"a probability is {str(value)[:40]!r}, not a number within 0 to 1",
    )
