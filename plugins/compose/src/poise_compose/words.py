"""Text as words that compare alike: without case, accents and punctuation, in any script."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_WORD = re.compile(
    # Scripts without spaces between words, and Hangul with its attached particles: a character.
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
    # Signs that tell names apart: C from C++ and C#.
    r"|[+#&%@€$£¥°]"
    # Anything else between spaces and punctuation; vowel signs of Indic scripts stay inside.
    r"|[^\s\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\xa9\xab-\xb4\xb6-\xb9\xbb\xbf"
    r"\u2000-\u206f\u20a0-\u20cf\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
    r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


def words_of(text: str) -> list[str]:
    """Return the words of `text` in order, folded so that equal words are equal strings."""
    folded = text.casefold()
    if not folded.isascii():
        decomposed = unicodedata.normalize("NFKD", folded)
        # Composed again, so that scripts whose letters decompose for other reasons stay whole.
        folded = unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)).casefold()
    return _WORD.findall(folded)
