"""What of a text is embedded: its readable characters, and of a long one head and tail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poise.turn.queries import clip_words

READING = "256w2048c"
"""Names the limits below: it is part of embedders' identities, since it decides their vectors."""

_MAX_WORDS = 256
_MAX_CHARACTERS = 2048  # for scripts without spaces, and for words that never end
_CHUNK_CHARACTERS = 8192

_UNREADABLE = dict.fromkeys((*range(32), *range(127, 160), 0xFEFF), " ")


def readable(text: str) -> str:
    """Return what of `text` can be embedded; empty where there is nothing.

    Halves of surrogate pairs, which no encoding can write, are joined or replaced; control
    characters become spaces; what is longer than the limits is cut to its first and last words.
    """
    head_and_tail = clip_words(text, _MAX_WORDS)
    if len(head_and_tail) > _MAX_CHARACTERS:
        half = _MAX_CHARACTERS // 2
        head_and_tail = f"{head_and_tail[:half]} {head_and_tail[-half:]}"
    writable = head_and_tail.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(writable.translate(_UNREADABLE).split())


def chunks(texts: Sequence[str], limit: int) -> Iterator[list[int]]:
    """Yield the positions of `texts` in runs of at most `limit` texts and a bounded length.

    Between two runs an embedder can be cancelled, and another request can be served.
    """
    run: list[int] = []
    characters = 0
    for position, text in enumerate(texts):
        if run and (len(run) == limit or characters + len(text) > _CHUNK_CHARACTERS):
            yield run
            run, characters = [], 0
        run.append(position)
        characters += len(text)
    if run:
        yield run
