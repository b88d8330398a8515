"""Opening a file: what is made, what is refused, and what the error tells the operator."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from pydantic import ValidationError
from sqlalchemy import create_engine

from poise.errors import ConfigError, InvalidValueError, StoreError
from poise.testing.clock import START, FrozenClock
from poise.testing.events import custom, said
from poise.testing.session_store import header_of
from poise.testing.stores import customer_of
from poise.values.ids import CustomerId, VariableId
from poise.values.scope import Scope
from poise.values.variables import VariableValue
from poise_sql import SQLiteStores, SqlSettings
from poise_sql.schema import HEAD, METADATA

pytestmark = pytest.mark.anyio

SCOPE = Scope.local()
ONE = header_of("one")


async def start(path: Path, **fields: Any) -> SQLiteStores:
    stores = SQLiteStores(FrozenClock(), SqlSettings(path=path, **fields))
    try:
        await stores.start()
    except ConfigError:
        await stores.stop()
        raise
    return stores


async def refusal(path: Path, **fields: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        await start(path, **fields)
    return str(caught.value)


async def test_file_and_folder_are_made(path: Path) -> None:
    stores = await start(path)
    await stores.stop()

    assert await anyio.Path(path).exists()


async def test_migrations_make_the_tables_that_the_code_uses(
    stores: SQLiteStores, path: Path
) -> None:
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), METADATA)
        tables = connection.exec_driver_sql("PRAGMA table_list").all()
        mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    engine.dispose()

    assert found == []
    assert {row[1] for row in tables if row[5]} >= set(METADATA.tables), "all are strict"
    assert mode == "wal"


async def test_migration_that_fails_leaves_nothing_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_given: object, **_named: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr("alembic.operations.Operations.create_index", break_down)
    with pytest.raises(RuntimeError):
        await start(path)
    monkeypatch.undo()
    with sqlite3.connect(path) as raw:
        tables = raw.execute("SELECT name FROM sqlite_master").fetchall()
    raw.close()
    await (await start(path)).stop()

    assert tables == []


def test_head_names_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "poise_sql:migrations")

    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


async def test_newer_tables_are_refused(path: Path) -> None:
    await (await start(path)).stop()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()

    said = await refusal(path)

    assert str(path) in said
    assert "upgrade poise-sql" in said


async def test_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE orders (id INTEGER)")
    raw.close()

    said = await refusal(path)
    with sqlite3.connect(path) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master")]
        mode = raw.execute("PRAGMA journal_mode").fetchone()
    raw.close()

    assert "something else" in said
    assert "orders" in said
    assert tables == ["orders"]
    assert mode == ("delete",)


async def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, but long enough to be read as one\n" * 40)

    said = await refusal(path)

    assert str(path) in said
    assert "set sql.path to another file" in said


def damage(path: Path) -> None:
    """Overwrite pages in the middle of the file; its header stays."""
    data = bytearray(path.read_bytes())
    data[8192 : len(data) // 2] = b"\x99" * (len(data) // 2 - 8192)
    path.write_bytes(data)


async def test_damaged_file_is_refused(path: Path) -> None:
    stores = await start(path)
    sessions = stores.scope(SCOPE).sessions
    await sessions.open(ONE)
    for _ in range(50):
        await sessions.append(ONE.id, [said("x" * 2000)])
    await stores.stop()
    damage(path)

    said_ = await refusal(path)

    assert str(path) in said_
    assert "restore a copy" in said_


async def test_folder_is_refused(tmp_path: Path) -> None:
    said = await refusal(tmp_path)

    assert "is a folder" in said


async def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    said = await refusal(tmp_path / "file" / "poise.db")

    assert "can't be made" in said
    assert "set sql.path" in said


async def test_failed_start_serves_nothing_from_memory(tmp_path: Path) -> None:
    stores = SQLiteStores(FrozenClock(), SqlSettings(path=tmp_path))
    with pytest.raises(ConfigError):
        await stores.start()

    with pytest.raises(StoreError, match="not open"):
        await stores.scope(SCOPE).sessions.open(ONE)
    with pytest.raises(StoreError, match="not open"):
        await stores.scope(SCOPE).customers.find()


async def test_stopped_stores_say_so(path: Path) -> None:
    stores = await start(path)
    await stores.stop()

    with pytest.raises(StoreError, match="start the stores first"):
        await stores.scope(SCOPE).sessions.get(ONE.id)


async def test_file_that_another_process_keeps_locked_is_an_error_that_says_so(path: Path) -> None:
    stores = await start(path, busy_timeout=0.05)
    await stores.scope(SCOPE).sessions.open(ONE)
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match=r"sql\.busy_timeout"):
        await stores.scope(SCOPE).sessions.append(ONE.id, [said("hello")])
    length = (await stores.scope(SCOPE).sessions.get(ONE.id)).length
    raw.execute("ROLLBACK")
    raw.close()
    after = await stores.scope(SCOPE).sessions.append(ONE.id, [said("hello")])

    assert length == 0, "reading goes on meanwhile"
    assert after[0].offset == 0, "and writing by itself afterwards"
    await stores.stop()


async def test_what_is_no_json_is_refused_by_name_and_nothing_is_kept(
    stores: SQLiteStores,
) -> None:
    sessions = stores.scope(SCOPE).sessions
    await sessions.open(ONE)
    value = VariableValue(VariableId("v"), CustomerId("c"), object(), START)

    with pytest.raises(InvalidValueError, match="event custom"):
        await sessions.append(ONE.id, [said("fine"), custom({"thing": object()})])
    with pytest.raises(InvalidValueError, match="variable value 'v/c'"):
        await stores.scope(SCOPE).values.put(value)

    assert (await sessions.get(ONE.id)).length == 0


async def test_half_a_surrogate_in_an_id_is_refused(stores: SQLiteStores) -> None:
    with pytest.raises(InvalidValueError, match="surrogate"):
        await stores.scope(SCOPE).customers.put(customer_of("a\ud83d"))


async def test_cancelled_append_is_whole_or_not_there(stores: SQLiteStores) -> None:
    sessions = stores.scope(SCOPE).sessions
    await sessions.open(ONE)

    for run in range(30):
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(sessions.append, ONE.id, [said("a"), said("b"), said("c")])
            for _ in range(run):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    history = await sessions.read(ONE.id)

    assert history.length % 3 == 0
    assert [each.offset for each in history.events] == list(range(history.length))
    assert "".join(each.text for each in history.events) == "abc" * (history.length // 3)


async def test_two_hundred_sessions_write_and_read_at_once(stores: SQLiteStores) -> None:
    sessions = stores.scope(SCOPE).sessions
    lengths: list[int] = []

    async def converse(place: int) -> None:
        header = header_of(str(place))
        await sessions.open(header)
        for turn in range(3):
            await sessions.append(header.id, [said(str(turn))])
            lengths.append((await sessions.read(header.id)).length)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for place in range(200):
                group.start_soon(converse, place)

    assert sorted(lengths) == [1] * 200 + [2] * 200 + [3] * 200


async def test_megabyte_message_passes(stores: SQLiteStores) -> None:
    sessions = stores.scope(SCOPE).sessions
    await sessions.open(ONE)
    text = "ä\x00{}" * 250_000

    await sessions.append(ONE.id, [said(text)])

    assert (await sessions.read(ONE.id)).events[0].text == text


@pytest.mark.parametrize(
    "given",
    [{"path": ":memory:"}, {"path": ""}, {"synchronous": "OFF"}, {"busy_timeout": 0}, {"where": 1}],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SqlSettings(**given)
