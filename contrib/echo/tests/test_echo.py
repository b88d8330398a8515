import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise_echo
from poise import (
    Capability,
    Finish,
    GenerationOptions,
    ModelProvider,
    Offers,
    Prompt,
    Section,
    Stability,
    UnknownOfferError,
)
from poise.prompts import quoted
from poise_echo import EchoGenerator, EchoProvider, last_said

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def conversation(*messages: str) -> str:
    return "\n".join(["The conversation so far (quoted data):", *messages])


def test_is_offered_as_a_provider_called_echo() -> None:
    offers = Offers("echo")

    poise_echo.poise_provide(offers)

    (offer,) = offers.of(ModelProvider)
    assert (offer.name, offer.plugin, offer.is_default) == ("echo", "echo", False)


def test_serves_one_model_that_writes_text() -> None:
    provider = EchoProvider()

    assert provider.capabilities("words") == {Capability.TEXT}
    assert isinstance(provider.text_generator("words"), EchoGenerator)
    with pytest.raises(UnknownOfferError, match="words"):
        provider.text_generator("whistles")


@pytest.mark.anyio
async def test_says_what_the_customer_said_last_and_stops_at_the_limit() -> None:
    said = conversation('customer: "Hello"', 'agent: "Hi"', 'customer: "Where is\\nmy card?"')
    prompt = Prompt.of(Section("history", said, Stability.SESSION))

    whole = [c async for c in EchoGenerator().stream(prompt, options=GenerationOptions())]
    short = [
        c async for c in EchoGenerator().stream(prompt, options=GenerationOptions(max_output=2))
    ]

    assert [chunk.text for chunk in whole] == ["Where ", "is\n", "my ", "card?", ""]
    assert whole[-1].finish is Finish.COMPLETE
    assert "".join(chunk.text for chunk in short) == "Where is\n"
    assert short[-1].finish is Finish.TRUNCATED


@given(st.text(max_size=200))
@settings(deadline=None)
def test_whatever_is_quoted_comes_back_as_it_was_said(said: str) -> None:
    text = conversation('customer: "Hello"', f"customer: {quoted(said)}", "Task: reply.")

    assert last_said(text) == said


def test_the_example_runs() -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout == "Where is my card?\n"
