"""What can be wrong with cassettes: nothing recorded, something else recorded, or unreadable."""

from __future__ import annotations

import attrs

from poise.errors import ConfigError, ProviderError, UnknownOfferError

MEND = (
    "run once with POISE_CASSETTES__MODE=auto to record what is missing, or =record to record "
    "everything anew; look at the difference before you commit it"
)
"""How to record again."""


@attrs.define
class CassetteDriftError(ProviderError):
    """In replay a request was made that is not recorded.

    Attributes:
        nearest: The file of the recorded request that is most like it; empty: there is none.
        diff: From that one to the request that was made, as a unified diff.
    """

    nearest: str = ""
    diff: str = ""


@attrs.define
class UnrecordedModelError(UnknownOfferError):
    """In replay a model was asked for of which nothing is recorded."""

    def __str__(self) -> str:
        return f"{super().__str__()}; {MEND}"


@attrs.define
class UnreadableCassetteError(ConfigError):
    """A file in the folder of cassettes is damaged, or was written by another version."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"cassette {self.path}: {self.reason}; restore it, or delete it and {MEND}"
