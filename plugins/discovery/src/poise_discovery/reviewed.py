"""The file of what models said about rules, for people to read, to change and to keep."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
import attrs
from pydantic import BaseModel, ConfigDict, ValidationError

from poise.values.digests import content_digest
from poise.values.ids import AgentId, RuleId
from poise.values.rules import Rule
from poise_discovery.errors import AnnotationsUnusableError
from poise_discovery.questions import EDITION

VERSION = 1

ANSWERS = ("continuous", "customer_dependent", "agent_intention")


@attrs.frozen
class Entry:
    """What is on file about one rule; `None` for what nobody was asked.

    Attributes:
        name: What people call the rule.
        digest: Of what was asked: an entry holds for a rule with this digest only.
        by: Who said so first, as `provider:model`.
        continuous: The action stays due while the condition holds.
        customer_dependent: The action needs the customer's part.
        agent_intention: The condition is about what the agent is about to do.
        signals: Proposed phrases.
        anti_signals: Proposed near misses.
    """

    name: str
    digest: str
    by: str
    continuous: bool | None = None
    customer_dependent: bool | None = None
    agent_intention: bool | None = None
    signals: tuple[str, ...] | None = None
    anti_signals: tuple[str, ...] | None = None

    def completed_by(self, other: Entry | None) -> Entry:
        """Return this entry, with what it leaves open taken from `other` about the same words."""
        if other is None or other.digest != self.digest:
            return self
        open_ones = {
            field: getattr(other, field)
            for field in (*ANSWERS, "signals", "anti_signals")
            if getattr(self, field) is None
        }
        by = dict.fromkeys(filter(None, (*self.by.split(", "), *other.by.split(", "))))
        return attrs.evolve(self, by=", ".join(by), **open_ones)


Entries = Mapping[RuleId, Entry]


def digest_of(rule: Rule) -> str:
    """Return a digest of all that a model is asked about a rule.

    Which model is asked is no part of it: another one is no reason to lose what was reviewed.
    """
    return content_digest(EDITION, rule.kind, rule.title, rule.when, rule.then, rule.content)


class AnnotationFile:
    """Entries by agent and rule, as JSON, written only where something new was said."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def read(self, agent: AgentId) -> Entries:
        """Return the entries of an agent; none where there is no file.

        Raises:
            AnnotationsUnusableError: The file can't be read, or is not of this form.
        """
        found = await anyio.to_thread.run_sync(self._read)
        return found.get(agent, {})

    async def add(self, agent: AgentId, entries: Entries, rules: Collection[RuleId]) -> None:
        """Add entries of an agent whose rules are `rules`; entries of others of its rules go.

        What the file says by now stands: a person may have been there meanwhile.

        Raises:
            AnnotationsUnusableError: The file can't be read, or is not of this form; it is left
                as it is.
            OSError: It can't be written; it is left as it is.
        """
        await anyio.to_thread.run_sync(self._add, agent, dict(entries), frozenset(rules))

    def _read(self) -> dict[AgentId, dict[RuleId, Entry]]:
        try:
            written = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as exc:
            raise AnnotationsUnusableError(str(self.path), f"can't be read: {exc}") from exc
        try:
            return _entries(_File.model_validate_json(written))
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise AnnotationsUnusableError(
                str(self.path), f"{where}: {first['msg']}" if where else first["msg"]
            ) from exc

    def _add(
        self, agent: AgentId, entries: Mapping[RuleId, Entry], rules: frozenset[RuleId]
    ) -> None:
        kept = self._read()
        theirs = {rule: entry for rule, entry in kept.get(agent, {}).items() if rule in rules}
        for rule in rules.intersection(entries):
            entry, known = entries[rule], theirs.get(rule)
            is_same = known is not None and known.digest == entry.digest
            theirs[rule] = known.completed_by(entry) if known and is_same else entry
        kept[agent] = theirs
        path = self.path.resolve()  # a link stays one
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            new.write_bytes(written(kept))
            if path.exists():
                shutil.copymode(path, new)
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)


def written(entries: Mapping[AgentId, Mapping[RuleId, Entry]]) -> bytes:
    """Return the bytes of a file: the same for equal entries, one phrase per line."""
    plain = {
        "version": VERSION,
        "agents": {
            agent: {rule: attrs.asdict(entries[agent][rule]) for rule in sorted(entries[agent])}
            for agent in sorted(entries)
        },
    }
    text = json.dumps(plain, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "replace")  # a rule's name may hold half a character


class _Entry(BaseModel):
    """An entry as a person may have written it."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    digest: str
    by: str = ""
    continuous: bool | None = None
    customer_dependent: bool | None = None
    agent_intention: bool | None = None
    signals: list[str] | None = None
    anti_signals: list[str] | None = None


class _File(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    agents: dict[str, dict[str, _Entry]]


def _entries(file: _File) -> dict[AgentId, dict[RuleId, Entry]]:
    return {
        AgentId(agent): {RuleId(rule): _entry(each) for rule, each in theirs.items()}
        for agent, theirs in file.agents.items()
    }


def _entry(form: _Entry) -> Entry:
    values: dict[str, Any] = form.model_dump()  # fields of one form, in the types of the other
    for field in ("signals", "anti_signals"):
        values[field] = None if values[field] is None else tuple(values[field])
    return Entry(**values)
