"""Which way a model is asked yes/no questions, and the decision model that asks so."""

from __future__ import annotations

from collections.abc import Sequence

from poise.errors import ConfigError, UnsupportedError
from poise.ports.models import DecisionModel
from poise.turn.cards import ModelCard
from poise.turn.models import DecisionRequest, Probability
from poise_openai.client import Client
from poise_openai.preset import Decisions, Preset
from poise_openai.probe import Probe


def decision_kind(preset: Preset, model: str, card: ModelCard) -> Decisions:
    """Return how a model decides: as its card says, else as its server's models do.

    `STRUCTURED` means that it does not: it is to be asked for JSON, as any model that writes.

    Raises:
        ConfigError: The card says something that is no way of deciding.
    """
    said = card.quirks.get("decisions")
    if said is None:
        return preset.decisions
    try:
        return Decisions(said)
    except ValueError:
        known = ", ".join(each.value for each in Decisions)
        raise ConfigError(
            f"the card of {preset.name}:{model} has quirks.decisions = {said!r}; there are {known}"
        ) from None


def decision_model_for(client: Client, model: str, card: ModelCard, probe: Probe) -> DecisionModel:
    """Return what answers yes/no questions with `model`.

    Raises:
        ConfigError: The card names no way of deciding that there is.
    """
    kind = decision_kind(client.preset, model, card)
    if kind is Decisions.ENDPOINT:
        from poise_openai.decisions import OpenAIDecisionModel

        return OpenAIDecisionModel(client, model, card)
    if kind is Decisions.SYSTEM_ONE:
        from poise_openai.system_one import SystemOneDecisionModel

        return SystemOneDecisionModel(client, model, card)
    if kind is Decisions.LOGPROBS:
        from poise_openai.logprobs import LogprobDecisionModel

        return LogprobDecisionModel(client, model, card=card, logprobs=probe)
    return WritingModel(client, model)


class WritingModel(DecisionModel):
    """A model that gives no probabilities, and says so: the router asks it for JSON instead."""

    def __init__(self, client: Client, model: str) -> None:
        self.identity = f"{client.provider}-{model}"
        self._client = client
        self._model = model

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        """Give no answer, not even to no questions.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            self._client.provider,
            self._model,
            "",
            "gives no probabilities; it is to be asked for JSON",
        )
