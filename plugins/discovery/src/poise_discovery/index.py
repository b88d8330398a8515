"""A trained catalog: everything that scoring needs, and its form in the artifact store."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import attrs
import numpy as np

from poise_discovery.calibration import Calibration
from poise_discovery.projection import Projection
from poise_discovery.solver import Heads
from poise_discovery.thresholds import OWN_WORDS_DISCOUNT, Thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FORMAT = 3
"""Part of every key: an index of another format is not read, but trained anew."""


@attrs.frozen(eq=False)
class Index:
    """The trained state of one catalog with one embedder.

    Attributes:
        embedder: Identity of the model that made the vectors; scores mean nothing with another.
        rules: Ids in the order of the heads.
        keys: By rule: digest of all that its head was fitted to.
        heads: One per rule.
        settled_on: Digests of the rules that thresholds and calibration were chosen on.
        counted: By rule, packed bits: which phrases of the pool were evidence against it.
        projection: Applied to a text's vector before it is scored.
        thresholds: What a score has to reach.
        calibration: From margins to probabilities.
        spoken: By rule: False where its own words stood in for customers' phrases.
        signals: By rule, its phrases.
        signal_rows: Projected rows of all signals, one rule after another, in half precision.
        relatives: By rule, the places of those that are true together with it.
    """

    embedder: str
    rules: tuple[str, ...]
    keys: tuple[str, ...]
    heads: Heads
    settled_on: frozenset[str]
    counted: NDArray[np.uint8]
    projection: Projection
    thresholds: Thresholds
    calibration: Calibration
    spoken: NDArray[np.bool_]
    signals: tuple[tuple[str, ...], ...]
    signal_rows: NDArray[np.float16]
    relatives: tuple[tuple[int, ...], ...]
    _number: dict[str, int] = attrs.field(init=False, repr=False)
    _first: NDArray[np.intp] = attrs.field(init=False, repr=False)
    discount: Floats = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        lengths = [len(each) for each in self.signals]
        set_once = object.__setattr__  # the class is frozen; these follow from the rest
        set_once(self, "_number", {rule: at for at, rule in enumerate(self.rules)})
        set_once(self, "_first", np.concatenate([[0], np.cumsum(lengths, dtype=np.intp)]))
        discount = np.where(self.spoken, 0.0, OWN_WORDS_DISCOUNT).astype(np.float32)
        set_once(self, "discount", discount)

    def number(self, rule: str) -> int | None:
        """Return the place of a rule among the heads, or `None`."""
        return self._number.get(rule)

    def nearest_signal(self, rule: int, row: Floats) -> str | None:
        """Return the rule's phrase that is nearest to a projected text."""
        near = self.signal_rows[self._first[rule] : self._first[rule + 1]]
        if not len(near):
            return None
        return self.signals[rule][int((near.astype(np.float32) @ row).argmax())]

    def to_bytes(self) -> bytes:
        """Return the index as one blob."""
        kept = io.BytesIO()
        described = json.dumps(
            {
                "format": FORMAT,
                "embedder": self.embedder,
                "rules": self.rules,
                "keys": self.keys,
                "settled_on": sorted(self.settled_on),
                "signals": self.signals,
                "relatives": self.relatives,
                "thresholds": attrs.asdict(self.thresholds),
                "calibration": attrs.asdict(self.calibration),
            },
            ensure_ascii=False,
        )
        basis = self.projection.basis
        np.savez(
            kept,
            described=np.frombuffer(described.encode("utf-8", "surrogatepass"), dtype=np.uint8),
            weights=self.heads.weights,
            bias=self.heads.bias,
            counted=self.counted,
            mean=self.projection.mean,
            basis=np.zeros((0, 0), dtype=np.float32) if basis is None else basis,
            spoken=self.spoken,
            signal_rows=self.signal_rows,
        )
        return kept.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Index:
        """Return the index that `to_bytes` wrote.

        Raises:
            ValueError: The blob is damaged or of another format.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as kept:
                described = json.loads(kept["described"].tobytes().decode("utf-8", "surrogatepass"))
                if described["format"] != FORMAT:
                    raise ValueError(f"is of format {described['format']}, not {FORMAT}")
                return cls(
                    embedder=described["embedder"],
                    rules=tuple(described["rules"]),
                    keys=tuple(described["keys"]),
                    heads=Heads(kept["weights"], kept["bias"]),
                    settled_on=frozenset(described["settled_on"]),
                    counted=kept["counted"],
                    projection=Projection(
                        kept["mean"], kept["basis"] if kept["basis"].size else None
                    ),
                    thresholds=Thresholds(**described["thresholds"]),
                    calibration=Calibration(**described["calibration"]),
                    spoken=kept["spoken"],
                    signals=tuple(tuple(each) for each in described["signals"]),
                    signal_rows=kept["signal_rows"],
                    relatives=tuple(tuple(each) for each in described["relatives"]),
                )
        except (KeyError, TypeError, ValueError, OSError, EOFError, BadZipFile) as exc:
            raise ValueError(f"the index can't be read: {exc}") from exc
