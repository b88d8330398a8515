"""The approved responses of a catalog, sorted once by how they may come into view."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence

import attrs

from poise.turn.context import TurnContext
from poise.values.canned import CannedResponse, Role
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import CannedResponseId
from poise.values.rules import Rule
from poise_compose.plain import Writing
from poise_compose.templates import Wording
from poise_compose.words import words_of

_KEPT_SNAPSHOTS = 8
_SIGNALS = 8  # of one response; more tell its vector nothing new


@attrs.frozen(eq=False)
class Approved:
    """An approved response, looked at once.

    Attributes:
        response: As declared.
        wording: Its template.
        texts: What a message is compared with: its signals and its plain words.
    """

    response: CannedResponse
    wording: Wording
    texts: tuple[str, ...]

    @classmethod
    def of(cls, response: CannedResponse, writing: Writing) -> Approved:
        """Return `response` with its template compiled."""
        wording = Wording.of(response.template, writing)
        texts = (*response.signals[:_SIGNALS], wording.words)
        return cls(response, wording, tuple(dict.fromkeys(text for text in texts if text.strip())))

    @property
    def id(self) -> CannedResponseId:
        """The response's id."""
        return self.response.id

    def speaks(self, language: str | None) -> bool:
        """Say whether the wording may be used for a customer of that language."""
        if language is None or self.response.language is None:
            return True
        return _primary(self.response.language) == _primary(language)


def _primary(language: str) -> str:
    return language.replace("_", "-").partition("-")[0].casefold()


@attrs.frozen(eq=False)
class Pool:
    """The responses of one snapshot.

    Attributes:
        by_id: Replies and no-match texts, whoever carries them.
        wide: Replies that no rule carries, by id.
        no_match: No-match texts that no rule carries, by id.
        vocabulary: For each of `wide`, the words it uses.
    """

    by_id: Mapping[CannedResponseId, Approved]
    wide: tuple[Approved, ...]
    no_match: tuple[Approved, ...]
    vocabulary: Mapping[CannedResponseId, frozenset[str]]

    @classmethod
    def of(cls, snapshot: CatalogSnapshot, writing: Writing) -> Pool:
        """Return the pool of `snapshot`; a disabled rule carries its responses all the same."""
        carried = {
            response for rule in snapshot.rules.values() for response in rule.canned_responses
        }
        by_id = {
            response.id: Approved.of(response, writing)
            for response in sorted(snapshot.canned_responses.values(), key=lambda each: each.id)
            if response.role in (Role.REPLY, Role.NO_MATCH)
        }
        free = [each for each in by_id.values() if each.id not in carried]
        wide = tuple(each for each in free if each.response.role is Role.REPLY)
        return cls(
            by_id=by_id,
            wide=wide,
            no_match=tuple(each for each in free if each.response.role is Role.NO_MATCH),
            vocabulary={each.id: frozenset(words_of(" ".join(each.texts))) for each in wide},
        )

    def carried_by(self, rule: Rule, role: Role = Role.REPLY) -> tuple[Approved, ...]:
        """Return the responses of a rule that have `role`, in the author's order."""
        found = (self.by_id.get(response) for response in dict.fromkeys(rule.canned_responses))
        return tuple(each for each in found if each is not None and each.response.role is role)

    def nearest_wide(self, texts: Sequence[str], limit: int) -> tuple[Approved, ...]:
        """Return at most `limit` of `wide`: those that share the most telling words with `texts`.

        Where there are no more than `limit`, all of them, without looking at words.
        """
        if len(self.wide) <= limit:
            return self.wide
        asked = {word for text in texts for word in words_of(text)}
        spread = Counter(word for words in self.vocabulary.values() for word in words & asked)
        ranked = sorted(
            self.wide,
            key=lambda each: (
                -round(sum(1.0 / spread[word] for word in self.vocabulary[each.id] & asked), 6),
                each.id,
            ),
        )
        return tuple(ranked[:limit])


class Pools:
    """The pools of the newest snapshots, each made when a turn first needs it."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._kept: OrderedDict[str, Pool] = OrderedDict()

    def of(self, turn: TurnContext) -> Pool:
        """Return the pool of the turn's snapshot."""
        version = turn.snapshot.version
        pool = self._kept.get(version)
        if pool is None:
            pool = Pool.of(turn.snapshot, self._writing)
            self._kept[version] = pool
            if len(self._kept) > _KEPT_SNAPSHOTS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(version)
        return pool
