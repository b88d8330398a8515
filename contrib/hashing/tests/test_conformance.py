import pytest

from poise import Embedder
from poise.testing.embedding import EmbedderConformance
from poise_hashing import HashingEmbedder


class TestHashingEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self) -> Embedder:
        return HashingEmbedder()
