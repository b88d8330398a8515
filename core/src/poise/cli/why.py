"""`poise why`: what became of each rule on a turn, and because of what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from poise.cli.output import json_option, write_json
from poise.cli.tables import write

if TYPE_CHECKING:
    from poise.app.explain import Explanation, TurnRecord
    from poise.app.reckoning import Reckoning
    from poise.app.runtime import Runtime
    from poise.ports.stores import ScopedStores
    from poise.sdk.hosting import HostedApplication
    from poise.turn.state import SessionState
    from poise.values.catalog import CatalogSnapshot
    from poise.values.customers import Customer
    from poise.values.events import Event


@attrs.frozen(eq=False)
class _Asked:
    """Where the answer is looked for, and how it is printed."""

    stores: ScopedStores
    runtime: Runtime | None
    program: str | None
    as_json: bool


@click.command()
@click.argument("session")
@click.argument("turn", required=False)
@click.argument("rule", required=False)
@click.option(
    "--app", metavar="FILE|MODULE", help="The program, to explain rules that never came up."
)
@click.option("--file", type=click.Path(path_type=Path), help="The settings file to read.")
@json_option
def why(
    session: str,
    turn: str | None,
    rule: str | None,
    *,
    app: str | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Say what became of each rule on a turn, and because of what.

    SESSION is an id, or `last`. TURN is a number from 1 or an id; left out, the last turn is
    taken. RULE is an id, a title, or a clear part of one; with it the answer is about that rule.
    """
    import anyio

    from poise.cli.opening import local_stores

    if app is not None:
        from poise.cli.programs import run_program
        from poise.cli.progress import TerminalProgress

        async def serve(application: HostedApplication) -> None:
            runtime = application.runtime
            asked = _Asked(runtime.stores.scope(application.scope), runtime, app, as_json)
            await _answer(asked, session, turn, rule=rule)

        run_program(app, serve, TerminalProgress())
        return

    async def alone() -> None:
        async with local_stores(file) as stores:
            await _answer(_Asked(stores, None, None, as_json), session, turn, rule=rule)

    anyio.run(alone)


async def _answer(asked: _Asked, session: str, turn: str | None, *, rule: str | None) -> None:
    from poise.app.explain import choose_turn, is_turn, turn_records, turn_to_json
    from poise.cli.accounts import reckoning_text, turn_text
    from poise.cli.opening import find_session

    found = await find_session(asked.stores, session)
    events = (await asked.stores.sessions.read(found.header.id)).events
    records = turn_records(events)
    names_turn = turn is None or turn.isdigit() or any(is_turn(each, turn) for each in records)
    if rule is None and not names_turn:
        turn, rule = None, turn  # `why SESSION RULE` is about the last turn
    record = choose_turn(records, turn)
    if rule is not None:
        await _about_rule(asked, record, rule, events=events)
    else:
        counted = await _reckoned(asked, record, events)
        if asked.as_json:
            counts = {} if counted is None else {"counts": attrs.asdict(counted)}
            write_json({"session": found.header.id, **turn_to_json(record), **counts})
        else:
            write(turn_text(record))
            if counted is not None:
                write(reckoning_text(counted))


async def _reckoned(asked: _Asked, record: TurnRecord, events: Sequence[Event]) -> Reckoning | None:
    """Return how many rules of the program's catalog had which fate; `None` without it."""
    from poise.app.reckoning import reckoning

    if asked.runtime is None:
        return None
    past = await _past(asked, asked.runtime, record, events)
    return reckoning(past.snapshot, record.ledger, customer=past.customer, before=past.before)


@attrs.frozen(eq=False)
class _Past:
    """What a turn started from, and the program's catalog now."""

    snapshot: CatalogSnapshot
    before: SessionState
    customer: Customer


async def _past(
    asked: _Asked, runtime: Runtime, record: TurnRecord, events: Sequence[Event]
) -> _Past:
    from poise.engine.loading import read_customer
    from poise.errors import ConfigError
    from poise.turn.state import fold

    header = (await asked.stores.sessions.get(record.event.session)).header
    snapshot = runtime.catalogs.current(header.agent)
    if snapshot is None:
        raise ConfigError(
            f"{asked.program} has no agent {header.agent!r}, to whom this session belongs"
        )
    before = fold(
        event
        for event in events
        if event.offset < record.ledger.upto and event.turn != record.ledger.turn
    )
    customer = await read_customer(asked.stores, before.customer or header.customer)
    return _Past(snapshot, before, customer)


async def _about_rule(
    asked: _Asked, record: TurnRecord, wanted: str, *, events: Sequence[Event]
) -> None:
    from poise.app.explain import explain_line, find_line
    from poise.cli.accounts import explanation_text

    line = find_line(record.ledger, wanted)
    notes: tuple[str, ...] = ()
    if line is None:
        explanation, notes = await _about_absent_rule(asked, record, wanted, events=events)
    else:
        explanation = explain_line(record.ledger, line)
    if asked.runtime is not None:
        past = await _past(asked, asked.runtime, record, events)
        explanation, more = _with_what_if(asked.runtime, past, record, explanation)
        notes = (*notes, *more)
    elif explanation.fate not in ("matched", "implied"):
        notes = (
            *notes,
            "add --app FILE|MODULE, the program, to see what would have had it matched",
        )
    if asked.as_json:
        write_json(
            {
                "session": record.event.session,
                "turn": record.ledger.turn,
                **attrs.asdict(explanation),
                "notes": list(notes),
            }
        )
    else:
        write(explanation_text(explanation, notes=notes))


async def _about_absent_rule(
    asked: _Asked, record: TurnRecord, wanted: str, *, events: Sequence[Event]
) -> tuple[Explanation, tuple[str, ...]]:
    """Explain a rule without a line in the ledger, from the catalog of the program."""
    from poise.app.explain import explain_absent, find_rule, scored_queries
    from poise.errors import ConfigError, NotFoundError

    if asked.runtime is None:
        raise ConfigError(
            f"{wanted!r} was no candidate on turn {record.number}: discovery did not bring it up, "
            f"or there is no such rule; add --app FILE|MODULE, the program, to see how near it was"
        )
    past = await _past(asked, asked.runtime, record, events)
    rule = find_rule(past.snapshot.rules.values(), wanted)
    if rule is None:
        raise NotFoundError("rule", wanted)
    sighting = await asked.runtime.discoverer.explain(
        rule.id, past.snapshot, scored_queries(events, record.ledger)
    )
    explanation = explain_absent(
        rule, customer=past.customer, before=past.before, sighting=sighting
    )
    if past.snapshot.version == record.ledger.catalog:
        return explanation, ()
    return explanation, (
        "the catalog has changed since that turn; these figures are of the present one",
    )


def _with_what_if(
    runtime: Runtime, past: _Past, record: TurnRecord, explanation: Explanation
) -> tuple[Explanation, tuple[str, ...]]:
    """Add what would have had the rule matched, as far as the present catalog can tell."""
    from poise.app.counterfactual import request_behind, what_if
    from poise.values.ids import RuleId

    rule = RuleId(explanation.rule)
    if rule not in past.snapshot.rules:
        return explanation, ()
    request = request_behind(record.ledger, past.snapshot, past.before, past.customer.groups)
    told = what_if(rule, explanation, request, runtime.resolver)
    is_same = past.snapshot.version == record.ledger.catalog
    return attrs.evolve(explanation, counterfactuals=told), (
        () if is_same or not told else ("what would have been is told by the present catalog",)
    )
