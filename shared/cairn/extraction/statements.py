"""What a clause states of its speaker, by rules over its subject and its verb. English only.

A clause that no rule knows states nothing: what is not certain is not drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from cairn.extraction.english import (
    DECIDED,
    DOING,
    EMPTY,
    GOING,
    HABITS,
    IRREGULAR,
    NO_EVENTS,
    OCCASIONS,
    PARTICIPLES,
    PAST_TASTES,
    REPORTING,
    STATES,
    TASTES,
)


class StatementKind(StrEnum):
    """What sort of thing a statement is."""

    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    PLAN = "plan"
    RELATION = "relation"


FACT, PREFERENCE = StatementKind.FACT, StatementKind.PREFERENCE
DECISION, PLAN = StatementKind.DECISION, StatementKind.PLAN

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|spring|summer|autumn|fall|winter"
)
TIME = re.compile(
    rf"\b(?:to(?:day|night|morrow)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend|next \w+"
    rf"|in (?:\d+ \w+|an? \w+)|(?:{_MONTHS.replace('|may', '')})|in may|may \d+|\d+ may"
    r"|\d{1,2}(?:st|nd|rd|th)"
    r"|this (?:week|month|year|evening|afternoon|spring|summer|autumn|winter)|by \w+|later|soon"
    r"|one day|at (?:\d|noon|five|six|seven|eight|nine|ten))\b"
)
_OFTEN = re.compile(r"\b(?:every|each|from|always|usually|daily|weekly)\b")
MAX_SUBJECT_WORDS = 8
"""Between "my" and its verb; with more, the verb is another clause's."""

_WORD = re.compile(r"[\w'$\u20ac\u00a3+.-]*\w")
_ADVERBS = (
    "also|always|usually|often|really|just|still|only|actually|finally|already|now|mostly|normally"
    "|generally|sometimes|recently|currently|even|both|totally|absolutely|simply|definitely|all"
    "|rarely|first|then|nearly|almost|officially|basically|honestly|personally|desperately|badly"
)
_ADVERB = re.compile(rf"^(?:(?:{_ADVERBS})\s+)+")
_CONTRACTED = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("n't", " not"),
    ("'m", " am"),
    ("'re", " are"),
    ("'ve", " have"),
    ("'ll", " will"),
    ("'d", " would"),
)
_FIRST = re.compile(r"^(?:both )?(?:i|we|\w+ and i)(?=\s)\s+")
_NEGATION = re.compile(
    r"^(?:(do|did|have|had|could|am|are|can|was|were) )?(?:not|never|no longer)\s+"
)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A clause of this form is of this kind (of none: it states nothing) when it says enough."""

    form: re.Pattern[str]
    kind: StatementKind | None
    least: int = 1


def _rules(
    *rows: tuple[str, StatementKind | None, int] | tuple[str, StatementKind | None],
) -> tuple[_Rule, ...]:
    return tuple(_Rule(re.compile(form), kind, *least) for form, kind, *least in rows)


def _any(words: frozenset[str]) -> str:
    return rf"(?:{'|'.join(sorted(map(re.escape, words)))})\b"


_PRONOUN_OBJECT = (
    r"(?!(?:it|that|this|them|you|him|her|so|one)(?:\s+(?:up|on|off|out|back|in|down|over))?\s*$)"
)
_BEING = _rules(
    (r"(?:so|too|very|really|such)\b(?! (?:into|afraid|scared))", None),
    (r"(?:on call|off to|on the \w+ plan|in (?:the )?hospital|in on|on (?:holiday|leave))\b", FACT),
    (rf"(?:\w+ )?{_any(STATES)}", FACT),
    (r"(?:very |really )?(?:into\b|(?:an? )?(?:big |huge |great )?fan\b|more of an?)", PREFERENCE),
    (r"going with\b", DECISION),
    (r"(?:going to|gonna|hoping to|about to) (?:keep|try|be|see|think|check)\b", None),
    (r"(?:going to|gonna|planning|hoping to|about to|thinking (?:about|of) \w+ing)\b", PLAN, 2),
    (rf"{_any(DOING)}", FACT, 2),
    (rf"{_any(GOING)}", PLAN, 2),
    (rf"\w{{3,}}ing\b.*{TIME.pattern}", PLAN, 2),
    (r"(?:from \w|\d+(?: years old)?$)", FACT),
    (r"an? (?:bit|little|lot|mess|fool|while|step|moment|huge part)\b", None),
    (r"(?:an?|the|our|\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) \w+", FACT),
)
_LIGHT = "be|see|let|think|try|miss|know|forget|forgive|say|tell|keep|start thinking|look"
_HAVING = _rules(
    (r"to (?:go|run|say|admit|think|leave|be)\b", None),
    (r"to \w+", FACT, 2),
    (r"no (?:idea|clue|doubt|problem|time)\b", None),
    (r"no \w+", FACT),
    (_any(DECIDED), DECISION),
    (r"been (?:thinking|meaning|wondering|told|there|busy|trying)\b", None),
    (r"been \w+", FACT),
    (rf"{_any(PAST_TASTES)} {_PRONOUN_OBJECT}", PREFERENCE),
    (r"used \w+", FACT),
    (rf"(?:got|gotten) (?!to\b){_PRONOUN_OBJECT}", FACT),
    (_any(NO_EVENTS), None),
    (r"(?:seen|done|been|read|eaten)\b", FACT, 0),
    (rf"(?:{_any(IRREGULAR)}|{_any(PARTICIPLES)}|\w{{2,}}ed\b) {_PRONOUN_OBJECT}", FACT),
    (r"(?:an? )?(?:good |great |nice )?(?:question|problem|look|feeling|point|minute|second|plan"
     r"|idea|suggestion|thought|time|fun)\b", None),
    (r"(?:it|them|that|this|lots of fun|had)\b", None),
    (r"\w+", FACT),
)  # fmt: skip
_DENYING = _rules(
    (rf"(?:{_any(REPORTING)}|(?:know|see|mean|care|understand|remember|get|mind|feel|notice|forget"
     r"|wait|promise|quite|really|realise|realize|have to|hear|want to (?:say|be rude))\b)", None),
    (r"(?:want|like|love|enjoy|trust|need|prefer|stand|eat|drink) "
     rf"{_PRONOUN_OBJECT}", PREFERENCE),
    (r"(?:swim|drive|smoke|drink|cook|dance|eat|sing|ski|read)$", FACT),
    (rf"(?:{_any(PARTICIPLES)}|\w+) {_PRONOUN_OBJECT}", FACT),
    (r"seen\b", FACT, 0),
)  # fmt: skip
_DOINGS = _rules(
    (r"used to \w+", FACT, 2),
    (r"(?:can|could|would|should|must|may|had better)\b", None),
    (r"agreed with\b", None),
    (rf"(?:{_any(DECIDED)}|went with\b) {_PRONOUN_OBJECT}", DECISION),
    (r"need to \w+", PLAN, 3),
    (r"(?:want|hope|plan|intend|aim) to (?:say|know|see|ask|thank|believe|be)\b", None),
    (r"(?:want|hope|plan|intend|aim) to \w+", PLAN, 2),
    (rf"{_any(TASTES)} (?:it|that|this|them|you|your|the idea|how|all the)\b", None),
    (rf"{_any(TASTES)} \w", PREFERENCE, 2),
    (r"(?:was|were) (?:born|raised|ill|sick|charged|promoted|diagnosed|fired|hired|married|robbed"
     r"|elected|injured|accepted|invited|in hospital|an?|the)\b", FACT),
    (rf"{_any(PAST_TASTES)} (?!it\b|that\b|this\b|your\b|to\b|them\b)\w", PREFERENCE),
    (_any(NO_EVENTS), None),
    (rf"{_any(OCCASIONS)}.*(?:{TIME.pattern}|{_OFTEN.pattern})", FACT),
    (_any(OCCASIONS), None),
    (rf"{_any(HABITS)} {_PRONOUN_OBJECT}", FACT),
    (r"had (?:to|fun|enough)\b", None),
    (r"had an? (?:\w+ )?(?:time|blast|feeling|look|chat|talk|laugh|idea)\b", None),
    (rf"(?:{_any(IRREGULAR)}|\w{{2,}}ed\b) {_PRONOUN_OBJECT}", FACT),
)  # fmt: skip
_OTHERS_DOING = _rules(
    (rf"(?:\w+ )?{_any(REPORTING)}", None),
    (rf"(?:{_any(TASTES)}|{_any(frozenset(f'{taste}s' for taste in TASTES))}) "
     r"(?!it\b|that\b|you\b|(?:her|him) a lot)\w", PREFERENCE),
    (r"(?:is|are|was|were) (?:so|very|really|fine|good|great|nice|sweet|cute|happy)\b", None),
    (r"(?:is|are|was|were) (?:not )?(?:an?|afraid|scared|allergic|from|\d+|\w+ years)\b", FACT),
    (rf"(?:{_any(NO_EVENTS)}|\w+ (?:it|you)\b)", None),
    (rf"(?:{_any(HABITS)}|{_any(frozenset(f'{verb}s' for verb in HABITS))}"
     rf"|{_any(IRREGULAR)}|\w{{2,}}ed\b|has) \w", FACT),
)  # fmt: skip
_OWN_VERB = re.compile(
    r"\s(?P<verb>is|are|was|were|has|have|had|does|do|can|will|would|only|likes?|loves?|hates?"
    r"|prefers?|lives?|works?|plays?|runs?|turns?|starts?|leaves?|left|broke|expires|rotates|owns"
    r"|speaks?|teach(?:es)?|costs?|gets?|got|went|came|eats?|drinks?|studies|quit|bought|sold"
    r"|wants?|needs?|uses?|meets?|begins?|ends?|closes|opens?|arrives?|\w{2,}ed)\b"
)
_NOT_OWN = re.compile(
    r"(?:my|our) (?:bad|pleasure|point|guess|turn|god|goodness|fault|apologies|condolences"
    r"|question|problem is|opinion|idea)\b"
)
_PRAISED = re.compile(
    r"(?:is|are) (?:so |very |really )?(?:fine|good|great|ok|okay|lovely|nice|higher|lower|bad"
    r"|better|worse|the same|similar|excited|happy)\b"
)
_THING = re.compile(
    r"(?:the|this|that) [\w\s'@.-]{2,50}? (?:is|are|was|were|has|have|runs?|starts?|leaves|costs?"
    r"|gives|failed|fails|expires|rotates|meets?|begins?|ends?) (?P<rest>.+)"
)
_SPECIFIC = re.compile(r"\d|\w\s[A-Z]\w|since|fail")
_ASKING = re.compile(r"(?:please|always|never|don't ever|do not ever|from now on)\b,?")
_SMALL_REQUEST = re.compile(
    r"(?:please )?(?:never mind|let|help|tell|wait|come|see|note|check|look|take"
    r"|keep (?:me|in|ya|going)|feel|do|go|be|stay|join)\b"
)
_AGREED = re.compile(r"([A-Z]\w+) it is$")


def stated_of_self(clause: str) -> StatementKind | None:
    """Return what a clause that begins with "I" or "we" states, None when it states nothing."""
    subject = _FIRST.match(expanded(clause))
    if subject is None:
        return None
    return _of_predicate(expanded(clause)[subject.end() :])


def _of_predicate(predicate: str) -> StatementKind | None:
    plain = _ADVERB.sub("", predicate)
    denied = _NEGATION.match(plain)
    if denied and denied[1] not in {"have", "had", "am", "are", "could", "was", "were"}:
        return _first_match(_DENYING, _ADVERB.sub("", plain[denied.end() :]), plain)
    if denied:
        plain = f"{denied[1]} {plain[denied.end() :]}"
    auxiliary, _, rest = plain.partition(" ")
    rest = _ADVERB.sub("", rest)
    if auxiliary in {"am", "are"}:
        return _first_match(_BEING, rest, rest)
    if auxiliary == "will":
        return _will(rest)
    if auxiliary == "would":
        wish = re.match(r"(?:love|like|rather|prefer) (?!to (?:see|hear|check|know|help))\w", rest)
        return PREFERENCE if wish and says_enough(rest, 2) else None
    if auxiliary == "could" and denied:
        return PREFERENCE if re.match(r"(?:live|do|work|start) without \w", rest) else None
    if auxiliary == "have":
        return _first_match(_HAVING, rest, rest)
    return _first_match(_DOINGS, plain, plain)


def _will(rest: str) -> StatementKind | None:
    denied = rest.startswith(("not ", "never "))
    if denied or re.match(rf"(?:{_LIGHT})\b", rest):
        return None
    verb, _, what = rest.partition(" ")
    return PLAN if says_enough(what, 1) and says_enough(f"{verb} {what}", 2) else None


def stated_of_own(clause: str) -> StatementKind | None:
    """Return what a clause that begins with "my" or "our" states."""
    low = expanded(clause)
    match = None if _NOT_OWN.match(low) else _OWN_VERB.search(low)
    if match is None:
        return None
    before, verb, rest = low[: match.start()].split(), match["verb"], low[match.end() :].strip()
    if len(before) > MAX_SUBJECT_WORDS or set(before) & (REPORTING | {"that", "which", "who"}):
        return None
    if verb in REPORTING or _PRAISED.match(low[match.start() + 1 :]):
        return None
    if (verb in {"is", "was"} and rest.startswith(("that ", "to "))) or not (
        says_enough(rest) or verb in {"died", "retired"}
    ):
        return None
    return _kind_of_own(low, verb)


def _kind_of_own(low: str, verb: str) -> StatementKind:
    if re.search(r"\bfavou?rite\b|\b(?:not|only) (?:like|love|eat|drink|want)s?\b", low):
        return PREFERENCE
    if verb.removesuffix("s") in TASTES:
        return PREFERENCE
    planned = re.search(r"flight|train|meeting|appointment|party|exam|wedding", low)
    if verb == "will" or " going to " in low or (planned and TIME.search(low)):
        return PLAN
    return FACT


def stated_of_others(clause: str, subject: str) -> StatementKind | None:
    """Return what a clause states of somebody of the speaker's, named or spoken of before."""
    predicate = _ADVERB.sub("", expanded(clause)[len(subject) :].strip().replace("'s ", "is ", 1))
    denied = re.match(r"(?:does|do|did|can|will) not ", predicate)
    if denied:
        predicate = predicate[denied.end() :]
    return _first_match(_OTHERS_DOING, predicate, predicate)


def stated_of_thing(clause: str) -> StatementKind | None:
    """Return FACT when a clause about "the ..." is specific: it has a number, a name or a since."""
    thing = _THING.match(clause[:1].lower() + clause[1:])
    reported = any(word in REPORTING for word in clause.lower().split())
    return FACT if thing and not reported and _SPECIFIC.search(thing["rest"]) else None


def requested(clause: str) -> StatementKind | None:
    """Return what a request to whoever reads along is: how the speaker wants it, or a reminder."""
    low = clause.lower()
    if low.startswith("remind me") and TIME.search(low):
        return PLAN
    if low.startswith("let's go with "):
        return DECISION
    if low.startswith("let's ") and TIME.search(low) and says_enough(low, 3):
        return PLAN
    asks = _ASKING.match(low) and not _SMALL_REQUEST.match(low)
    return PREFERENCE if asks and says_enough(low, 3) else None


def agreed(clause: str) -> str | None:
    """Return what was agreed on in "Avro it is"."""
    match = _AGREED.match(clause)
    return match[1] if match and match[1].lower() not in EMPTY else None


def expanded(clause: str) -> str:
    """Return a clause in lower case with its contractions written out."""
    low = clause.lower()
    for short, long in _CONTRACTED:
        low = low.replace(short, long)
    return low


def says_enough(text: str, least: int = 1) -> bool:
    """Return whether a text has so many words that say something."""
    return sum(word not in EMPTY for word in _WORD.findall(text.lower())) >= least


def _first_match(rules: tuple[_Rule, ...], text: str, whole: str) -> StatementKind | None:
    for rule in rules:
        if rule.form.match(text):
            return rule.kind if rule.kind and says_enough(whole, rule.least) else None
    return None
