"""The provider `cassette`: `cassette:openai:gpt-x` is `openai:gpt-x`, recorded or played back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from poise import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    Providers,
    StructuredGenerator,
    TextGenerator,
)
from poise.turn.models import Capability
from poise_cassettes.behind import Behind
from poise_cassettes.embedder import CassetteEmbedder
from poise_cassettes.errors import UnrecordedModelError
from poise_cassettes.folder import Folder
from poise_cassettes.models import (
    CassetteDecisionModel,
    CassetteModerator,
    CassetteStructuredGenerator,
    CassetteTextGenerator,
)
from poise_cassettes.settings import CassetteSettings, Mode
from poise_cassettes.tape import Tape

W = TypeVar("W")


class CassetteProvider(ModelProvider):
    """Gives out the models of other providers, each behind a tape of its own.

    In replay the other provider is neither made nor looked for: it needs no key, and need not be
    installed.
    """

    name = "cassette"

    def __init__(self, settings: CassetteSettings, providers: Providers) -> None:
        self._mode = settings.mode
        self._folder = Folder(settings.folder)
        self._providers = providers
        self._tapes: dict[str, Tape] = {}
        self.concurrency = None if self._mode is Mode.REPLAY else settings.concurrency

    def models(self, capability: Capability) -> Sequence[str]:
        return [
            model
            for model in self._folder.models()
            if capability.value in self._tape(model).facts().get("capabilities", ())
        ]

    def card_of(self, model: str) -> tuple[str, str]:
        provider, _, wrapped = model.partition(":")
        return (provider, wrapped) if wrapped else (self.name, model)

    def capabilities(self, model: str) -> frozenset[Capability]:
        # What wraps nothing, or was never recorded, can be asked for anything, and then says what
        # is wrong. Had it no capabilities, another model would quietly answer in its place.
        everything = frozenset(Capability)
        if not self._is_wrapped(model):
            return everything
        recorded = self._tape(model).facts().get("capabilities")
        if self._mode is Mode.RECORD or (self._mode is Mode.AUTO and recorded is None):
            provider, _, name = model.partition(":")
            return self._providers.get(provider).capabilities(name)
        return everything if recorded is None else frozenset(map(Capability, recorded))

    def embedder(self, model: str) -> Embedder:
        tape = self._known(model, "embedder", Capability.EMBED)
        return CassetteEmbedder(
            tape, self._behind(model, lambda provider, name: provider.embedder(name))
        )

    def decision_model(self, model: str) -> DecisionModel:
        tape = self._known(model, "decision model", Capability.DECIDE)
        return CassetteDecisionModel(
            tape, self._behind(model, lambda provider, name: provider.decision_model(name))
        )

    def text_generator(self, model: str) -> TextGenerator:
        tape = self._known(model, "text generator", Capability.TEXT)
        return CassetteTextGenerator(
            tape, self._behind(model, lambda provider, name: provider.text_generator(name))
        )

    def structured_generator(self, model: str) -> StructuredGenerator:
        tape = self._known(model, "structured generator", Capability.STRUCTURED)
        behind = self._behind(model, lambda provider, name: provider.structured_generator(name))
        return CassetteStructuredGenerator(tape, behind)

    def moderator(self, model: str) -> Moderator:
        tape = self._known(model, "moderator", Capability.MODERATE)
        return CassetteModerator(
            tape, self._behind(model, lambda provider, name: provider.moderator(name))
        )

    def _tape(self, model: str) -> Tape:
        tape = self._tapes.get(model)
        if tape is None:
            tape = Tape(self._folder, self._mode, model, provider=self.name)
            self._tapes[model] = tape
        return tape

    def _known(self, model: str, what: str, capability: Capability) -> Tape:
        """Return the tape of a model that can be played, or made."""
        if not self._is_wrapped(model):
            raise self._unknown(f"{what}, written `provider:model`,", model, capability)
        tape = self._tape(model)
        named = {Capability.EMBED: "embedding", Capability.DECIDE: "decision"}.get(capability)
        facts = tape.facts()
        if self._mode is Mode.REPLAY and (not facts or (named and named not in facts)):
            raise UnrecordedModelError(f"recorded {what}", model, tuple(self.models(capability)))
        return tape

    def _behind(self, model: str, made: Callable[[ModelProvider, str], W]) -> Behind[W]:
        provider, _, name = model.partition(":")

        def make() -> W:
            return made(self._providers.get(provider), name)

        def capabilities() -> Sequence[str]:
            known = self._providers.get(provider).capabilities(name)
            return sorted(each.value for each in known)

        return Behind(make, capabilities)

    def _is_wrapped(self, model: str) -> bool:
        provider, _, name = model.partition(":")
        return bool(provider and name) and provider != self.name
