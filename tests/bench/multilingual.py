"""Rules in English, customers in other languages: `nox -s bench -- multilingual [--json FILE]`.

The example bank's rules, and the messages of `contrib/bank/tests/languages.json`, each in a session
of its own on the default plugins. *Sighted*: discovery brings the right rule up. *Acted on*: it is
then judged to apply, and nothing sets it aside. Beside it, on the same messages: the rule whose
signal is nearest by cosine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import numpy as np
from report import Report

import poise
from poise.turn.fates import Fate
from poise_embedded.use import UniversalSentenceEmbedder
from poise_example_bank.fake import FakeBank
from poise_example_bank.main import build

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ROOT / "contrib" / "bank" / "tests" / "languages.json"


async def measure(report: Report, messages: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Fill the report: one row per language, then what was not acted on."""
    lost: list[tuple[str, str, str, str]] = []
    async with poise.Application(stores="memory") as app:
        agent = await build(app, FakeBank())
        await app.start()
        snapshot = app.runtime.catalogs.current(agent.id)
        assert snapshot is not None
        signals = [(rule.name, text) for rule in snapshot.rules.values() for text in rule.signals]
        embedder = UniversalSentenceEmbedder()
        known = await embedder.embed([text for _, text in signals])
        for language, rows in messages.items():
            sighted = acted = considered = 0
            for said, wanted in rows:
                session = await app.open_session(agent)
                ledger = (await session.say(said)).ledger
                assert ledger is not None
                hits = {line.name for line in ledger.lines if _is_sighted(line)}
                fates = {line.name: line.fate for line in ledger.lines}
                sighted += wanted in hits
                acted += fates.get(wanted) == Fate.MATCHED.value
                considered += len(hits)
                if fates.get(wanted) != Fate.MATCHED.value:
                    lost.append((language, said, wanted, fates.get(wanted, "not_discovered")))
            spoken = await embedder.embed([said for said, _ in rows])
            nearest = [signals[at][0] for at in np.argmax(spoken @ known.T, axis=1)]
            count = len(rows)
            report.row(
                "rules in English, messages in other languages",
                {
                    "language": language,
                    "messages": count,
                    "sighted": sighted / count,
                    "acted_on": acted / count,
                    "rules_sighted": considered / count,
                    "nearest_signal": sum(
                        near == wanted for near, (_, wanted) in zip(nearest, rows, strict=True)
                    )
                    / count,
                },
                name=language.lower(),
            )
    for language, said, wanted, fate in lost:
        report.row(
            "not acted on", {"language": language, "message": said, "rule": wanted, "fate": fate}
        )


def _is_sighted(line: poise.LedgerLine) -> bool:
    return (
        line.score is not None
        and line.threshold is not None
        and line.score >= line.threshold
        and line.fate != Fate.OVER_BUDGET.value
    )


def main() -> None:
    """Measure, print, and write the figures where `--json` says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    messages = json.loads(MESSAGES.read_text(encoding="utf-8"))
    report = Report("multilingual")
    anyio.run(measure, report, messages)
    report.finish(options.json)


if __name__ == "__main__":
    main()
