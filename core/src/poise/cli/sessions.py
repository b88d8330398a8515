"""`poise sessions`: the conversations in the store, and one of them in full."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.output import json_option, write_json
from poise.cli.tables import one_line, printable, table, write

if TYPE_CHECKING:
    from poise.ports.stores import ScopedStores
    from poise.values.events import Event
    from poise.values.sessions import Session

_file_option = click.option(
    "--file", type=click.Path(path_type=Path), help="The settings file to read."
)


@click.group(invoke_without_command=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, help="At most so many.")
@_file_option
@json_option
@click.pass_context
def sessions(context: click.Context, limit: int, file: Path | None, as_json: bool) -> None:
    """List conversations, newest first, or print one."""
    if context.invoked_subcommand is not None:
        return
    import anyio

    anyio.run(_list, limit, file, as_json)


@sessions.command()
@click.argument("session")
@_file_option
@json_option
def show(session: str, file: Path | None, as_json: bool) -> None:
    """Print a conversation; SESSION is an id, or `last`."""
    import anyio

    anyio.run(_show, session, file, as_json)


async def _list(limit: int, file: Path | None, as_json: bool) -> None:
    from poise.cli.opening import local_stores

    async with local_stores(file) as stores:
        page = await stores.sessions.find(limit=limit)
        rows = [await _row(stores, session) for session in page.items]
    if as_json:
        write_json(rows)
    elif not rows:
        write("no conversation yet", err=True)
    else:
        headers = ("session", "agent", "title", "messages", "last activity")
        keys = ("id", "agent", "title", "messages", "last_activity")
        write(
            table(
                headers, [[row[key] for key in keys] for row in rows], right=frozenset({"messages"})
            )
        )
        if page.cursor is not None:
            write(f"more than {limit}; see --limit", err=True)


async def _row(stores: ScopedStores, session: Session) -> dict[str, Any]:
    from poise.turn.state import fold
    from poise.values.events import EventKind

    header = session.header
    said = await stores.sessions.read(
        header.id, kinds=frozenset({EventKind.MESSAGE, EventKind.SESSION})
    )
    newest = await stores.sessions.read(header.id, last=1)
    at = newest.events[-1].at if newest.events else header.created
    title = fold(event for event in said.events if event.kind is EventKind.SESSION).title
    return {
        "id": header.id,
        "agent": header.agent,
        "customer": header.customer,
        "title": title or header.title,
        "messages": len(said.messages),
        "last_activity": at.isoformat(timespec="seconds"),
    }


async def _show(wanted: str, file: Path | None, as_json: bool) -> None:
    from poise.cli.opening import find_session, local_stores
    from poise.values.events import EventKind

    async with local_stores(file) as stores:
        session = await find_session(stores, wanted)
        history = await stores.sessions.read(
            session.header.id, kinds=frozenset({EventKind.MESSAGE})
        )
    if as_json:
        write_json(
            {
                "id": session.header.id,
                "agent": session.header.agent,
                "customer": session.header.customer,
                "messages": [_message(event) for event in history.messages],
            }
        )
        return
    for event in history.messages:
        who = "customer" if event.is_customer_message else "agent"
        at = event.at.isoformat(sep=" ", timespec="seconds")
        write(f"{at}  {one_line(who)}: {printable(event.text)}")


def _message(event: Event) -> dict[str, Any]:
    return {
        "offset": event.offset,
        "at": event.at.isoformat(),
        "source": event.source.value,
        "turn": event.turn,
        "text": event.text,
    }
