"""`poise demo`: a conversation with the example bank, and why it answers as it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import poise


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per turn.")
@click.option("--keep", is_flag=True, help="Keep the conversation where the settings say.")
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the index is kept; default: the user's cache folder.",
)
def demo(*, as_json: bool, keep: bool, cache: Path | None) -> None:
    """Play a conversation with the example bank, and show why it answers as it does.

    Needs no key and no network. The first start trains an index and keeps it in a cache folder;
    the conversation itself is forgotten unless you say --keep.
    """
    import anyio

    from poise.cli.tables import faint, write

    anyio.run(_play, as_json, None if keep else _stores(cache))
    if keep and not as_json:
        write(faint("Ask on: poise why last 10 'Offer the Plus plan'"))


def _stores(cache: Path | None) -> poise.Stores:
    from poise.values.clock import SystemClock
    from poise_example_bank.stores import DemoStores, cache_folder

    return DemoStores(SystemClock(), cache or cache_folder())


async def _play(as_json: bool, stores: poise.Stores | None) -> None:
    from contextlib import aclosing

    from poise import Application
    from poise.app.explain import turn_to_json
    from poise.cli.output import write_json
    from poise.cli.progress import TerminalProgress
    from poise.cli.tables import write
    from poise_example_bank.playing import play
    from poise_example_bank.rendering import turn_text

    async with (
        Application(stores=stores, progress=TerminalProgress()) as app,
        aclosing(play(app)) as conversation,
    ):
        async for played in conversation:
            if as_json:
                write_json({"shows": played.scene.shows, **turn_to_json(played.record)})
            else:
                write(f"{turn_text(played)}\n")
