"""Which part of a message denies what it mentions, in eight European languages.

Embeddings hardly see a negation: "I don't want a refund" lies beside "I want a refund". This is
the cheap check that keeps such a message from being taken for a request. It looks at clauses and
words alone, so it can only say *doubtful*, never *no*.
"""

from __future__ import annotations

import re
from functools import lru_cache

import attrs

_MAX_CHARACTERS = 2048  # of a message, as embedders read it

_CLAUSE_END = re.compile(
    r"[.;:!?…\n()–—]+"
    r"|,(?!\s*(?:dass|daß|damit|ob|że|żeby|aby|dat)\b)"  # these go on with what is denied
    r"|\b(?:but|however|although|though|because|since|just|"
    r"pero|sino|aunque|porque|solo|sólo|mais|parce\s+que|seulement|"
    r"aber|sondern|weil|nur|però|perché|soltanto|"
    r"mas|apenas|maar|omdat|alleen|ale|lecz|tylko|bo)\b"
    r"|\band\s+(?=(?:i|i'd|i'm|please|can|could|want|need)\b)",
    re.IGNORECASE,
)

# Clauses about what is unknown, pending, or asked: what they negate is what the customer is about.
_NO_DENIAL = re.compile(
    r"\b(?:if|unless|in\s+case|why|how\s+come|still|yet|"
    r"si|por\s*qué|todavía|aún|pourquoi|encore|toujours|"
    r"wenn|falls|warum|wieso|noch|se|perché|ancora|"
    r"caso|por\s*que|ainda|als|waarom|nog|jeśli|dlaczego|jeszcze|wciąż)\b",
    re.IGNORECASE,
)

# Said with a negation, and yet no denial: not knowing, not being able, asking politely, failing.
_IDIOMS = re.compile(
    "|".join(
        (
            # English
            r"\bnot\s+(?:\w+ly\s+|quite\s+|that\s+|so\s+|very\s+)?(?:only|sure|certain|clear|able|"
            r"aware|familiar|happy|ok|okay|enough|here|there|understand\w*)\b",
            r"\b(?:do|does|did)(?:\s+not|n't|nt)\s+(?:really\s+|even\s+)?(?:know|understand|see|"
            r"remember|recall|mind|get|hear|think|believe|recogni\w*|like|let|seem)\b",
            r"\bno\s+(?:idea|clue|problem|worries|longer)\b|\bor\s+not\b",
            r"\bcan(?:'?t|\s*not)\b|\bcould(?:\s+not|n't|nt)\b",
            r"\b(?:wo|would|will|do|does|did|is|are|was|have|has)n't\s+"
            r"(?:you|i|we|it|they|there|my|the|this|that|let|accept|work|go|show|load|open|allow)\b",
            r"\b(?:has|have|had|is|are|was|were|am|does|did|do|'s)(?:\s+not|n't|nt)\s+"
            r"(?:been\s+|being\s+)?(?:work\w*|receiv\w*|arriv\w*|go\w*|gone|get\w*|got\w*|"
            r"accept\w*|allow\w*|show\w*|load\w*|open\w*|credited|complet\w*|process\w*|"
            r"come|came|updat\w*|charg\w*|correct|right|available|letting|post\w*|revers\w*|"
            r"here|there|appl\w*)\b",
            # Spanish
            r"\bno\s+(?:solo|sólo|sé|entiendo|recuerdo|encuentro|puedo|podemos|funciona|llega|llegó|"
            r"reconozco|estoy\s+segur[oa]|(?:me\s+)?(?:deja|acuerdo|aparece)|se\s+(?:si|cómo|como)|"
            r"he\s+recibido|ha\s+llegado)\b",
            # French
            r"\b(?:ne\s+|n')?(?:sais|comprends|trouve|peux|peut|pouvons|arrive|fonctionne|marche|reconnais)"
            r"\s+(?:pas|plus)\b|\bpas\s+(?:seulement|sûre?)\b|\bn'(?:ai|est)\s+pas\s+(?:reçu|arrivée?)\b",
            # German
            r"\bnicht\s+(?:nur|sicher|angekommen|erhalten|bekommen)\b|\b(?:weiß|weiss|verstehe)\s+nicht\b",
            r"\bfinden?\b[^.,;!?]*\b(?:nicht|kein\w*)\b",
            r"\b(?:kann|können|könnte|konnte|funktioniert|geht)\b[^.,;!?]*\b(?:nicht|kein\w*)\b",
            # Italian
            r"\bnon\s+(?:solo|so|capisco|ricordo|trovo|riconosco|riesco|posso|possiamo|funziona|va|"
            r"(?:sono|è)\s+(?:sicur[oa]|arrivat[oa])|ho\s+ricevuto)\b",
            # Portuguese
            r"\bn[ãa]o\s+(?:só|apenas|sei|entendo|lembro|encontro|acho|reconheço|consigo|posso|podemos|funciona|"
            r"chegou|recebi|tenho\s+certeza)\b",
            # Dutch
            r"\bniet\s+(?:alleen|zeker|ontvangen|aangekomen)\b|\b(?:weet|begrijp|snap)\s+niet\b",
            r"\bvind(?:en)?\b[^.,;!?]*\b(?:niet|geen)\b",
            r"\b(?:kan|kunnen|kon|werkt)\b[^.,;!?]*\b(?:niet|geen)\b",
            # Polish
            r"\bnie\s+(?:tylko|wiem|rozumiem|pamiętam|znajduję|poznaję|mogę|możemy|działa|dotarł\w*|"
            r"otrzymał\w*)\b",
        )
    ),
    re.IGNORECASE,
)

# "No, I want a refund" answers; it denies nothing that follows.
_ANSWER = re.compile(
    r"^\s*(?:no|nope|nein|non|não|nao|nee|nie)\b"
    r"(?:\s*[,.;:!–—-]|\s+(?=(?:i|i'm|i'd|it|it's|that|that's|my|the|we|you|thanks|thank)\b)|\s*$)",
    re.IGNORECASE,
)

_DENIES = re.compile(
    r"\b(?:not|never|neither|nor|dont|doesnt|didnt|isnt|wasnt|wont|havent|hasnt|no(?!\s*[,.;:!?]))\b"
    r"|n't\b"
    r"|\b(?:nunca|jamás|tampoco|ningun[oa]?|ningún)\b"
    r"|\b(?:ne\s+|n')\w+(?:'\w+)?(?:\s+\w+){0,2}\s+(?:pas|plus|jamais|aucune?|rien)\b"
    r"|\b(?:veux|voudrais|parle|demande|cherche|est|suis|ai|besoin)\s+pas\b"
    r"|\b(?:nicht|kein(?:e[nmrs]?)?|nie|niemals)\b"
    r"|\b(?:non|mai|nessun[oa]?)\b"
    r"|\b(?:não|nao|nem|nenhuma?)\b"
    r"|\b(?:niet|geen|nooit)\b"
    r"|\bnigdy\b"
    r"|\b(?:nobody|no\s+one|nadie|niemand|ninguém|nikt)\b"
    r"|\b(?:nothing\s+to\s+do|nada\s+que\s+ver|rien\s+à\s+voir|nichts\b.*\bzu\s+tun|"
    r"niente\s+a\s+che|nada\s+a\s+ver|niets\s+te\s+maken|nic\s+wspólnego)\b",
    re.IGNORECASE,
)

# These deny only what comes after them.
_SETS_ASIDE = re.compile(
    r"\b(?:without|instead\s+of|rather\s+than|sin|en\s+(?:vez|lugar)\s+de|sans|au\s+lieu\s+(?:de|d')|"
    r"ohne|(?:an)?statt|senza|invece\s+di|sem|em\s+vez\s+de|zonder|in\s+plaats\s+van|bez|zamiast)\b",
    re.IGNORECASE,
)


@attrs.frozen
class Denial:
    """A message taken apart.

    Attributes:
        denied: The clauses that deny something, whole: what they mention is not wanted.
        rest: The other clauses; empty where there are none.
    """

    denied: str
    rest: str


def denial_in(message: str) -> Denial | None:
    """Return what `message` denies and what else it says; `None` where it denies nothing."""
    text = _ANSWER.sub(" ", message[:_MAX_CHARACTERS].replace("’", "'"))
    denied: list[str] = []
    rest: list[str] = []
    for clause in _CLAUSE_END.split(text):
        denies = not _NO_DENIAL.search(clause) and _DENIES.search(_IDIOMS.sub(" ", clause))
        if denies:
            denied.append(clause)
        elif aside := _SETS_ASIDE.search(clause):
            rest.append(clause[: aside.start()])
            denied.append(clause[aside.end() :])
        else:
            rest.append(clause)
    if not _words(denied):
        return None
    return Denial(_words(denied), _words(rest))


@lru_cache(maxsize=4096)  # authors' examples, the same ones on every turn
def is_denial(message: str) -> bool:
    """Whether `message` is a denial as a whole, or a no to what was asked."""
    found = denial_in(message)
    return (found is not None and not found.rest) or _ANSWER.match(message) is not None


def _words(clauses: list[str]) -> str:
    return " ".join(" ".join(clauses).split())
