"""The port's suite, over the default resolver and over the naive one of the test kit."""

import pytest

from poise import Resolver
from poise.testing.matching import ResolverConformance
from poise.testing.scripted_matching import NaiveResolver
from poise_relations import WellFoundedResolver


class TestWellFoundedResolver(ResolverConformance):
    @pytest.fixture
    def subject(self) -> Resolver:
        return WellFoundedResolver()


class TestNaiveResolver(ResolverConformance):
    @pytest.fixture
    def subject(self) -> Resolver:
        return NaiveResolver()
