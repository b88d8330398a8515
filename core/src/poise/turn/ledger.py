"""The turn's account: one line per candidate, and what was asked, called, said and left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs


@attrs.frozen
class LedgerLine:
    """One candidate's line. Numbers are rounded to four digits where they are written.

    Attributes:
        subject: The candidate's id.
        kind: `policy`, `observation`, `transient`, `journey` or `node`.
        name: What people call it; a transient rule's whole text.
        fate: What became of it.
        cause: The ids at the other end of the nearest edge.
        relation: The kind of that edge.
        query: The text that scored best.
        signal: The rule's phrase nearest to it.
        score: Raw score of that text.
        threshold: What the score had to reach.
        probability: The judge's, else discovery's.
        rationale: The judge's reason.
        judged_by: Who judged; `None` where nobody did.
        iteration: The pass in which it came up, from 1.
        hit_at: The offset that brings it into the working set or renews it there.
        confirmed: Judged to apply and not excluded, muted or not.
        verdict: What the judge said; `None` where nobody judged.
    """

    subject: str
    kind: str
    name: str
    fate: str
    cause: tuple[str, ...] = ()
    relation: str = ""
    query: str | None = None
    signal: str | None = None
    score: float | None = None
    threshold: float | None = None
    probability: float | None = None
    rationale: str = ""
    judged_by: str | None = None
    iteration: int = 1
    hit_at: int | None = None
    confirmed: bool = False
    verdict: str | None = None


@attrs.frozen
class RequestLine:
    """One request to a model.

    Attributes:
        route: What it was for.
        model: `provider:model` that answered.
        items: How many texts or questions it carried.
        milliseconds: How long it took.
        error: What went wrong, if anything.
        attempt: Which try of this use it was, from 1: retries, repairs and fallbacks count on.
        way: How it was asked: `embedding`, `decision`, `structured`, `prompted` (for JSON, in
            words), `text`, `moderation`, `warming`.
        note: Why this model or this way, where it is not the first choice.
        fresh: Input tokens that no cache held, where the provider says so.
        cached: Input tokens read from a cache.
        output: Tokens generated.
        cost: In US dollars, where the price is known; nine digits of it are written.
    """

    route: str
    model: str
    items: int
    milliseconds: float
    error: str | None = None
    attempt: int = 1
    way: str = ""
    note: str = ""
    fresh: int | None = None
    cached: int | None = None
    output: int | None = None
    cost: float | None = None


@attrs.frozen
class CallLine:
    """One tool call: what was asked of it, why, and what came back."""

    key: str
    tool: str
    arguments: Mapping[str, Any]
    why: tuple[str, ...] = ()
    sources: Mapping[str, str] = attrs.field(factory=dict)
    outcome: str = "finished"
    detail: str = ""
    milliseconds: float = 0.0


@attrs.frozen
class AskedLine:
    """What the reply asks the customer for: the arguments of a tool, and who wants it called."""

    tool: str
    rules: tuple[str, ...]
    parameters: tuple[str, ...]


@attrs.frozen
class OptionLine:
    """One thing that a customer may have meant, and what they would call it."""

    subject: str
    as_said: str


@attrs.frozen
class ClarificationLine:
    """What the reply asks the customer to choose between, and the observation behind it."""

    head: str
    question: str
    options: tuple[OptionLine, ...]


@attrs.frozen
class CompositionLine:
    """How the reply was made: the mode, who set it, what was in view and what was chosen."""

    composer: str
    mode: str
    mode_set_by: str
    candidates: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    fields: Mapping[str, str] = attrs.field(factory=dict)
    note: str = ""


@attrs.frozen
class Degradation:
    """A part that failed, what went wrong, and what was done instead."""

    part: str
    reason: str
    instead: str


@attrs.frozen
class Ledger:
    """A turn's record; its size does not depend on the catalog's.

    Attributes:
        turn: The turn's id.
        base: Offset of the first message it answers.
        upto: How many events the turn had read when it replied; later messages are unanswered.
        outcome: `sent`, `silent`, `cancelled`, `failed` or `bailed`.
        catalog: Version of the catalog snapshot.
        index: Id of the discovery index.
        embedder: Identity of the embedder.
        effort: The turn's effort at its end.
        queries: The texts that were scored, by kind, with their offsets.
        lines: One per candidate.
        requests: One per request to a model.
        calls: One per tool call or refusal.
        asked: What the reply asks the customer for, so that a tool can be called.
        clarifications: What it asks the customer to choose between.
        composition: How the reply was made.
        degradations: What failed.
        omissions: What a budget left out.
        labels: Put on the session by this turn.
        milliseconds: By stage.
    """

    turn: str
    base: int
    upto: int
    outcome: str
    catalog: str
    index: str = ""
    embedder: str = ""
    effort: str = ""
    queries: tuple[Mapping[str, Any], ...] = ()
    lines: tuple[LedgerLine, ...] = ()
    requests: tuple[RequestLine, ...] = ()
    calls: tuple[CallLine, ...] = ()
    asked: tuple[AskedLine, ...] = ()
    clarifications: tuple[ClarificationLine, ...] = ()
    composition: CompositionLine | None = None
    degradations: tuple[Degradation, ...] = ()
    omissions: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = attrs.field(factory=dict)


_FIELDS: Mapping[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in attrs.fields(kind))
    for kind in (
        AskedLine,
        CallLine,
        ClarificationLine,
        CompositionLine,
        Degradation,
        Ledger,
        LedgerLine,
        OptionLine,
        RequestLine,
    )
}


def ledger_to_json(ledger: Ledger) -> dict[str, Any]:
    """Return the ledger as JSON values: the data of a `match` event."""
    return {name: _plain(getattr(ledger, name)) for name in _FIELDS[Ledger]}


def requests_to_json(requests: Iterable[RequestLine]) -> list[dict[str, Any]]:
    """Return lines of requests as JSON values, for events that tell of late ones."""
    return [_plain(line) for line in requests]


_DIGITS = {"cost": 9}  # a short request costs a fraction of a cent's hundredth


def _plain(value: Any, digits: int = 4) -> Any:  # values of a ledger in, JSON out
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return round(value, digits)
    names = _FIELDS.get(type(value))
    if names is not None:
        return {name: _plain(getattr(value, name), _DIGITS.get(name, 4)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value]


def ledger_from_json(data: Mapping[str, Any]) -> Ledger:
    """Return the ledger that `ledger_to_json` wrote; fields it does not know are dropped."""
    composition = data.get("composition")
    ledger: Ledger = _read(
        Ledger,
        {
            **data,
            "queries": tuple(data.get("queries", ())),
            "lines": tuple(
                _read(LedgerLine, {**line, "cause": tuple(line.get("cause", ()))})
                for line in data.get("lines", ())
            ),
            "requests": tuple(_read(RequestLine, line) for line in data.get("requests", ())),
            "calls": tuple(
                _read(CallLine, {**line, "why": tuple(line.get("why", ()))})
                for line in data.get("calls", ())
            ),
            "asked": tuple(
                AskedLine(line["tool"], tuple(line["rules"]), tuple(line["parameters"]))
                for line in data.get("asked", ())
            ),
            "clarifications": tuple(
                ClarificationLine(
                    line["head"],
                    line["question"],
                    tuple(OptionLine(each["subject"], each["as_said"]) for each in line["options"]),
                )
                for line in data.get("clarifications", ())
            ),
            "composition": None
            if composition is None
            else _read(
                CompositionLine,
                {
                    **composition,
                    "candidates": tuple(composition.get("candidates", ())),
                    "chosen": tuple(composition.get("chosen", ())),
                },
            ),
            "degradations": tuple(
                _read(Degradation, line) for line in data.get("degradations", ())
            ),
            "omissions": tuple(data.get("omissions", ())),
            "labels": tuple(data.get("labels", ())),
        },
    )
    return ledger


def _read(kind: type[Any], data: Mapping[str, Any]) -> Any:  # one reader for five classes
    known = {field.name for field in attrs.fields(kind)}
    return kind(**{name: value for name, value in data.items() if name in known})
