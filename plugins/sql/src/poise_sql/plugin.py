"""What this distribution offers."""

from __future__ import annotations

from poise import Offers, Sections, Stores, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("sql", "poise_sql.settings:SqlSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Stores, "sqlite", "poise_sql.stores:SQLiteStores", default=True)
