"""The ports' suites over this implementation, and over the scripted ones that keep them honest."""

from __future__ import annotations

import pytest

from poise import Composer, TermFinder
from poise.testing.composition import ComposerConformance, TermFinderConformance
from poise.testing.scripted_composition import ScriptedComposer, ScriptedTermFinder
from poise_compose import CannedComposer, ComposeSettings, LexicalTermFinder


class TestCannedComposer(ComposerConformance):
    @pytest.fixture
    def subject(self) -> Composer:
        return CannedComposer(ComposeSettings())


class TestCannedComposerInSeparateMessages(ComposerConformance):
    @pytest.fixture
    def subject(self) -> Composer:
        return CannedComposer(ComposeSettings(separate_messages=True, cached_vectors=0))


class TestScriptedComposer(ComposerConformance):
    @pytest.fixture
    def subject(self) -> Composer:
        return ScriptedComposer()


class TestLexicalTermFinder(TermFinderConformance):
    @pytest.fixture
    def subject(self) -> TermFinder:
        return LexicalTermFinder(ComposeSettings())


class TestScriptedTermFinder(TermFinderConformance):
    @pytest.fixture
    def subject(self) -> TermFinder:
        return ScriptedTermFinder()
