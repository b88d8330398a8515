from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise_embedded.negation import Denial, denial_in, is_denial


@pytest.mark.parametrize(
    "message",
    [
        "I don't want to close my account",
        "i dont want a refund",
        "I’m not asking about a refund",
        "This is not about my card",
        "I have not lost my card",
        "My card was never stolen",
        "No quiero cerrar mi cuenta",
        "No estoy preguntando por un reembolso",
        "Je ne veux pas fermer mon compte",
        "je veux pas de remboursement",
        "Je n'ai jamais demandé de remboursement",
        "Ich möchte mein Konto nicht schließen",
        "Ich brauche keine neue Karte",
        "Ich will nicht, dass mein Konto geschlossen wird",
        "Non voglio chiudere il mio conto",
        "Não quero encerrar minha conta",
        "Ik wil mijn rekening niet sluiten",
        "Nie chcę zamknąć konta",
    ],
)
def test_a_denial_is_the_whole_of_the_message(message: str) -> None:
    found = denial_in(message)

    assert found is not None
    assert found.rest == ""


@pytest.mark.parametrize(
    "message",
    [
        "I want a refund",
        "No, I want a refund",
        "no i want a refund",
        "No.",
        "I can't find my card",
        "i cant find my card",
        "My card is not working",
        "My transfer hasn't arrived yet",
        "I don't know how to close my account",
        "I'm not sure how to close my account",
        "Why was I not told about this fee?",
        "Can't you just close my account?",
        "If I don't pay, what happens?",
        "I don't recognise this payment",
        "No puedo encontrar mi tarjeta",
        "No sé cómo cerrar mi cuenta",
        "Je ne sais pas comment fermer mon compte",
        "Je ne peux pas ouvrir l'application",
        "Ich kann meine Karte nicht finden",
        "Ich weiß nicht, wie ich mein Konto schließe",
        "Non riesco ad aprire l'app",
        "Não consigo abrir o aplicativo",
        "Ik weet niet waar mijn kaart is",
        "Mijn pas is kwijt",
        "Nie mogę znaleźć karty",
        "No encuentro mi tarjeta",
        "Je ne trouve plus ma carte",
        "Ich finde meine Karte nicht mehr",
        "Non trovo la mia carta",
        "Não encontro o meu cartão",
        "Ik vind mijn pas niet",
        "Nie znajduję karty",
        "",
    ],
)
def test_not_knowing_failing_and_answering_deny_nothing(message: str) -> None:
    assert denial_in(message) is None


@pytest.mark.parametrize(
    ("message", "denied", "rest"),
    [
        (
            "I don't want a refund, I want a new card",
            "I don't want a refund",
            "I want a new card",
        ),
        ("I want a new card but not a refund", "not a refund", "I want a new card"),
        ("Freeze my card instead of closing my account", "closing my account", "Freeze my card"),
        (
            "Quiero una tarjeta nueva sin cerrar mi cuenta",
            "cerrar mi cuenta",
            "Quiero una tarjeta nueva",
        ),
        ("Ich will kein Geld, sondern eine Karte", "Ich will kein Geld", "eine Karte"),
        ("No, I don't want to pay. Where is my card?", "I don't want to pay", "Where is my card"),
    ],
)
def test_what_is_denied_is_told_from_the_rest(message: str, denied: str, rest: str) -> None:
    assert denial_in(message) == Denial(denied, rest)


def test_a_bare_no_is_a_denial_although_it_mentions_nothing() -> None:
    assert is_denial("No, that's fine")
    assert not is_denial("That's fine")


def test_a_message_that_also_says_something_else_is_no_denial_as_a_whole() -> None:
    assert is_denial("I don't want this card any more")
    assert not is_denial("I need more cheques since I do not have any")


def test_a_megabyte_is_read_as_quickly_as_a_page() -> None:
    assert denial_in("I don't want " + "ne pas " * 150_000) is not None


@given(st.text(st.characters(), max_size=300))
def test_no_text_breaks_it_and_parts_hold_only_what_was_said(text: str) -> None:
    found = denial_in(text)

    if found is not None:
        said = set(text.replace("’", "'"))
        assert set(found.denied + found.rest) <= said | {" "}
        assert found.denied
