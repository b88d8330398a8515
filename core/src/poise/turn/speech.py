"""What a composer puts forward to be said."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import attrs

from poise.values.ids import CannedResponseId


class UtteranceKind(Enum):
    """MESSAGE is said whole; CHUNK is part of a streamed message; SILENCE says why nothing is."""

    MESSAGE = "message"
    CHUNK = "chunk"
    SILENCE = "silence"


@attrs.frozen
class Utterance:
    """Something to be said, or a reason for silence.

    Attributes:
        kind: What it is.
        text: The words; for SILENCE the reason.
        chosen: The approved responses it was made from.
        candidates: The approved responses that were in view.
        fields: The values of their fields, as rendered.
        draft: What a model had drafted, never shown to the customer.
        note: How it came about, for the ledger.
    """

    kind: UtteranceKind
    text: str
    chosen: tuple[CannedResponseId, ...] = ()
    candidates: tuple[CannedResponseId, ...] = ()
    fields: Mapping[str, str] = attrs.field(factory=dict)
    draft: str | None = None
    note: str = ""


@attrs.frozen
class Message:
    """Words about to be sent: what hooks may replace."""

    text: str
    chosen: tuple[CannedResponseId, ...] = ()


@attrs.frozen
class Revision:
    """Why a draft was sent back, for the composer that is asked again."""

    draft: str
    reasons: tuple[str, ...]
