"""What was acknowledged is there after a restart, whichever way the process ended."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from poise.errors import NotFoundError
from poise.testing.clock import FrozenClock
from poise.testing.events import custom, said
from poise.testing.session_store import TTL, header_of
from poise.testing.stores import customer_of
from poise.turn.history import Checkpoint
from poise.turn.state import fold
from poise.values.ids import SessionId
from poise.values.scope import Scope
from poise_sql import SQLiteStores, SqlSettings

pytestmark = pytest.mark.anyio

SCOPE = Scope.local()
ONE = header_of("one")

WRITER = """
import sys
from pathlib import Path
import anyio
from poise.testing.events import said
from poise.testing.session_store import header_of
from poise.values.clock import SystemClock
from poise.values.scope import Scope
from poise_sql import SQLiteStores, SqlSettings

async def main(path, name, count):
    stores = SQLiteStores(SystemClock(), SqlSettings(path=Path(path), busy_timeout=60))
    await stores.start()
    sessions = stores.scope(Scope.local()).sessions
    session = (await sessions.open(header_of("one"))).header.id
    print("ready", flush=True)
    sys.stdin.readline()
    for place in range(int(count)):
        event = (await sessions.append(session, [said(f"{name}:{place}")]))[0]
        print(event.offset, event.text, flush=True)
    await stores.stop()

anyio.run(main, *sys.argv[1:])
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def opened(path: Path, clock: FrozenClock) -> SQLiteStores:
    stores = SQLiteStores(clock, SqlSettings(path=path))
    await stores.start()
    return stores


async def test_conversation_survives_a_restart(path: Path, clock: FrozenClock) -> None:
    before = await opened(path, clock)
    sessions = before.scope(SCOPE).sessions
    await sessions.open(ONE)
    stored = await sessions.append(ONE.id, [said("hello"), custom({"n": 1})])
    fence = await sessions.claim(ONE.id, "turn", TTL)
    checkpoint = Checkpoint(2, fold(stored))
    last = await sessions.append(ONE.id, [said("more")], fence=fence, checkpoint=checkpoint)
    await before.scope(SCOPE).customers.put(customer_of("a"))
    await before.artifacts.save("index", b"vectors")
    await before.stop()

    after = await opened(path, clock)
    again = after.scope(SCOPE)
    history = await again.sessions.read(ONE.id)

    assert history.events == (*stored, *last)
    assert history.checkpoint == checkpoint
    assert (await again.sessions.get(ONE.id)).header == ONE
    assert await again.sessions.claim(ONE.id, "another", TTL) is None, "a lease outlives a restart"
    assert (await again.customers.get("a")).value == customer_of("a")
    assert await after.artifacts.load("index") == b"vectors"
    await after.stop()


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
async def test_killed_process_loses_nothing_that_it_acknowledged(
    path: Path, clock: FrozenClock, acknowledged: int
) -> None:
    process = writer(path, "w", 100_000)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        lines = [process.stdout.readline().split() for _ in range(acknowledged)]
        process.send_signal(signal.SIGKILL)
        lines += [line.split() for line in process.stdout if line.endswith("\n")]

    stores = await opened(path, clock)
    history = await stores.scope(SCOPE).sessions.read(ONE.id)
    after = await stores.scope(SCOPE).sessions.append(ONE.id, [said("on it goes")])
    await stores.stop()

    assert len(lines) >= acknowledged
    assert [[str(each.offset), each.text] for each in history.events][: len(lines)] == lines
    assert [each.offset for each in history.events] == list(range(history.length))
    assert after[0].offset == history.length


async def test_processes_on_one_file_get_dense_and_unique_offsets(
    path: Path, clock: FrozenClock
) -> None:
    processes = [writer(path, name, 50) for name in "abc"]  # which also make the file at once
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    said_by = {}
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for name, process in zip("abc", processes, strict=True):
        said_by[name] = process.communicate(timeout=60)[0].splitlines()

    stores = await opened(path, clock)
    history = await stores.scope(SCOPE).sessions.read(ONE.id)
    await stores.stop()

    assert [each.offset for each in history.events] == list(range(150))
    for name, lines in said_by.items():
        own = [f"{each.offset} {each.text}" for each in history.events if each.text[0] == name]
        assert own == lines, "what each was told is what is stored"


async def test_lease_is_one_for_all_processes(path: Path, clock: FrozenClock) -> None:
    first, second = await opened(path, clock), await opened(path, clock)
    ours, theirs = first.scope(SCOPE).sessions, second.scope(SCOPE).sessions
    await ours.open(ONE)

    fence = await ours.claim(ONE.id, "a", TTL)
    held = await theirs.claim(ONE.id, "b", TTL)
    clock.advance(21)
    taken = await theirs.claim(ONE.id, "b", TTL)

    assert fence is not None
    assert held is None
    assert taken is not None
    assert taken.epoch > fence.epoch
    await first.stop()
    await second.stop()


async def test_follower_sees_what_another_process_appends(path: Path, clock: FrozenClock) -> None:
    first, second = await opened(path, clock), await opened(path, clock)
    await first.scope(SCOPE).sessions.open(ONE)
    events = first.scope(SCOPE).sessions.follow(ONE.id, 0)
    texts: list[str] = []

    async def follow() -> None:
        with anyio.fail_after(10):
            texts.append((await anext(events)).text)

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        await second.scope(SCOPE).sessions.append(ONE.id, [said("from elsewhere")])

    assert texts == ["from elsewhere"]
    await first.stop()
    await second.stop()


@pytest.mark.parametrize("state", ["{", '{"version": 0}', json.dumps({"version": 1}), "[]"])
async def test_checkpoint_that_cannot_be_used_is_left_out(
    path: Path, clock: FrozenClock, state: str
) -> None:
    stores = await opened(path, clock)
    sessions = stores.scope(SCOPE).sessions
    await sessions.open(ONE)
    stored = await sessions.append(ONE.id, [said("hello")])
    await sessions.append(ONE.id, [custom()], checkpoint=Checkpoint(1, fold(stored)))
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE checkpoints SET state = ?", (state,))
    raw.close()

    history = await sessions.read(ONE.id)

    assert history.checkpoint is None, "fold the log afresh rather than believe it"
    assert history.length == 2
    await stores.stop()


async def test_session_that_was_never_opened_is_not_there_after_a_restart(
    path: Path, clock: FrozenClock
) -> None:
    stores = await opened(path, clock)

    with pytest.raises(NotFoundError):
        await stores.scope(SCOPE).sessions.get(SessionId("session_none"))
    await stores.stop()
