"""The agent as its author holds it: declares rules and all that they use."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any, Unpack

from poise.errors import InvalidValueError
from poise.sdk.arguments import one, optional_text, refuse_unknown, text, texts
from poise.sdk.declared_tools import declared_tool
from poise.sdk.declaring import declare_rule, declared_response, key_of
from poise.sdk.draft import Declaration, Draft
from poise.sdk.options import (
    Conditions,
    GuidelineOptions,
    ObservationOptions,
    PolicyOptions,
)
from poise.sdk.rules import Guideline, Observation, Policy
from poise.sdk.tags import tag_named
from poise.sdk.variables import Variable
from poise.values import variables
from poise.values.canned import CannedResponse, Role
from poise.values.ids import AgentId, RuleId, TermId, ToolId, VariableId, stable_id
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import RuleKind
from poise.values.terms import Term

if TYPE_CHECKING:
    from poise.ports.stores import ScopedStores
    from poise.sdk.tool import DeclaredTool
    from poise.values.clock import Clock
    from poise.values.customers import Tag

Domain = Callable[["Agent"], Awaitable[Any]] | ModuleType
"""An `async def install(agent)`, or a module that has one."""


class Agent:
    """One identity that customers talk to. Made by `Application.create_agent`.

    Declaring the same thing twice changes nothing and returns the same handle. Everything gets a
    stable id from its key: the `id` that is given, else its title or name, else a digest of what
    it says. A changed text under the same key is a new version of the same thing; within one
    program it is an error.
    """

    def __init__(self, draft: Draft, stores: ScopedStores, clock: Clock) -> None:
        self._draft = draft
        self._stores = stores
        self._clock = clock
        self._policies: dict[RuleId, Policy] = {}
        self._observations: dict[RuleId, Observation] = {}

    @property
    def id(self) -> AgentId:
        """The agent's id."""
        return self._draft.agent.id

    @property
    def name(self) -> str:
        """What the agent is called."""
        return self._draft.agent.name

    def __repr__(self) -> str:
        return f"<Agent {self.name!r}>"

    async def create_policy(
        self, title: str | None = None, content: str | None = None, **options: Unpack[PolicyOptions]
    ) -> Policy:
        """Declare what to do in a situation: `title` and `content`, or `when` and `then`.

        Args:
            title: A short name for people; also the policy's key.
            content: A steering line, a procedure or a document.
            options: See `PolicyOptions`.

        Raises:
            InvalidValueError: Something that was said can't be; names policy and field.
            DuplicateKeyError: The key was declared before, with different content.
        """
        refuse_unknown("create_policy", options, PolicyOptions.__optional_keys__)
        return self._policy({"title": title, "content": content, **options})

    async def create_guideline(
        self,
        condition: Conditions | None = None,
        action: str | None = None,
        description: str | None = None,
        **options: Unpack[GuidelineOptions],
    ) -> Guideline:
        """Declare a policy as condition and action.

        Args:
            condition: When it applies; may be absent.
            action: What to do then.
            description: More about it.
            options: See `GuidelineOptions`.

        Raises:
            InvalidValueError: Something that was said can't be; names guideline and field.
            DuplicateKeyError: The key was declared before, with different content.
        """
        refuse_unknown("create_guideline", options, GuidelineOptions.__optional_keys__)
        given = {"condition": condition, "action": action, "description": description}
        return self._policy({**given, **options})

    async def create_observation(
        self,
        when: Conditions | None = None,
        title: str | None = None,
        **options: Unpack[ObservationOptions],
    ) -> Observation:
        """Declare a situation to be recognised, so that other things can hang off it.

        Args:
            when: The situation; may be absent where a matcher in code decides.
            title: A short name for people; also the observation's key.
            options: See `ObservationOptions`.

        Raises:
            InvalidValueError: Something that was said can't be; names observation and field.
            DuplicateKeyError: The key was declared before, with different content.
        """
        refuse_unknown("create_observation", options, ObservationOptions.__optional_keys__)
        rule = declare_rule(
            self._draft, RuleKind.OBSERVATION, {"when": when, "title": title, **options}
        )
        return self._observations.setdefault(rule.id, Observation(self._draft, rule))

    async def overlap(self, *tools: DeclaredTool[..., Any]) -> None:
        """Say that these tools may do the same job, so that whoever calls them weighs them up.

        Raises:
            InvalidValueError: One of them is no tool, or there are fewer than two.
        """
        thing = f"agent {self.name!r}"
        declared = [declared_tool(self._draft, thing, "overlap", given=each) for each in tools]
        ids = list(dict.fromkeys(ToolId(each.value.id) for each in declared))
        if len(ids) < 2:
            raise InvalidValueError(thing, "overlap", "takes two tools or more")
        self._draft.add(*declared)
        self._draft.relate(
            *(Relation(RelationKind.OVERLAP, one, other) for one, other in combinations(ids, 2))
        )

    async def create_term(
        self,
        name: str,
        description: str,
        synonyms: Sequence[str] = (),
        *,
        id: str | None = None,
    ) -> Term:
        """Declare a word that the agent reads the way you mean it.

        Args:
            name: The word; also the term's key.
            description: What it means here.
            synonyms: Other words for it.
            id: A key of its own.

        Raises:
            InvalidValueError: Name or description is empty or no text.
            DuplicateKeyError: The key was declared before, with different content.
        """
        named = text("term", "name", name)
        thing = f"term {named!r}"
        term = Term(
            id=TermId(stable_id("term", self.id, key_of(thing, id, named))),
            agent=self.id,
            name=named,
            description=text(thing, "description", description),
            synonyms=texts(thing, "synonyms", synonyms),
        )
        self._draft.add(Declaration(named, term))
        return term

    async def create_variable(
        self,
        name: str,
        description: str = "",
        *,
        tool: DeclaredTool[..., Any] | None = None,
        freshness_rules: str | None = None,
        freshness: str | None = None,
        id: str | None = None,
    ) -> Variable:
        """Declare a fact that every turn loads for its customer.

        Args:
            name: As templates name it; also the variable's key.
            description: What it means, for the model.
            tool: Fetches the value for the current customer; without one, values are only set.
            freshness_rules: A cron expression (UTC): a value is fetched again once a tick lies
                between its writing and now. Left out, a value is kept for good.
            freshness: The same as `freshness_rules`.
            id: A key of its own.

        Raises:
            InvalidValueError: The name is empty, the tool is none, or the expression is no cron.
            DuplicateKeyError: The key was declared before, with different content.
        """
        named = text("variable", "name", name)
        thing = f"variable {named!r}"
        fetched_by = [] if tool is None else [declared_tool(self._draft, thing, "tool", given=tool)]
        needed = [each.name for each in tool.parameters if each.required] if tool else []
        if needed:
            raise InvalidValueError(
                thing, "tool", f"needs {', '.join(needed)}, and nobody is there to ask for it"
            )
        variable = variables.Variable(
            id=VariableId(stable_id("variable", self.id, key_of(thing, id, named))),
            agent=self.id,
            name=named,
            description=text(thing, "description", description),
            tool=ToolId(fetched_by[0].value.id) if fetched_by else None,
            freshness=one(
                thing,
                freshness_rules=optional_text(thing, "freshness_rules", freshness_rules),
                freshness=optional_text(thing, "freshness", freshness),
            ),
        )
        self._draft.add(*fetched_by, Declaration(named, variable))
        return Variable(variable, self._stores.values, self._clock)

    async def create_canned_response(
        self,
        template: str,
        signals: Sequence[str] = (),
        *,
        role: Role | str = Role.REPLY,
        tags: Sequence[Tag | str] = (),
        language: str | None = None,
        id: str | None = None,
    ) -> CannedResponse:
        """Declare approved wording; given to rules, it is in view while one of them is active.

        Args:
            template: The words; `{field}` and `{{field}}` are filled, other braces are text.
            signals: What the reply answers, or other words for what it says.
            role: What it is for; default a reply.
            tags: By name, or as created.
            language: BCP 47 code of the wording.
            id: A key of its own; default: a digest of role and template.

        Raises:
            InvalidValueError: The template is empty, too long, or names a private field.
            DuplicateKeyError: The key was declared before, with different content.
        """
        declaration, response = declared_response(
            self._draft, template, role=role, signals=signals, tags=tags, language=language, id=id
        )
        self._draft.add(declaration)
        return response

    async def create_tag(self, name: str) -> Tag:
        """Return the tag of that name, kept for all agents; rules may carry it.

        Raises:
            InvalidValueError: The name is empty.
        """
        tag = tag_named(name)
        await self._stores.tags.put(tag)
        return tag

    async def install(self, *domains: Domain) -> None:
        """Call each domain's `install(agent)`, in order.

        Raises:
            InvalidValueError: A domain has no async `install`.
        """
        for domain in domains:
            install = getattr(domain, "install", None) if isinstance(domain, ModuleType) else domain
            if not inspect.iscoroutinefunction(install):
                raise InvalidValueError(
                    f"agent {self.name!r}",
                    "install",
                    f"is given {domain!r}; it takes a module with `async def install(agent)`, or "
                    f"such a function",
                )
            await install(self)

    def _policy(self, given: dict[str, object]) -> Policy:
        rule = declare_rule(self._draft, RuleKind.POLICY, given)
        return self._policies.setdefault(rule.id, Policy(self._draft, rule))
