"""The plugin offers SQLite as the default storage, and costs nothing until it is chosen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from poise import Offers, Sections, Stores
from poise.hooks.offers import load
from poise.testing.clock import FrozenClock
from poise.values.clock import Clock
from poise_sql import SQLiteStores, SqlSettings, plugin


class Supplies:
    def supply(self, kind: type) -> object:
        known: dict[type, object] = {Clock: FrozenClock(), SqlSettings: SqlSettings()}
        return known[kind]


def test_sqlite_is_the_default_storage() -> None:
    offers = Offers("sql")
    plugin.poise_provide(offers)

    assert isinstance(offers.make(Stores, None, Supplies()), SQLiteStores)


def test_settings_section_is_declared() -> None:
    sections = Sections("sql")
    plugin.poise_config(sections)

    (section,) = sections.all()
    assert (section.name, load(section.model, "sql")) == ("sql", SqlSettings)


def test_importing_the_plugin_loads_no_database_library() -> None:
    code = "import sys, poise_sql.plugin; print('sqlalchemy' in sys.modules)"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "False"


def test_opening_a_current_database_does_not_load_the_migrations(path: Path) -> None:
    code = """
import sys, anyio
from pathlib import Path
from poise.values.clock import SystemClock
from poise_sql import SQLiteStores, SqlSettings

async def open_and_close(path):
    stores = SQLiteStores(SystemClock(), SqlSettings(path=path))
    await stores.start()
    await stores.stop()

path = Path(sys.argv[1])
anyio.run(open_and_close, path)
print('alembic' in sys.modules)
"""
    command = [sys.executable, "-c", code, str(path)]

    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]

    assert runs == ["True", "False"]
