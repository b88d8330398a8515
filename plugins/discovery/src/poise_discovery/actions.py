"""What the English words of an action say of it: that it goes on, that it needs the customer.

Only plain wordings count. What is not recognised is taken for done once, and for the agent's alone.
"""

from __future__ import annotations

import re

LONGEST = 2_000
"""Characters of a text that are read: a longer one is a document, and no wording decides on it."""


def _any(*wordings: str) -> str:
    return f"(?:{'|'.join(wordings)})"


_SENTENCE = re.compile(r"[.!?;\n]+")
_PIECE = re.compile(r"[.!?;:,\n—–]+")
_BETWEEN = r"[\w ,'-]*"  # any words of one piece
_CUSTOMER = _any(
    "customer|user|caller|client|guest|patient|visitor|buyer|shopper|passenger|travell?er",
    "subscriber|member|person|student|applicant",
)
_SOMEONE = rf"(?:(?:the|every|each|any|a) )?{_CUSTOMER}s?"
_THEM = _any(_SOMEONE, "them", "him", "her")
_THEIR = _any("their", "his", "her", rf"{_SOMEONE}'s?")

_FORBIDS = re.compile(
    r"(?:(?:please|but|and|also|instead|then) )*"
    + _any(
        "do not|don't|never|avoid|refrain from|under no circumstances|at no point",
        "you (?:must|should|may|are) (?:not|never)|you (?:mustn't|shouldn't)|must (?:not|never)",
        "(?:make sure|be sure|take care) (?:not to|never to|(?:that )?you (?:do not|don't|never))",
    )
    + r"\b"
)

# -- going on --

# What passes something on: how long that something lasts is not how long the action does ("tell
# them that we are always open").
_TELLS = re.compile(
    r"(?:(?:then|also|first|please|politely|kindly|clearly) )*"
    r"(?:tell|say|explain|inform|mention|state|let (?:them|the \w+) know|point out|answer|reply|"
    r"announce|note|warn|give|list)\b"
)
_WHAT_IS_TOLD = re.compile(
    r"\b(?:that|where|how|why|what|which|whether|we|they|our|it|its|is|are|to|can|will)\b"
)
_MOMENT = _any(
    r"\d|noon|midnight|today|tonight|tomorrow|(?:the )?end of|further notice|then\b",
    r"(?:next|this|last) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    r"january|february|march|april|may\b|june|july|august|september|october|november|december",
    r"christmas|easter|spring|summer|autumn|winter",
    r"(?:early |late )?(?:morning|afternoon|evening|night)",
    r"\w+ (?:o'clock|a\.?m\b|p\.?m\b|in the (?:morning|afternoon|evening))",
)
_GOES_ON = re.compile(
    _any(
        rf"\b(?:until|till) (?!{_MOMENT})\w",
        r"(?<!a )(?<!every )(?<!worth )\bwhile\b(?! stocks| supplies| away| ago)",
        r"\b(?:always|throughout|whenever|as long as|at all times)\b",
        r"\b(?:every|each) (?:single )?time\b",
        r"\b(?:all|every|each)(?: single)?(?: of)?(?: the| your)? "
        r"(?:replies|reply|messages?|answers?|responses?|turns?|steps?)\b",
        r"(?:^|\b(?:and|then|but|also|please|,) )(?:keep|continue|carry on|go on)\b"
        r"(?! (?:a|the) (?:copy|record|receipt|note)\b)",
    )
)
_MANNER = re.compile(
    r"(?:(?:please|then|and|also|only|just) )*"
    + _any(
        r"(?:be|stay|remain|sound|act|appear)\b"
        r"(?! (?:sure|ready|able|prepared|there|the|a|an)\b)",
        r"(?:speak|write|talk|reply|respond|answer|communicate) (?:only |just )?"
        + _any(
            r"in (?!touch|person|the affirmative|the negative|advance|detail\b)\w",
            r"\w+ly\b",
            r"with (?:a |an )?(?:\w+ )?(?:tone|empathy|warmth|respect|humou?r|patience|care)\b",
        ),
        rf"(?:use|adopt|maintain|prefer|stick to)\b{_BETWEEN}\b"
        r"(?:tone|language|wording|style|voice|sentences|words|vocabulary|phrases|terms|emojis?|"
        r"bullet points|units|manner|register|humou?r)\b",
        rf"address {_THEM} (?:as|by|with|formally|politely|respectfully|informally|in)\b",
        rf"treat (?:{_THEM}|everyone) (?:as|with|like|kindly|fairly|politely)\b",
        r"show (?:empathy|respect|patience|understanding|compassion)\b",
        r"(?:limit|restrict) (?:yourself|(?:your )?(?:answers?|repl(?:y|ies)|responses?))\b",
    )
)
# An act beside the manner: "be kind and offer a refund" is over once the refund is offered.
_ACT_TOO = re.compile(
    r"(?:\b(?:and|then|but)|,|:) (?:(?:then|also|first|instead|please) )*"
    r"(?:add|answer|apologi[sz]e|ask|book|call|cancel|charge|check|close|collect|confirm|"
    r"congratulate|connect|create|describe|direct|escalate|explain|file|find|forward|get|give|greet|"
    r"hand|help|inform|invite|issue|let|list|log|look|mention|offer|open|order|point|propose|"
    r"provide|recommend|refer|refund|register|remove|replace|reply|report|request|return|run|say|"
    r"schedule|send|set|ship|show|start|submit|suggest|take|tell|thank|transfer|update|verify|"
    r"wish)\b"
)


def goes_on(action: str) -> bool:
    """Say whether an action stays due for as long as its condition holds.

    It does if its words say until when, or how often; and if it is nothing but a manner ("be
    concise") or something to leave undone.
    """
    sentences = _split(_SENTENCE, action)
    return any(map(_says_so, sentences)) or continues_throughout(action)


def continues_throughout(content: str) -> bool:
    """Say the same of a text that may be long: every sentence of it has to go on."""
    sentences = _split(_SENTENCE, content)
    return bool(sentences) and all(_says_so(each) or _is_manner(each) for each in sentences)


def _says_so(sentence: str) -> bool:
    if _FORBIDS.match(sentence):
        return _is_manner(sentence)
    if _TELLS.match(sentence):
        sentence = _WHAT_IS_TOLD.split(sentence, maxsplit=1)[0]
    return _GOES_ON.search(sentence) is not None


def _is_manner(sentence: str) -> bool:
    is_one = _MANNER.match(sentence) or _FORBIDS.match(sentence)
    return bool(is_one) and _ACT_TOO.search(sentence) is None


# -- the customer's part --

_FIRST = _any(
    "and|then|but|also|first|next|always|please|politely|kindly|again|instead|immediately",
    "if (?:needed|necessary|possible|required|unclear)|before that|to|you",
    "make sure to|be sure to|remember to|keep|start by|begin by",
)
_NOT_FROM_ELSEWHERE = rf"(?!{_BETWEEN}\bfrom (?!them|the {_CUSTOMER}\b))"
_NEEDS = re.compile(
    rf"(?:{_FIRST} )*"
    + _any(
        rf"ask(?:ing)?(?: {_THEM})?(?: (?:politely|again|first|once))? "
        + _any(
            "for (?!help|approval|advice|permission from)",
            r"(?:whether|if|which|what|who|whom|when|where|why|how|to|their)\b",
        ),
        rf"ask(?:ing)? {_THEM} (?:about|a|one|two|some|the|your|these|this|\d)\b",
        rf"ask(?:ing)? (?:about )?{_THEIR}\b",
        rf"(?:prompt|request|require|get|have|make) {_THEM} to\b",
        rf"have {_THEM} (?:accept|agree|check|choose|confirm|describe|enter|explain|fill|log|pick|"
        r"provide|read|repeat|restart|select|send|show|sign|spell|state|tell|try|upload|verify)\b",
        rf"request that (?:they|{_SOMEONE})\b",
        rf"let {_THEM} (?:choose|pick|decide|confirm|select|describe)\b",
        r"(?:get|collect|request|obtain|gather|take down|write down|elicit) "
        rf"{_THEIR} {_NOT_FROM_ELSEWHERE}\w",
        rf"(?:get|collect|request|obtain|gather)\b{_BETWEEN} from {_THEM}\b",
        r"(?:get|collect|request|obtain) (?:a |an )?(?:photos?|pictures?|screenshots?|proof|"
        rf"consent|confirmation)\b{_NOT_FROM_ELSEWHERE}",
        r"find out (?:which|what|who|when|where|why|how|whether|if)\b"
        rf"{_BETWEEN}\b(?:they|{_SOMEONE}|their)\b",
        rf"(?:verify|confirm|check|establish) (?:the |{_THEIR} )?(?:\w+ )?identity\b",
        rf"(?:confirm|clarify|verify|agree)\b{_BETWEEN} with {_THEM}\b",
        rf"check with {_THEM}\b",
        rf"wait (?:for|until) (?:{_THEM}|they|{_THEIR})\b",
        rf"(?:make sure|ensure)(?: that)? (?:they|{_SOMEONE}) (?:confirms?|agrees?|accepts?|"
        r"provides?|gives?|tells?|chooses?|signs?|consents?)\b",
    )
)
_NEXT = re.compile(r"\b(?:and|then|but|before|after) ")


def needs_customer(action: str) -> bool:
    """Say whether an action asks the customer to tell or do something, without which it is open."""
    for piece in _split(_PIECE, action):
        if _FORBIDS.match(piece):
            continue
        starts = (0, *(found.start() for found in _NEXT.finditer(piece)))
        if any(_NEEDS.match(piece, start) for start in starts):
            return True
    return False


# -- texts --


def plain(text: str) -> str:
    """Return `text` in lower case, with single blanks within its lines and straight apostrophes."""
    text = text.replace("’", "'").lower()
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _split(at: re.Pattern[str], text: str) -> list[str]:
    if len(text) > LONGEST:
        return []
    pieces = (piece.strip(" '\"()-*•") for piece in at.split(plain(text)))
    return [piece for piece in pieces if piece]
