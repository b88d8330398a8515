"""`Wire`: how one vendor writes its answers, for the suite that every HTTP provider runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from poise.testing.fake_server import FakeModelServer, Received, Reply, Scripted
from poise.turn.generation import ModelCall, Usage
from poise.turn.models import Capability

CANARY = "canary-4f1d9c0b7e-this-key-must-appear-nowhere"
"""The key that the suite gives to every provider, and looks for in whatever it says."""


class Wire(ABC):
    """What a vendor's server sends, built from what a test wants said.

    Write one per dialect of a vendor, after its published types, and return it from the fixture
    `wire` of a `ProviderWireConformance`. Every method returns a `Scripted`: a status, a body
    (text, bytes, or JSON values) or `events`, as `poise.testing.fake_server` sends them.
    `usage` is in Poise's terms (`input_tokens` is the whole prompt, cached tokens included);
    translate it back into the vendor's. What a vendor does not have returns `None`, and its tests
    are skipped.

    Attributes:
        models: A model for each capability that this dialect serves; only these are tested.
        paths: Where requests of each capability arrive; `*` stands for anything.
        key_variable: The environment variable that holds the key, named when a key is wrong or
            missing; empty: this dialect needs none.
        sdk: The module that constructing must not import; empty: there is none.
        reports: The fields of `Usage` that the vendor tells for generations.
    """

    models: ClassVar[Mapping[Capability, str]]
    paths: ClassVar[Mapping[Capability, str]]
    key_variable: ClassVar[str] = ""
    sdk: ClassVar[str] = ""
    reports: ClassVar[frozenset[str]] = frozenset(
        {"input_tokens", "cached_tokens", "output_tokens"}
    )

    tells_reason: ClassVar[bool] = True
    """Whether a refusal comes with the model's words."""

    carries_malformed_json: ClassVar[bool] = True
    """Whether malformed JSON can arrive; not where the vendor parses it before it answers."""

    @abstractmethod
    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        """Return a whole stream that says `words`, one event each among the vendor's others.

        The order of the events is the vendor's, its last ones (and `[DONE]`) included. A dialect
        that can't stream answers with all words at once.
        """

    @abstractmethod
    def structured(self, text: str, usage: Usage) -> Scripted:
        """Return the answer to a request for JSON: `text`, which may be malformed, verbatim."""

    @abstractmethod
    def refusal(self, reason: str, capability: Capability) -> Scripted:
        """Return the answer of a model that declines: TEXT as a stream, STRUCTURED as a body.

        A vendor that gives no words for it leaves `reason` out; see `tells_reason`.
        """

    @abstractmethod
    def truncated(self, text: str, capability: Capability) -> Scripted:
        """Return an answer that ends at the output limit: TEXT as a stream, STRUCTURED a body."""

    @abstractmethod
    def error(self, status: int, message: str) -> Scripted:
        """Return the vendor's error body for a status; the suite adds headers to it."""

    def too_long(self, sent: int, limit: int) -> Scripted | None:
        """Return the error for a prompt of `sent` tokens to a model that takes `limit`.

        `None` where the vendor has no error of its own for that. Write the message as the vendor
        does: the provider reads the numbers from it.
        """
        return None

    def over_quota(self) -> Scripted | None:
        """Return the error for an account without credit; `None`: the vendor has none."""
        return None

    def stream_error(self, words: Sequence[str], message: str) -> Scripted | None:
        """Return a stream that says `words`, then an error event; `None`: the vendor has none."""
        return None

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted | None:
        """Return a stream in which the model asks for calls; `None`: not in this dialect."""
        return None

    def embeddings(
        self, request: Received, vector: Callable[[str], Sequence[float]], *, usage: Usage
    ) -> Scripted:
        """Return `vector` of each text in the request, in the vendor's form and order.

        Needed where `models` has EMBED.
        """
        raise NotImplementedError("`models` has EMBED; say how vectors are sent: `embeddings`")

    def decisions(self, request: Received, values: Sequence[float]) -> Scripted:
        """Return these probabilities for the request's questions, in their order.

        `values` has as many as were asked. Needed where `models` has DECIDE.
        """
        raise NotImplementedError("`models` has DECIDE; say how answers are sent: `decisions`")

    def moderations(self, request: Received, flagged: Callable[[str], bool]) -> Scripted:
        """Return whether each text of the request is flagged.

        Needed where `models` has MODERATE.
        """
        raise NotImplementedError("`models` has MODERATE; say how it answers: `moderations`")

    def read_prompt(self, body: Any) -> str | None:
        """Return the whole prompt of a request, in the order in which the model reads it.

        `body` is the parsed request. `None`: the order is not tested.
        """
        return None

    def prepare(self, server: FakeModelServer) -> None:  # noqa: B027 - optional: most need nothing
        """Script what the provider asks beside its requests proper, e.g. a list of models."""

    def script(self, server: FakeModelServer, capability: Capability, *replies: Reply) -> None:
        """Have requests of one capability answered so."""
        server.script(self.paths[capability], *replies)
