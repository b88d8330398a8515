"""Ids: stable for what is declared, sortable for the rest."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from poise.testing.clock import START, FrozenClock
from poise.values.ids import SortableIds, digest, sortable_id, stable_id


def test_declared_id_follows_from_agent_kind_and_key() -> None:
    first = stable_id("rule", "agent_a", "Lost card")

    assert first == stable_id("rule", "agent_a", "Lost card")
    assert first.startswith("rule_")


def test_same_text_on_two_agents_gives_two_ids() -> None:
    """B-079: unique per scope, the same over restarts."""
    assert stable_id("rule", "agent_a", "Lost card") != stable_id("rule", "agent_b", "Lost card")


@given(st.lists(st.text(), min_size=1), st.lists(st.text(), min_size=1))
def test_digest_tells_parts_apart(first: list[str], second: list[str]) -> None:
    assert (digest(*first) == digest(*second)) == (first == second)


@given(st.integers(0, 10**9), st.integers(1, 10**9), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_the_time_they_were_made(start: int, later: int, entropy: bytes) -> None:
    first = START + timedelta(milliseconds=start)
    second = first + timedelta(milliseconds=later)

    assert sortable_id("event", first, entropy) < sortable_id("event", second, b"\0" * 10)


def test_ids_of_one_moment_differ() -> None:
    ids = SortableIds(FrozenClock())

    assert len({ids.new("event") for _ in range(1000)}) == 1000
