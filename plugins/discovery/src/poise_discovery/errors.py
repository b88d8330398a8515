"""What can go wrong in discovery, and what mends it."""

from __future__ import annotations

import attrs

from poise.errors import PoiseError


@attrs.define
class EmbedderChangedError(PoiseError):
    """An index was made with another embedder than the one that is configured now."""

    made_with: str
    configured: str

    def __str__(self) -> str:
        return (
            f"the discovery index was made with {self.made_with!r}, but the route 'embed' is now "
            f"served by {self.configured!r}: publish the catalog again, so that it is indexed anew"
        )


@attrs.define
class IndexMissingError(PoiseError):
    """A turn refers to an index that is neither in memory nor in the artifact store."""

    index: str

    def __str__(self) -> str:
        return (
            f"discovery index {self.index!r} is not in memory and not in the artifact store: "
            f"publish the catalog again"
        )


@attrs.define
class AnnotationsUnusableError(PoiseError):
    """The file of reviewed annotations is there and can't be understood."""

    path: str
    problem: str

    def __str__(self) -> str:
        return (
            f"the annotations in {self.path!r} can't be used: {self.problem}. Mend the file, or "
            f"move it away to have its rules asked about anew; until then no model is asked"
        )
