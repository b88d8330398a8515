"""One SQLite file: a connection that writes, one that reads, and what can go wrong with them.

A transaction is one function of a connection, run whole in a worker thread: one change of thread
for all its statements. Writes begin at once as writers, so that what they read holds until they
commit, whichever process writes beside them.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable
from sqlite3 import Connection
from typing import TypeVar

import anyio

from poise.errors import ConfigError, InvalidValueError, StoreError
from poise_sql.migrating import migrate
from poise_sql.settings import SqlSettings
from poise_sql.work import WorkQueue

logger = logging.getLogger(__name__)

T = TypeVar("T")

_OLDEST = (3, 37, 0)
"""The first SQLite with strict tables."""

_CHECKED_UP_TO = 16_000_000
"""Bytes up to which a file is read through at start, which then costs less than 0.1 s."""


class SQLiteDatabase:
    """A database file, from `open` to `close`."""

    def __init__(self, settings: SqlSettings) -> None:
        self._settings = settings
        self._path = settings.path
        self._writer: Connection | None = None
        self._reader: Connection | None = None
        self._writes = WorkQueue()
        self._reads = WorkQueue()

    async def open(self) -> None:
        """Open the file, made if need be, and bring its tables up to date.

        Raises:
            ConfigError: It can't be used; the message says why and what to do.
        """
        await self._writes.run(self._open)

    async def close(self) -> None:
        """Close both connections, after the work under way."""
        with anyio.CancelScope(shield=True):
            await self._reads.run(self._close_reader)
            await self._writes.run(self._close_writer)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns, from a transaction that is durable by then.

        Raises:
            StoreError: The database could not do it; nothing was changed.
        """
        return await self._writes.run(lambda: self._transact(self._writer, work, "BEGIN IMMEDIATE"))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns, from a transaction that sees one state of the database.

        Raises:
            StoreError: The database could not do it.
        """
        return await self._reads.run(lambda: self._transact(self._reader, work, "BEGIN"))

    def _transact(
        self, connection: Connection | None, work: Callable[[Connection], T], begin: str
    ) -> T:
        if connection is None:
            raise StoreError(f"{self._path} is not open: start the stores first")
        try:
            connection.execute(begin)
            try:
                result = work(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
        except sqlite3.Error as exc:
            raise StoreError(f"{self._path}: {_reason(exc)}") from exc
        except UnicodeEncodeError as exc:
            raise InvalidValueError(
                "id or name", "text", "holds half a surrogate pair, which can't be stored"
            ) from exc
        return result

    # -- opening and closing --

    def _open(self) -> None:
        path = self._path
        if sqlite3.sqlite_version_info < _OLDEST:
            raise ConfigError(
                f"SQLite {sqlite3.sqlite_version} is too old: use a Python that brings "
                f"{'.'.join(map(str, _OLDEST))} or newer"
            )
        if path.is_dir():
            raise ConfigError(f"sql.path {path} is a folder: name a file in it")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise ConfigError(
                f"sql.path {path}: its folder can't be made ({exc.strerror}); "
                f"set sql.path to a place that can be written to"
            ) from exc
        try:
            self._writer = _connect(self._settings)
            migrate(self._writer, str(path))
            # Not before the file is known to be ours: this changes it.
            _use_write_ahead_log(self._writer, self._settings.busy_timeout)
            self._check(self._writer)
            self._reader = _connect(self._settings)
        except Exception as exc:
            self._close_writer()
            if isinstance(exc, sqlite3.Error):
                raise ConfigError(f"sql.path {path}: {_reason(exc)}") from exc
            raise

    def _check(self, connection: Connection) -> None:
        """Find out now what would fail later: a file that can't be written to, or is damaged."""
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()
        if self._path.stat().st_size > _CHECKED_UP_TO:
            return
        ((found,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
        if found != "ok":
            raise ConfigError(
                f"sql.path {self._path} is damaged ({found}): restore a copy of it, or move it "
                f"away to begin anew"
            )

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


_MENDS = {
    "locked": "another process has been writing for longer than sql.busy_timeout: find it, "
    "or allow it more time",
    "not a database": "the file is something else or damaged: restore a copy of it, or set "
    "sql.path to another file",
    "malformed": "the file is damaged: restore a copy of it, or move it away to begin anew",
    "unable to open": "see that the file and its folder can be written to, or set sql.path to "
    "another place",
    "readonly": "see that the file and its folder can be written to, or set sql.path to another "
    "place",
    "full": "make room on the disk",
}


def _reason(exc: sqlite3.Error) -> str:
    """Return what went wrong, and what mends it."""
    said = str(exc)
    for sign, mend in _MENDS.items():
        if sign in said:
            return f"{said}; {mend}"
    return said


def _connect(settings: SqlSettings) -> Connection:
    connection = sqlite3.connect(
        settings.path,
        timeout=settings.busy_timeout,
        check_same_thread=False,  # worker threads take turns, one at a time
        isolation_level=None,  # transactions begin as `_transact` says, and only there
    )
    connection.execute(f"PRAGMA synchronous = {settings.synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _use_write_ahead_log(connection: Connection, patience: float) -> None:
    """Switch the file to its write-ahead log, which may take a moment of having it alone."""
    deadline = time.monotonic() + patience
    while True:
        try:
            ((mode,),) = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except sqlite3.OperationalError as exc:
            # SQLite does not wait here by itself when two processes make the file at once.
            if "locked" not in str(exc) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            if mode != "wal":
                logger.warning("no write-ahead log here: reads wait for writes")
            return
