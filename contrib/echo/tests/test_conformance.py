import pytest

from poise import ModelProvider, TextGenerator
from poise.testing.embedding import ModelProviderConformance
from poise.testing.generating import TextGeneratorConformance
from poise_echo import EchoGenerator, EchoProvider


class TestEchoProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return EchoProvider()


class TestEchoGenerator(TextGeneratorConformance):
    @pytest.fixture
    def subject(self) -> TextGenerator:
        return EchoGenerator()
