"""Turns what an author said of a rule into the rule, with what it needs and brings along."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, TypeVar

import attrs

from poise.errors import InvalidValueError
from poise.sdk.arguments import (
    alternatives,
    choice,
    flag,
    listed,
    one,
    optional_text,
    text,
    text_mapping,
    texts,
    whole,
)
from poise.sdk.declared_tools import declared_tool
from poise.sdk.draft import Declaration, Draft
from poise.sdk.rules import dependencies
from poise.sdk.tags import tag_id
from poise.values.agents import CompositionMode, Effort
from poise.values.canned import CannedResponse, Role
from poise.values.ids import CannedResponseId, GroupId, RuleId, ToolId, digest, stable_id
from poise.values.rules import ALWAYS, Rule, RuleKind, WayIn, Weight

Given = Mapping[str, object]
"""Keyword arguments as the author gave them; `None` counts as left out."""

C = TypeVar("C", bound=Enum)


def declare_rule(draft: Draft, kind: RuleKind, given: Given) -> Rule:
    """Add a rule to the draft and return it.

    Args:
        draft: Where to.
        kind: Policy or observation.
        given: Any option of `poise.sdk.options`.

    Raises:
        InvalidValueError: Something that was said can't be; the message names rule and field.
        DuplicateKeyError: Its key was declared before, with different content.
    """
    words = _Words.read(kind, given)
    thing = f"{kind.value} {words.name!r}"
    tools = [
        declared_tool(draft, thing, "tools", given=each)
        for each in listed(thing, "tools", given.get("tools"))
    ]
    guarded = [
        declared_tool(draft, thing, "guards", given=each)
        for each in listed(thing, "guards", given.get("guards"))
    ]
    responses = _responses(draft, thing, given)
    rule = Rule(
        id=RuleId(stable_id("rule", draft.agent.id, words.key(kind, given.get("matcher")))),
        agent=draft.agent.id,
        kind=kind,
        title=words.title,
        when=words.when,
        then=words.then,
        content=words.content,
        tools=tuple(dict.fromkeys(ToolId(each.value.id) for each in tools)),
        guards=tuple(dict.fromkeys(ToolId(each.value.id) for each in guarded)),
        canned_responses=tuple(
            dict.fromkeys(CannedResponseId(each.value.id) for each in responses)
        ),
        **_manner(thing, given),
        **_code(draft, thing, given),
    )
    targets = listed(thing, "dependencies", given.get("dependencies"))
    needs = dependencies(draft, rule, targets) if targets else ()
    draft.add(*tools, *guarded, *responses, Declaration(words.name, rule, needs))
    return rule


@attrs.frozen
class _Words:
    """What a rule is called and what it says."""

    id: str | None
    title: str | None
    when: str | None
    then: str | None
    content: str | None

    @classmethod
    def read(cls, kind: RuleKind, given: Given) -> _Words:
        title = optional_text(kind.value, "title", given.get("title"))
        thing = f"{kind.value} {title!r}" if title else kind.value
        conditions = ("when", "condition", "conditions", "triggers")
        contents = ("content", "description", "note")
        return cls(
            id=optional_text(thing, "id", given.get("id")),
            title=title,
            when=alternatives(thing, **{name: given.get(name) for name in conditions}),
            then=one(
                thing,
                **{
                    name: optional_text(thing, name, given.get(name)) for name in ("then", "action")
                },
            ),
            content=one(
                thing, **{name: optional_text(thing, name, given.get(name)) for name in contents}
            ),
        )

    @property
    def name(self) -> str:
        return self.title or self.id or self.when or self.then or self.content or ""

    def key(self, kind: RuleKind, matcher: object) -> str:
        """Return the id, else the title, else a digest of condition and action."""
        if self.id is not None or self.title is not None:
            return key_of(f"{kind.value} {self.name!r}", self.id, self.title or "")
        action = self.then if self.then is not None else self.content or ""
        judge = "" if self.when is not None or not callable(matcher) else _name_of(matcher)
        return digest(kind.value, self.when or "", action, judge)


def _name_of(function: Any) -> str:  # any callable
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _manner(thing: str, given: Given) -> dict[str, Any]:
    """Return the plain fields of a rule that were said, checked."""
    readers: Mapping[str, Callable[[str, str, object], object]] = {
        "signals": texts,
        "anti_signals": texts,
        "own_signals_only": flag,
        "always_judged": flag,
        "way_in": partial(_member, WayIn),
        "effort": partial(_member, Effort),
        "composition_mode": partial(_member, CompositionMode),
        "priority": whole,
        "rank": text,
        "labels": texts,
        "continuous": flag,
        "customer_dependent": flag,
        "agent_intention": flag,
        "track": flag,
        "enabled": flag,
        "metadata": text_mapping,
    }
    said: dict[str, Any] = {
        field: reader(thing, field, given[field])
        for field, reader in readers.items()
        if given.get(field) is not None
    }
    if given.get("guards") and not said.get("signals"):
        said.setdefault("way_in", WayIn.TOOL)
    weight = one(
        thing,
        **{
            name: _member(Weight, thing, name, given[name])
            for name in ("weight", "criticality")
            if given.get(name) is not None
        },
    )
    if weight is not None:
        said["weight"] = weight
    said["tags"] = frozenset(tag_id(each) for each in listed(thing, "tags", given.get("tags")))
    said["groups"] = frozenset(
        GroupId(each) for each in texts(thing, "groups", given.get("groups"))
    )
    return said


def _member(kind: type[C], thing: str, field: str, value: object) -> C:
    return choice(thing, field, value, kind)


def _code(draft: Draft, thing: str, given: Given) -> dict[str, Any]:
    """Return the names of the functions that a rule was given."""
    said: dict[str, Any] = {}
    matcher = given.get("matcher")
    if isinstance(matcher, str) and matcher != ALWAYS:
        raise InvalidValueError(
            thing, "matcher", f"is {matcher!r}; it takes poise.MATCH_ALWAYS or a function"
        )
    if matcher is not None:
        said["matcher"] = matcher if matcher == ALWAYS else draft.bind(thing, "matcher", matcher)
    for field in ("on_selected", "on_message"):
        handler = given.get(field)
        if handler is None:
            continue
        if not _is_async(handler):
            raise InvalidValueError(
                thing, field, f"is {handler!r}; it takes a function under `async def`"
            )
        said[field] = draft.bind(thing, field, handler)
    return said


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method is what is looked at
    )


def key_of(thing: str, id: object, otherwise: str) -> str:
    """Return the id that the author gave as a key, else what stands for it.

    Raises:
        InvalidValueError: The id is empty or no text.
    """
    given = optional_text(thing, "id", id)
    if given is None:
        return otherwise
    if not given.strip():
        raise InvalidValueError(thing, "id", "is empty; leave it out instead")
    return given


# -- what rules bring along --


def declared_response(
    draft: Draft, template: object, **options: object
) -> tuple[Declaration, CannedResponse]:
    """Return a canned response for the draft's agent, with its declaration.

    Args:
        draft: Whose agent.
        template: The wording.
        options: Any of `id`, `role`, `signals`, `tags`, `language`.

    Raises:
        InvalidValueError: Something that was said can't be.
    """
    thing = "canned response"
    wording = text(thing, "template", template)
    thing = f"{thing} {wording[:40]!r}"
    role = choice(thing, "role", options.get("role") or Role.REPLY, Role)
    key = key_of(thing, options.get("id"), digest(role.value, wording))
    response = CannedResponse(
        id=CannedResponseId(stable_id("canned", draft.agent.id, key)),
        agent=draft.agent.id,
        template=wording,
        role=role,
        signals=texts(thing, "signals", options.get("signals")),
        tags=frozenset(tag_id(each) for each in listed(thing, "tags", options.get("tags"))),
        language=optional_text(thing, "language", options.get("language")),
    )
    return Declaration(wording[:40], response), response


def _responses(draft: Draft, thing: str, given: Given) -> list[Declaration]:
    found: list[Declaration] = []
    for each in listed(thing, "canned_responses", given.get("canned_responses")):
        if isinstance(each, CannedResponse):
            if draft.find(CannedResponse, each.id) is None:
                raise InvalidValueError(
                    thing,
                    "canned_responses",
                    f"holds {each.template[:40]!r}, which was not created on this agent",
                )
            found.append(Declaration(each.template[:40], each))
            continue
        declaration, response = declared_response(draft, each)
        # A template that was created with more to it is meant, not a second one like it.
        known = draft.find(CannedResponse, response.id)
        found.append(declaration if known is None else Declaration(declaration.key, known))
    return found
