"""Annotates rules: by the author's flags, by their own words, and by what a model says of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import anyio
import anyio.to_thread

from poise.ports.discovery import Annotator
from poise.turn.models import Capability, TurnModels
from poise.values.catalog import Annotation
from poise.values.ids import AgentId, RuleId
from poise.values.rules import Rule
from poise_discovery.annotations import (
    annotation_of,
    open_questions,
    takes_phrases,
    way_in,
    with_answers,
    with_proposal,
)
from poise_discovery.consulting import Consultation, Told, consult
from poise_discovery.errors import AnnotationsUnusableError
from poise_discovery.phrases import folded
from poise_discovery.questions import (
    Answers,
    Proposals,
    RuleAnswers,
    RuleProposal,
    about_phrases,
    about_wording,
)
from poise_discovery.reviewed import AnnotationFile, Entry, digest_of
from poise_discovery.settings import DiscoverySettings

logger = logging.getLogger(__name__)

_ANSWERING = Consultation[Answers, RuleAnswers](
    "index.annotate", about_wording, Answers, lambda given: given.rules
)
_PROPOSING = Consultation[Proposals, RuleProposal](
    "index.signals", about_phrases, Proposals, lambda given: given.rules
)
_TO_KEEP = 5.0
"""Seconds to write what was said, where the asking was cut off."""


class FlagAnnotator(Annotator):
    """Takes an author's flags for what they say, and nothing for granted."""

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        return {
            rule.id: Annotation(
                way_in=way_in(rule),
                continuous=bool(rule.continuous),
                customer_dependent=bool(rule.customer_dependent),
                agent_intention=bool(rule.agent_intention),
            )
            for rule in rules
        }


class ReadingAnnotator(Annotator):
    """Reads what rules say of themselves; where a model serves, it answers, and proposes phrases.

    What an author declared stands. What a model said is kept in a file, where a person's word on
    it stands as long as the rule's own words do; nothing on file is asked again.

    Args:
        models: The application's models, bound to no turn.
        settings: The section `discovery`.
    """

    def __init__(self, models: TurnModels, settings: DiscoverySettings) -> None:
        self._models = models
        self._settings = settings
        path = settings.annotations
        self._file = None if path is None else AnnotationFile(Path(path))
        self._unkept: dict[AgentId, dict[RuleId, Entry]] = {}
        self._declined: dict[tuple[str, RuleId], str] = {}
        self._one_at_a_time = anyio.Lock()

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        found: dict[RuleId, Annotation] = {}
        async with self._one_at_a_time:
            for agent, theirs in groupby(sorted(rules, key=_agent_of), _agent_of):
                found.update(await self._annotate(agent, tuple(theirs)))
        return {rule.id: found[rule.id] for rule in rules}

    async def _annotate(self, agent: AgentId, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        try:
            known = await self._known(agent, rules)
        except AnnotationsUnusableError as exc:
            # Asking anew would be paid for at every start, and differ from what was reviewed.
            logger.warning("the file of annotations can't be used", exc_info=exc)
            return await anyio.to_thread.run_sync(_annotations, rules, {})
        answers, proposals = Told[RuleAnswers](), Told[RuleProposal]()
        try:
            await self._ask(rules, known, answers, proposals)
        finally:
            said = {
                rule.id: entry
                for rule in rules
                if (entry := _entry_of(rule, known.get(rule.id), answers, proposals)) is not None
            }
            with anyio.move_on_after(_TO_KEEP, shield=True):
                await self._keep(agent, said, rules)
        return await anyio.to_thread.run_sync(_annotations, rules, {**known, **said})

    async def _known(self, agent: AgentId, rules: Sequence[Rule]) -> Mapping[RuleId, Entry]:
        """Return the entries that hold for the rules as they are, the file's before all others."""
        kept = await self._file.read(agent) if self._file is not None else {}
        unkept = self._unkept.get(agent, {})
        return await anyio.to_thread.run_sync(_holding, rules, kept, dict(unkept))

    async def _ask(
        self,
        rules: Sequence[Rule],
        known: Mapping[RuleId, Entry],
        answers: Told[RuleAnswers],
        proposals: Told[RuleProposal],
    ) -> None:
        unread = [
            rule
            for rule in self._askable(_ANSWERING.route, rules)
            if any(getattr(known.get(rule.id), name, None) is None for name in open_questions(rule))
        ]
        unsaid = [
            rule
            for rule in self._askable(_PROPOSING.route, rules)
            if self._is_short(rule) and getattr(known.get(rule.id), "signals", None) is None
        ]
        async with anyio.create_task_group() as group:
            group.start_soon(consult, self._models, _ANSWERING, unread, answers)
            group.start_soon(consult, self._models, _PROPOSING, unsaid, proposals)
        for route, told in ((_ANSWERING.route, answers), (_PROPOSING.route, proposals)):
            self._declined.update(((route, rule.id), digest_of(rule)) for rule in told.declined)

    def _askable(self, route: str, rules: Sequence[Rule]) -> Sequence[Rule]:
        """Return the rules that a model can be asked about, and has not declined to answer for."""
        if not self._models.serves(route, Capability.STRUCTURED):
            return ()
        declined = self._declined
        return [
            rule
            for rule in rules
            if rule.enabled
            and ((route, rule.id) not in declined or declined[route, rule.id] != digest_of(rule))
        ]

    def _is_short(self, rule: Rule) -> bool:
        """Say whether phrases are to be proposed for a rule: it can use some, and has few."""
        own = {folded(text) for text in rule.signals}
        return (
            self._settings.propose_signals
            and takes_phrases(rule)
            and len(own) < self._settings.propose_below
        )

    async def _keep(
        self, agent: AgentId, said: Mapping[RuleId, Entry], rules: Sequence[Rule]
    ) -> None:
        """Write what was said; what can't be written is remembered as long as the process runs."""
        if not said:
            return
        unkept = self._unkept.setdefault(agent, {})
        unkept.update(said)
        if self._file is None:
            return
        try:
            await self._file.add(agent, unkept, [rule.id for rule in rules])
        except (OSError, AnnotationsUnusableError) as exc:
            logger.warning("annotations could not be kept for review", exc_info=exc)
        else:
            unkept.clear()


def _agent_of(rule: Rule) -> AgentId:
    return rule.agent


def _holding(
    rules: Sequence[Rule], kept: Mapping[RuleId, Entry], unkept: Mapping[RuleId, Entry]
) -> Mapping[RuleId, Entry]:
    """Return the entries that are about the rules' present words, `kept` before `unkept`."""
    found: dict[RuleId, Entry] = {}
    for rule in rules:
        entries = [each[rule.id] for each in (kept, unkept) if rule.id in each]
        digest = digest_of(rule) if entries else ""
        for entry in entries:
            if entry.digest == digest:
                earlier = found.get(rule.id)
                found[rule.id] = entry if earlier is None else earlier.completed_by(entry)
    return found


def _annotations(
    rules: Sequence[Rule], entries: Mapping[RuleId, Entry]
) -> Mapping[RuleId, Annotation]:
    return {rule.id: annotation_of(rule, entries.get(rule.id)) for rule in rules}


def _entry_of(
    rule: Rule,
    known: Entry | None,
    answers: Told[RuleAnswers],
    proposals: Told[RuleProposal],
) -> Entry | None:
    """Return what is on file of a rule with what a model has now said, or `None` for no news."""
    answered, proposed = answers.answers.get(rule.id), proposals.answers.get(rule.id)
    if answered is None and proposed is None:
        return None
    entry = known if answered is None else with_answers(rule, known, *answered)
    return entry if proposed is None else with_proposal(rule, entry, *proposed)
