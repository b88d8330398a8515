"""`poise demo`: what it prints, and what it leaves behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from poise_example_bank.command import demo
from poise_example_bank.playing import Played
from poise_example_bank.rendering import turn_text
from poise_example_bank.script import SCENES


@pytest.fixture
def run(
    cache: Path, settings_of_nobody: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Result:
    monkeypatch.chdir(tmp_path)
    return CliRunner().invoke(demo, ["--json", "--cache", str(cache)])


def test_json_is_one_object_per_turn(run: Result) -> None:
    turns = [json.loads(line) for line in run.stdout.splitlines()]

    assert run.exit_code == 0
    assert [turn["said"] for turn in turns] == [[scene.said] for scene in SCENES]
    assert [turn["number"] for turn in turns] == list(range(1, len(SCENES) + 1))
    assert all(turn["replies"] and turn["lines"] and turn["milliseconds"] for turn in turns)


def test_nothing_is_left_in_the_folder_it_is_started_in(run: Result, tmp_path: Path) -> None:
    assert not list(tmp_path.iterdir())


def test_a_second_start_trains_nothing(run: Result, cache: Path) -> None:
    again = CliRunner().invoke(demo, ["--json", "--cache", str(cache)])

    assert "telling rules apart" not in again.stderr


def test_help_imports_neither_models_nor_the_agent() -> None:
    code = (
        "import sys, poise_example_bank.command;"
        "print([name for name in ('anyio', 'numpy', 'poise.app', 'poise_example_bank.main')"
        " if name in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"


def test_a_turn_shows_who_set_a_rule_aside(conversation: Sequence[Played]) -> None:
    complaint = next(each for each in conversation if "complaint outranks" in each.scene.shows)

    text = turn_text(complaint, width=160)

    (row,) = (line for line in text.splitlines() if line.startswith("Offer the Plus plan"))
    assert "outranked" in row
    assert "'Take a complaint' (priority)" in row
    assert "tool open_complaint() finished" in text
    assert " ms (" in text


def test_a_turn_counts_what_nothing_came_of(conversation: Sequence[Played]) -> None:
    text = turn_text(conversation[1], width=160)

    assert "do not apply" in text
    assert "not_applicable" not in text


def test_a_narrow_terminal_gets_no_wider_table(conversation: Sequence[Played]) -> None:
    rows = [
        line
        for each in conversation
        for line in turn_text(each, width=72).splitlines()
        if " matched " in line
    ]

    assert rows
    assert all(len(row) <= 72 for row in rows)
