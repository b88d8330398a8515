"""Conditions about what the agent itself is about to do, by their English words.

Only plain wordings count: of the agent as who acts, or of an act that can be nobody else's.
"""

from __future__ import annotations

import re

from poise_discovery.actions import LONGEST, plain

_LEAD = re.compile(
    r"(?:(?:just|right|only|when|whenever|if|once|in case|while|as soon as|every time|before|"
    r"prior to) )*"
)
_AGENT = (
    r"(?:you|(?:the |an? |your )?(?:ai |virtual )?(?:agent|assistant|bot|chatbot))"
    r"(?:'re| is| are| will be)?"
)
_ADVERBS = (
    r"(?:(?:also|then|likely|probably|already|currently|just|now|first|actually|directly|ever) )*"
)
_ABOUT_TO = (
    r"(?:about to|going to|planning to|intending to|preparing to|likely to|likely about to|"
    r"on the point of|considering|thinking of|"
    r"(?:intends?|plans?|wants?|means?|prepares?|decides?|has|have|needs?|tr(?:y|ies)) to|"
    r"to|will|must|should|would)"
)

# Stems of verbs. "When offering" leaves open who offers, but customers don't; "when asking" may as
# well be about them, so the second list counts only where the agent is named or "before" is said.
_AGENTS_OWN = (
    "offer|recommend|suggest|propos|discuss|explain|present|quot|describ|disclos|apologi[sz]|declin|"
    "refus|transferr?|escalat|upsell|advis|greet|reveal|announc|promis"
)
_ANYBODYS = (
    "mention|talk|speak|giv|provid|shar|send|show|tell|say|stat|refer|reject|cancell?|book|confirm|"
    "clos|end|hand|repl|respond|writ|list|nam|compar|sell|issu|process|schedul|introduc|"
    "summari[sz]|answer|bring|point|direct|approv|den|grant|collect|verif|creat|updat|chang|delet|"
    "open|start|plac|charg|refund|report|submit|deliver|ship|thank|invit|encourag|warn|remind|"
    "assur|estimat|commit|negotiat|promot"
)
_CUSTOMERS_TOO = "ask|request|us|call|mak"
_ACTS = f"{_AGENTS_OWN}|{_ANYBODYS}|{_CUSTOMERS_TOO}"

_WORDINGS = (
    # The agent is said to do it, or to be about to.
    re.compile(
        rf"{_AGENT} {_ADVERBS}(?:{_ABOUT_TO} {_ADVERBS})?"
        rf"(?:{_ACTS})(?:ing|es|s|e|ies|y)?\b(?P<rest>.*)"
    ),
    re.compile(
        r"(?:your|the (?:agent|assistant|bot)'s) (?:next )?"
        r"(?:reply|answer|response|draft|message) "
        r"(?:is about|mentions?|contains?|includes?|discuss(?:es)?|covers?|refers? to)\b"
        r"(?P<rest>.*)"
    ),
    # It is about to be done.
    re.compile(
        r"(?P<rest>(?!(?:the |a )?(?:customer|user)\b).*?) (?:is|are) about to be "
        rf"(?:{_ACTS})(?:ed|en|n|t|d)?\b"
    ),
)
_WITHOUT_AGENT = (
    # An instruction that leaves out who acts.
    re.compile(
        rf"(?:just |right )?(?:before|prior to) (?:{_AGENTS_OWN}|{_ANYBODYS})ing\b(?P<rest>.*)"
    ),
    re.compile(rf"(?:only )?(?:when|whenever|while|if) (?:{_AGENTS_OWN})ing\b(?P<rest>.*)"),
)

_TO_WHOM = re.compile(
    r"(?:(?:up|out|over|off) )?(?:(?:to|with|from|for) )?"
    r"(?:(?:(?:the|a|your) )?(?:customer|user|caller|client|guest|patient)s?|them|him|her|someone)"
    r"(?: |$)"
)
_ABOUT = re.compile(
    r"(?:about|for|to|on|that|whether|if|how|into|as|with|of|regarding|concerning) "
)


def subject_of(condition: str) -> str | None:
    """Return what the agent is about to speak of or to do something with, or `None`.

    `None` is what a condition gets that is not about the agent's intention. What is left of one
    that names no subject ("you are about to apologise") is empty.
    """
    if len(condition) > LONGEST:
        return None
    said = " ".join(plain(condition).split()).strip(" .,:;!'\"").replace("you're", "you are")
    lead = _LEAD.match(said)
    led = said[lead.end() :] if lead else said
    found = [
        *(wording.match(led) for wording in _WORDINGS),
        *(wording.match(said) for wording in _WITHOUT_AGENT),
    ]
    return next((_object(each["rest"].strip()) for each in found if each is not None), None)


def _object(rest: str) -> str:
    """Return what an act is about, without whom it is done to."""
    for pattern in (_TO_WHOM, _ABOUT, _TO_WHOM):
        found = pattern.match(rest)
        if found is not None:
            rest = rest[found.end() :]
    return rest
