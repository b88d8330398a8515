"""The default resolver: the well-founded model of the sentence that defines *active*.

The sentence: *a rule is active when it is matched, or implied by an active one, its dependencies
are met, and no active one outranks it, excludes it or has a higher priority within its rank.* A
journey is matched while it is under way, and implied by each of its triggers; a node is matched
while it is in play and its journey is active. A rule that was judged ambiguous is not active: it
*asks*, under the same conditions, and what it asks about is not active meanwhile.

The sentence speaks of *active* on both sides, so it is an equation, and relations can be tied into
knots that a plain reading does not settle. Read as a logic program it has exactly one well-founded
model, which has the four properties that an account of a turn needs:

- **Unique.** With what is negated held fixed, "whatever follows" is monotone in what is found
  active, so it has one least fixpoint (Knaster and Tarski). Holding fixed too little gives too
  much, and the other way about: the step from one to the other turns order round, so taken twice
  it keeps it, and again has one least fixpoint, *certainly active*, with its counterpart,
  *possibly active*. Nothing is chosen on the way.
- **Total.** What is certain is active; what is not even possible is set aside, and one of the
  conjuncts of the sentence is then false, which is its cause; what is possible and not certain is
  a conflict. The three cases leave no fourth. Something stays open only where it hangs on its own
  inactivity, so a conflict always has a cycle to name, through a priority, an exclusion, a rank or
  a question.
- **Terminating.** Each double step adds at least one to what is certain, or is the last; there are
  finitely many. Components of the relations are settled one after the other, and only one that has
  such a cycle needs more than one double step, so everything else takes linear time.
- **Order-independent.** Sets are all that the fixpoints are made of. The order of candidates,
  rules, journeys and relations enters nowhere, and outcomes and causes come out in id order.

An end of a relation that stands for nobody (a tag that nothing carries) is never active: it meets
no dependency and does nothing. What is switched off is not missed by `all_of`. Relations of a
journey reach its nodes through the journey alone. Transient rules have no relations, so there is
nothing to settle about them and they have no outcome here; nor do relations that concern tools.
"""

from __future__ import annotations

from poise import Resolver
from poise.turn.fates import Resolution, ResolutionRequest
from poise_relations.gathering import parties_of
from poise_relations.grounding import ground
from poise_relations.outcomes import outcomes_of


class WellFoundedResolver(Resolver):
    """Settles relations by their well-founded model; looks only at rules that take part."""

    def resolve(self, request: ResolutionRequest) -> Resolution:
        """Return one outcome for every known candidate, and for whatever an active one implies.

        Candidates are rules judged or shown, journeys under way, and nodes in play. Also for a
        rule that an active one would imply, had it not been applied already, and for what is
        implied in a conflict alone.
        """
        parties = parties_of(request)
        network = ground(request, parties)
        return Resolution(outcomes_of(request, parties, network.solve()))
