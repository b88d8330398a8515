"""What is left out of a prompt that is too long: no more than needed, in order, and by name."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import Cut, Prompt, Question, Section, Stability, prompts
from poise.engine.fitting import estimate, fit, split_questions
from poise.testing.turns import catalog_of, turn_of

# -- how long a text is --


@given(st.text(), st.text())
def test_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    assert estimate(text + more) >= estimate(text)
    assert estimate(more + text) >= estimate(text)


@given(st.text(), st.text())
def test_two_texts_have_no_more_tokens_together_than_apart(text: str, more: str) -> None:
    assert estimate(text + more) <= estimate(text) + estimate(more)


@given(st.text(min_size=1))
def test_only_the_empty_text_has_no_tokens(text: str) -> None:
    assert estimate(text) > 0
    assert estimate("") == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The quick brown fox jumps over the lazy dog", 13),
        ("我想取消我的订单", 10),
        ("Я хочу отменить заказ", 12),
        ("मैं अपना ऑर्डर रद्द करना चाहता हूँ", 31),
        ('{"a": 1, "b": 2}', 8),
        ("😀😀", 6),
        ("\ud83d", 2),
    ],
)
def test_scripts_are_counted_as_the_page_says(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


# -- prompts --

sections = st.builds(
    Section,
    name=st.sampled_from(["identity", "terms", "history", "results", "task"]),
    text=st.lists(st.text("ab cd", max_size=12), min_size=1, max_size=8).map("\n".join),
    stability=st.sampled_from(Stability),
    priority=st.sampled_from([0, 30, 30, 100]),
    cut=st.sampled_from(Cut),
)
prompts_ = st.lists(sections, max_size=6).map(lambda given: Prompt.of(*given))
rooms = st.integers(0, 80)
counters = st.sampled_from([estimate, len, lambda text: len(text.split())])


@given(prompts_, rooms, counters)
def test_what_fits_has_no_more_tokens_than_there_is_room(prompt, room, count) -> None:  # type: ignore[no-untyped-def]
    fitted = fit(prompt, room, count=count)

    assert fitted.tokens == count(fitted.prompt.text)
    assert fitted.fits == (fitted.tokens <= room)


@given(prompts_, rooms, counters)
def test_what_does_not_fit_has_lost_all_that_may_go(prompt, room, count) -> None:  # type: ignore[no-untyped-def]
    fitted = fit(prompt, room, count=count)

    if not fitted.fits:
        assert all(each.cut is Cut.NOTHING for each in fitted.prompt.sections)


@given(prompts_, counters)
def test_nothing_is_left_out_of_what_fits(prompt, count) -> None:  # type: ignore[no-untyped-def]
    fitted = fit(prompt, count(prompt.text), count=count)

    assert fitted.prompt == prompt
    assert fitted.omitted == ()


@given(prompts_, rooms, counters)
def test_fitting_again_changes_nothing(prompt, room, count) -> None:  # type: ignore[no-untyped-def]
    once = fit(prompt, room, count=count)
    again = fit(once.prompt, room, count=count)

    assert again.prompt == once.prompt
    assert again.omitted == ()


@given(prompts_, rooms)
def test_what_stays_keeps_its_place_and_its_bytes(prompt: Prompt, room: int) -> None:
    fitted = fit(prompt, room)

    waiting = iter(prompt.sections)
    for kept in fitted.prompt.sections:
        given_ = next(each for each in waiting if _is_from(kept, each))
        if given_.cut is not Cut.OLDEST_LINES:
            assert kept == given_


def _is_from(kept: Section, given_: Section) -> bool:
    """Say whether a section is another, whole or with a mark in the place of its first lines."""
    if attrs.evolve(kept, text=given_.text) != given_:
        return False
    if kept.text == given_.text:
        return True
    heading, _mark, *rest = kept.text.split("\n")
    lines = given_.text.split("\n")
    return heading == lines[0] and rest == lines[len(lines) - len(rest) :] and bool(rest)


@given(prompts_, rooms)
def test_what_went_is_named_and_nothing_else(prompt: Prompt, room: int) -> None:
    fitted = fit(prompt, room)

    kept = [each.name for each in fitted.prompt.sections]
    whole = [each for each in fitted.omitted if ":" not in each]
    shortened = [each for each in fitted.prompt.sections if "older lines are left out" in each.text]
    assert sorted(kept + whole) == sorted(each.name for each in prompt.sections)
    assert len(fitted.omitted) - len(whole) == len(shortened)


@given(prompts_, rooms)
def test_a_whole_section_goes_only_after_all_of_lower_priority(prompt: Prompt, room: int) -> None:
    fitted = fit(prompt, room)

    whole = [each for each in prompt.sections if each.cut is Cut.WHOLE]
    kept = [each.priority for each in fitted.prompt.sections if each.cut is Cut.WHOLE]
    gone = sorted(each.priority for each in whole)
    for priority in kept:
        gone.remove(priority)
    assert not gone or not kept or max(gone) <= min(kept)


@given(st.integers(2, 40), st.integers(0, 300))
def test_no_more_lines_go_than_needed(count: int, room: int) -> None:
    lines = [f"customer: message number {place}" for place in range(count)]
    section = Section(
        "history", "\n".join(["So far:", *lines]), Stability.SESSION, cut=Cut.OLDEST_LINES
    )

    fitted = fit(Prompt.of(section), room)

    if fitted.omitted and fitted.prompt.sections:
        (said,) = fitted.omitted
        gone = int(said.split()[1])
        text = "\n".join(
            ["So far:", f"[{gone} older lines are left out]", *lines[gone:]],
        )
        assert fitted.prompt.text == text
        less = [f"[{gone - 1} older lines are left out]", *lines[gone - 1 :]]
        one_more = "\n".join(["So far:", *(less if gone > 1 else lines)])
        assert estimate(one_more) > room


def test_shortened_section_that_is_shortened_again_counts_all_that_went() -> None:
    lines = "\n".join(["So far:", *(f"customer: number {place}" for place in range(20))])
    prompt = Prompt.of(Section("history", lines, Stability.SESSION, cut=Cut.OLDEST_LINES))

    once = fit(prompt, 60)
    twice = fit(once.prompt, 40)

    assert twice == fit(prompt, 40)


def test_of_equal_priority_the_less_stable_goes_first() -> None:
    prompt = Prompt.of(
        Section("catalog", "a" * 40, Stability.CATALOG),
        Section("session", "b" * 40, Stability.SESSION),
        Section("turn", "c" * 40, Stability.TURN),
    )

    assert fit(prompt, 30).omitted == ("turn",)
    assert fit(prompt, 15).omitted == ("session", "turn")


def test_a_turns_prompt_loses_its_oldest_messages_first_and_the_newest_last() -> None:
    turn = turn_of(
        catalog_of(),
        *(f"message number {place} of a long conversation" for place in range(40)),
        variables={"plan": "gold"},
    )
    prompt = prompts.situation(turn)
    all_tokens = estimate(prompt.text)

    half, tight = fit(prompt, all_tokens // 2), fit(prompt, 50)

    assert "number 39" in half.prompt.text
    assert "gold" in half.prompt.text
    assert half.omitted[0].startswith("history: ")
    assert half.omitted[0].endswith(" oldest lines")
    assert "number 39" in tight.prompt.text
    assert "variables" in tight.omitted
    assert fit(prompt, 3).fits is False, "who the agent is never goes"


# -- questions --


def questions_of(count: int) -> list[Question]:
    return [Question(f"q{place}", "x" * (place % 7)) for place in range(count)]


@given(st.integers(0, 60), st.none() | st.integers(1, 40), st.integers(1, 30))
def test_batches_hold_every_question_once_in_order_and_fit(
    number: int, room: int | None, limit: int
) -> None:
    asked = questions_of(number)

    batches = split_questions(asked, room, limit=limit, count=lambda each: len(each.text))

    assert [each for batch in batches for each in batch] == asked
    assert all(batches)
    for batch in batches:
        assert len(batch) <= limit
        size = sum(len(each.text) for each in batch)
        assert room is None or size <= room or len(batch) == 1


@given(st.integers(1, 200), st.integers(1, 50))
def test_batches_are_as_few_as_the_limit_allows_and_even(number: int, limit: int) -> None:
    sizes = [
        len(batch)
        for batch in split_questions(questions_of(number), None, limit=limit, count=lambda _: 1)
    ]

    assert len(sizes) == -(-number // limit)
    assert max(sizes) == -(-number // len(sizes))
