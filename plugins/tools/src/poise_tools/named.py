"""Choices, ids and addresses in a text: whatever is known by how it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from poise.values.tools import Parameter
from poise_tools.readings import Reading, Span, overlaps
from poise_tools.words import vocabulary

_NEGATED = re.compile(
    r"\b(?:not|instead of|rather than|except(?: for)?|other than)"
    r"(?: (?:my|the|a|an|this|that|for|on|to|with|your))*\s+$",
    re.IGNORECASE,
)
_EVERYDAY = frozenset(
    vocabulary(
        "a an all and any at by do for here how i in is it me my no none not now of off ok on one "
        "or other out so that the there this to two up us we what yes you"
    )
)
"""Words that a sentence is made of: a choice that is called like one counts only as an answer."""

_PROBES = ("hello", "Hello", "HELLO", "the", "I", "card", "please help", "Thank you.", "ok")
"""Ordinary words: a pattern that matches one of them recognises nothing."""

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+(?!\w)")
_SPACED = re.compile(r"(?<!\w)[A-Z0-9]{2,}(?:[ -][A-Z0-9]{2,})+(?!\w)")
_SPACED_DIGITS = re.compile(r"(?<![\w])\+?\(?\d[\d ()\-./]{3,30}\d(?!\w)")


def choices(
    text: str, parameter: Parameter, synonyms: Mapping[str, Sequence[str]]
) -> tuple[Reading, ...]:
    """Return where `text` names one of the parameter's choices as a whole word, in any case.

    The longest name wins; a plural or a synonym counts when it stands for one choice alone. What
    is named only to be set aside (`not the debit card`) does not count.

    Args:
        text: What was said.
        parameter: With texts as choices.
        synonyms: By choice in lower case, other names for it.
    """
    found: list[Reading] = []
    taken: list[Span] = []
    for form, choice in _forms(parameter, synonyms):
        pattern = _word_pattern(form)
        for match in pattern.finditer(text):
            if overlaps(match.span(), taken):
                continue
            taken.append(match.span())
            if choice is None or _NEGATED.search(text[max(0, match.start() - 40) : match.start()]):
                continue
            everyday = len(form) < 3 or form in _EVERYDAY
            found.append(Reading(choice, *match.span(), decisive=not everyday, doubtful=everyday))
    return tuple(sorted(found, key=lambda each: each.start))


def _forms(
    parameter: Parameter, synonyms: Mapping[str, Sequence[str]]
) -> Sequence[tuple[str, str | None]]:
    """Return every way to name a choice, longest first; `None` for what names several."""
    exact = {_form(str(choice)): str(choice) for choice in parameter.choices}
    others: dict[str, set[str]] = {}
    for form, choice in exact.items():
        for other in (*_plurals(form), *map(_form, synonyms.get(choice.lower(), ()))):
            if other and other not in exact:
                others.setdefault(other, set()).add(choice)
    loose = {
        form: stands[0] if len(stands) == 1 else None
        for form, stands in ((form, sorted(each)) for form, each in others.items())
    }
    return sorted({**loose, **exact}.items(), key=lambda pair: (-len(pair[0]), pair[0]))


def _form(choice: str) -> str:
    return " ".join(choice.lower().replace("_", " ").replace("-", " ").split())


def _plurals(form: str) -> Iterator[str]:
    yield f"{form}s"
    if form.endswith("y"):
        yield f"{form[:-1]}ies"
    if form.endswith(("s", "x", "ch", "sh")):
        yield f"{form}es"


@lru_cache(maxsize=2048)
def _word_pattern(form: str) -> re.Pattern[str]:
    body = r"[\s_-]+".join(re.escape(part) for part in form.split())
    return re.compile(rf"(?<!\w){body}(?!\w)", re.IGNORECASE)


def is_telling(pattern: str) -> bool:
    """Say whether a pattern recognises something, rather than any word."""
    try:
        compiled = re.compile(pattern)
    except re.error:
        return False
    return not any(compiled.fullmatch(probe) for probe in ("", *_PROBES))


def patterned(text: str, pattern: str) -> tuple[Reading, ...]:
    """Return what matches `pattern` as a whole, in order.

    Another case, or spaces and hyphens between the parts, are put right when the pattern says so:
    `ord-12` for `ORD-12`, `4242 4242` for eight digits.
    """
    if not is_telling(pattern):
        return ()
    found: dict[Span, Reading] = {}
    for value, span in _matches(text, pattern):
        if not overlaps(span, found):
            found[span] = Reading(value, *span, decisive=True)
    return tuple(sorted(found.values(), key=lambda each: each.start))


def _matches(text: str, pattern: str) -> Iterator[tuple[str, Span]]:
    body = pattern.removeprefix("^").removeprefix(r"\A")
    body = body.removesuffix(r"\Z")
    if body.endswith("$") and not body.endswith(r"\$"):
        body = body[:-1]
    compiled = re.compile(pattern)
    for flags in (re.NOFLAG, re.IGNORECASE):
        try:
            loose = re.compile(rf"(?<!\w)(?<!\w-)(?:{body})(?!\w|-\w)", flags)
        except re.error:
            continue  # e.g. inline flags, which must stand first: whole words are tried below
        for match in loose.finditer(text):
            fitting = _fitting(match[0], compiled)
            if fitting is not None:
                yield fitting, match.span()
    for candidates in (_SPACED_DIGITS, _SPACED):
        for match in candidates.finditer(text):
            compact = re.sub(r"[ ()\-./]", "", match[0])
            fitting = _fitting(compact, compiled)
            if fitting is not None:
                yield fitting, match.span()


def _fitting(written: str, pattern: re.Pattern[str]) -> str | None:
    return next(
        (form for form in (written, written.upper(), written.lower()) if pattern.fullmatch(form)),
        None,
    )


def addresses(text: str) -> tuple[Reading, ...]:
    """Return the e-mail addresses of `text`."""
    return tuple(
        Reading(
            match[0].rstrip("."),
            match.start(),
            match.start() + len(match[0].rstrip(".")),
            decisive=True,
        )
        for match in _EMAIL.finditer(text)
    )
