"""What a person says that they seek or offer: sentences, their speech act, their side. Pure.

The acts are Searle's (A taxonomy of illocutionary acts, 1975). English; by rules, without a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.discovery.intents.services import is_service
from cairn.extraction.sentences import QUOTED, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Act(StrEnum):
    """What a speaker does by saying something."""

    COMMISSIVE = "COMMISSIVE"  # offers to do something
    DIRECTIVE = "DIRECTIVE"  # asks others for something
    DECLARATION = "DECLARATION"  # makes something so by saying it
    ASSERTIVE = "ASSERTIVE"  # says how things are
    EXPRESSIVE = "EXPRESSIVE"  # says how it feels


class Side(StrEnum):
    """On which side of a meeting an intent stands."""

    SEEKING = "seeking"
    OFFERING = "offering"
    BOTH = "both"  # the same thing together, or one for the other


KEPT = frozenset({Act.COMMISSIVE, Act.DIRECTIVE, Act.DECLARATION})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence, or a part of one, and what is done by it. Without a side it is no intent."""

    text: str
    act: Act
    side: Side | None
    closes: bool = False  # says that something is over
    confidence: float = 0.9

    @property
    def is_intent(self) -> bool:
        """Return whether the speaker seeks or offers something by it."""
        return self.side is not None and self.act in KEPT


def _any(*forms: str) -> re.Pattern[str]:
    return re.compile("|".join(forms), re.I)


_FIRST = r"(?:i|we|our \w+|my \w+ and i)"
_WISH = r"(?:'d| would) (?:like|love|be glad|be happy|be grateful|appreciate|welcome)"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|(?:a|one|two) hundred"
_TO_GET = "(?:find|get|rent|borrow|buy|learn|hire|meet|see|try|join|have)"
_SEEKING = _any(
    r"\b(?:looking|searching|hunting|on the (?:lookout|hunt))(?! forward)(?: \w+){0,4} for\b",
    r"^(?:still |urgently )?(?:hoping|trying|wanting|needing|wishing)\b",
    r"^(?:still|urgently) (?:need|want|missing|short)\w*\b|^urgent(?:ly)?\s*:",
    r"\bshort of\b",
    rf"\b{_FIRST}(?: \w+)? (?:look|search|hope) for\b",
    r"\bin (?:search|need|want) of\b",
    r"\b(?:i'm|i am|we're|we are) after\b",
    r"\bseek(?:s|ing)?\b",
    r"^wanted\b",
    r"\b(?:is|are) (?:wanted|sought)\b",
    r"^(?:missing|wanted|searching|iso)\b:?",
    r"(?<!i )(?<!we )\bneeded\b|\bneed(?:s|ing)?\b(?! not\b)",
    r"\black(?:s|ing)?\b",
    rf"\b{_FIRST}(?: \w+)? (?:want|wish|hope)\b",
    rf"\b{_FIRST}{_WISH} (?:to (?:join|learn|find|meet|have|buy|hear|get|rent|borrow|hire|talk|see"
    r"|connect|work|practi[sc]e|try)\b|advice|help|an?\b|some|any|of\b|for\b|people|if)",
    r"\bcould (?:really |do )?(?:use|do with)\b",
    r"\b(?:hiring|recruiting|fundraising|crowdfunding)\b",
    rf"\braising (?:an?|our|money|funds|capital|(?:pre-?)?seed|\W?\d[\w.,]*|{_NUMBERS})\b",
    rf"^(?:where|how|whom?) (?:can|could|do|might) (?:i|we) (?:{_TO_GET}|ask|contact)\b",
    r"\b(?:can|could|would|will) you (?:\w+ )?(?:put|introduce|recommend|help|lend|show|teach"
    r"|find|point|connect|suggest)\b",
    r"\b(?:recommendations?|tips|suggestions?|advice|help|pointers|introductions?|leads"
    r"|volunteers|hints)\b[^.?!]*\b(?:welcome|appreciated|needed)\b",
    r"\b(?:any|some|one) of you\b.*\?$",
    rf"\b(?:i|we)(?:'d| would) (?:\w+ )?{_TO_GET}\b",
    r"^(?:please )?(?:find|introduce|connect|show|help|get|point|recommend)(?: me| us)\b",
    r"\b(?:who|where|which \w+) (?:can|could|knows|does|still|joins|shows|walks|do|has|would"
    r"|will|is"
    r"|wants|likes|else)\b.*\?$",
    r"\b(?:does|do|did|has|have|is|are) (?:any|some)(?:one|body)(?: here| else)? (?!else|agree"
    r"|think|feel|hate|love|like|believe|remember|care|mind|notice|really|ever|seen|hear)\w+",
    r"\b(?:do|does|have) any\w* (?:know|have|sell|teach|recommend)\b",
    r"\b(?:can|could|would|will|might) (?:any|some)(?:one|body)\b",
    r"^(?:any|some)(?:one|body)\b(?! else\b).*\?$",
    r"\b(?:any|some) (?:recommendations|suggestions|tips|leads|takers|volunteers)\b.*\?$",
    r"\b(?:is|are) there (?:an?|any|some)\w*\b.*\?$",
    r"\bwho joins\b|\bjoin (?:me|us)\b",
    r"\bplease (?:introduce|recommend|help|get in touch if you (?:can|have|know))\b",
    r"\bask(?:s|ing)? for\b",
    r"^(?:very )?(?:interested|keen) (?:in|to|on)\b|\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:keen"
    r"|eager|"
    r"interested)\b",
    r"\b(?:learn|study|practi[sc]e)\b.*\bwith (?:some|any)(?:one|body)\b",
    rf"\b{_FIRST} am trying to (?:find|get|hire|buy|learn)\b|\btrying to (?:find|hire|buy"
    r"|locate)\b",
)
_GIVEN = (
    r"(?:give|gives|lend|lends|sell|sells|teach|teaches|mend|mends|repair|repairs|review|reviews"
    r"|prepare"
    r"|restore|restores|tune|tunes|coach|coaches|share|shares|mentor|mentors|tutor|tutors|donate"
    r"|donates"
    r"|rent out|hire out|supply|supplies|translate|translates|advise|advises|invest|fund|funds"
    r"|sponsor"
    r"|host|hosts|provide|provides|consult)"
)
_HELD = "(?:run|runn?ing|hold|holding|give|giving|organi[sz]\\w+|bring|open|opening|lead|leading)"
_OFFERING = _any(
    r"\boffer(?:s|ing|ed up)?\b",
    r"\b(?:room|space|capacity|place) (?:left )?for (?:\w+ ){0,2}(?:more|another|new|an?)\b"
    r"|\broom for another\b",
    r"\b(?:there(?:'s| is| are)|i have|we have|i've got|we've got|has|got)\b[^.?!;]*"
    r"\b(?:free|spare|to spare|left over)\b(?! time\b)",
    r"\b(?:commissions|clients|students|enquiries|inquiries|pupils|beginners|newcomers|visitors"
    r"|orders|bookings) (?:are )?(?:\w+ )?welcome\b",
    r"\b(?:you(?:'re| are)|anyone is|everybody is|all are) (?:\w+ )?welcome to\b"
    r"|\b(?:feel free|help yourself|come by|come along|drop in|take (?:it|them|one))\b",
    r"\bmy special(?:i)?ty\b|\b(?:i|we) speciali[sz]e\b",
    r"\b(?:i|we)\b[^.?!]*\benjoy (?:advising|teaching|helping|mentoring|coaching|tutoring)\b",
    rf"\b(?:i|we)(?: will|'ll| am going to|'m going to| are going to) (?:be )?{_HELD}\b",
    r"^(?:\w+ ){0,3}(?:lessons|classes|courses|tuition|tutoring|coaching|consulting|catering)"
    r" (?:for|in|at|on)\b(?!.*\b(?:is|are|was|were|has|have|had|start|starts|begin|begins)\b)",
    r"^(?:will |would )?swap\b|\b(?:i|we)(?: will|'ll| would|'d)? swap\b",
    rf"\b{_FIRST}(?:'d| would)?(?: \w+)? (?:can|could) (?!not\b|you\b|use\b|do with\b"
    r"|really use\b)\w+",
    r"\b(?:happy|glad|pleased|willing|ready|delighted|prepared|open|free) to (?!hear\b|meet\b"
    r"|see\b|find\b)",
    r"\b(?:i'm|i am|we're|we are|is|are) available\b|^available\b|\bavailable (?:for|to|as|on)\b",
    r"\b(?:for sale|to let|for rent|for hire|to give away|to lend|to spare|to share|for free"
    r"|free to a good home|up for grabs|going spare)\b",
    r"^(?:giving away|selling|renting out|lending|donating|teaching|sharing)\b",
    rf"\b(?:i|we|our \w+) (?:\w+ )?{_GIVEN}\b",
    r"\b(?:i|we)(?:'m| am|'re| are) (?:\w+ )?(?:giving away|selling|renting out|lending"
    r"|donating|hosting"
    r"|teaching|running (?:an?|free)|opening)\b",
    rf"\b(?:i|we)(?: will|'ll)(?: be)?(?: \w+)? (?:hosting|teaching|{_GIVEN[3:-1]})\b",
    r"\b(?:i|we) (?:want|would like|would love|'d love|'d like|hope) to (?:help|give|share|teach"
    r"|volunteer"
    r"|lend|mentor|support|donate|host|sponsor)\b",
    r"\b(?:i|we)(?:'d| would) (?:like|love|be (?:glad|happy)) to (?:help|give|share|teach"
    r"|volunteer|lend"
    r"|mentor|support|donate|host|sponsor)\b",
    r"\b(?:want|wants|wanting) to help\b",
    r"\b(?:let me know|get in touch|drop me a line|call me|write to me|message me)\b",
    r"\b(?:gives|give) (?:grants|scholarships|prizes)\b",
    r"\b(?:hereby )?opens? (?:our|my|its)\b",
    r"\b(?:i|we) (?:promise|volunteer|undertake|commit|pledge)\b",
    r"\bhas? (?:an? )?(?:spare|unused|extra|free) \w+",
    r"\bhave (?:an? |\w+ )?(?:spare|unused|extra) \w+",
    r"\byou (?:may|can) (?:borrow|have|take|join)\b",
    r"\b(?:schools|anybody|anyone|people) (?:may|can) (?:borrow|use|have|take|join)\b",
)
_YOU = r"(?:you|your \w+|any(?:one|body)(?: here)?|some(?:one|body))"
_SEEK_FIRST = re.compile(
    rf"\bif {_YOU} (?:\w+ )?(?:know|knows|has|have|hear|hears|sell|sells|can|could|come across"
    r"|comes across|own|owns|lend|lends)\b.*\b(?:let me know|get in touch|write|tell|contact"
    rf"|(?:i|we)(?:'d| would) (?:\w+ )?(?:{_TO_GET}|like|love|be|appreciate|pay|take))\b",
    re.I,
)
"""Asks for what somebody else may have."""

_OFFER_FIRST = _any(
    r"\b(?:let me know|get in touch|drop me a line|call me|write to me|message me)\b",
    r"\b(?:i|we)(?: want| would like| would love|'d love|'d like| hope|'d be glad|'d be happy"
    r"| would be "
    r"(?:glad|happy)) to (?:help|give|share|teach|volunteer|lend|mentor|support|donate|host"
    r"|sponsor)\b",
    rf"\bif {_YOU} (?:\w+ )?(?:need|want|lack|seek|wish|look|am|is|are|feel|would|struggle)\w*\b",
    r"\bwhoever (?:needs|wants)\b",
)
"""Forms that offer although they speak of what somebody else lacks or of what one wants to give."""

_WONDERS = re.compile(r"^(?:i|we) (?:wonder|hope|think|heard|hear|read|guess|wish)\b", re.I)
_HAVE = re.compile(r"\b(?:i|we) (?:have|know|am|are|own|run)\b", re.I)

_CLOSING = _any(
    r"\b(?:no longer|any ?more|any ?longer)\b",
    r"\b(?:stopped|ceased|done|finished|through with|given up|gave up|quit)(?: with)? (?:looking"
    r"|seeking"
    r"|searching|giving|offering|teaching|hiring|selling|hunting)",
    r"\b(?:i|we) (?:have |'ve |just |finally )*(?:found|got|hired|bought|sold|rented|raised|secured"
    r"|booked) (?:our|my"
    r"|a|an|one"
    r"|the|somebody|someone|him|her|it)\b",
    r"\bno more (?:applications|offers|enquiries|inquiries|replies)\b",
    r"\b(?:is|are|has been|have been|was|were|got) (?:now |already |fully )?(?:settled|taken|sold"
    r"|found|hired|chosen|complete|completed"
    r"|filled|gone|full|let"
    r"|over|closed|sorted|rented|booked|given away|called off|cancelled)\b",
    r"\bwe have our\b|\bi have my\b|\bnever mind\b",
    r"\b(?:i|we) (?:now |finally )?have (?:an?|one|enough|the) (?:[\w'-]+ ){0,3}(?:now|at last)\b",
    r"\b(?:close|cancel|withdraw|remove|delete|end|drop|forget)(?: about)? (?:everything|all|both"
    r"|my|our|the|that|this|it|them|these|those)\b",
    r"^(?:sold|taken|found|filled|solved|closed)\b",
)
_NOT_SO = _any(
    r"\b(?:not|never|n't) (?:\w+ )?(?:looking|seeking|searching|need|want|hiring|offering|after"
    r"|interested"
    r"|available)\b",
    r"\b(?:was|were|had been|used to be) (?:looking|seeking|searching|hiring|offering|after)\b",
    r"\b(?:last|some|two|three|many) (?:year|month|week|winter|summer|spring|autumn)s?\b(?! of\b).*"
    r"\b(?:was|were|had|found|looked|needed)\b",
    r"^in (?:the )?(?:19|20)\d\d|\blooking forward\b",
    r"\bused to (?:need|want|look|offer|teach|sell|give)\b",
    r"\b(?:years|months|weeks) ago\b",
    r"\bif (?:i|we|it|they) (?:ever|were|had|could|moved)\b|^if (?:i|we) \w+ed\b",
    r"\b(?:said|says|wrote|asked|told)\b:?\s*$|\bsaid:",
    r"\bwish (?:i|we|it|you|they)\b",
    r"\b(?:i|we) (?:hope|wish|want) (?:my|his|her|their|he|she|they|it)\b",
    r"\b(?:i|we) give (?:up|in|way|thanks)\b",
    r"\b(?:i|we) (?:host|lend|give|teach|share|coach|advise) (?:my|him|her|them)\b",
    r"\bshare an? (?:flat|house|room|office|desk|kitchen)\b.*\bwith\b",
    r"\b(?:can|could) (?:only|hardly|see|hear|feel|smell|imagine|remember|understand|believe|tell"
    r"|swim|sing|wait)\b",
    r"\bneed(?:s|ed)? to (?!find\b|hire\b|buy\b|rent\b|borrow\b|learn\b|meet\b|get\b|talk\b"
    r"|speak\b|recruit\b|raise\b|sell\b|connect\b|practi[sc]e\b)",
    r"\b(?:happy|glad|pleased|delighted) to (?:be|have|hear|see|say|report|announce)\b",
    r"\bteach(?:es)? (?:at|in) (?:an?|the)\b",
    r"^(?:i|we)(?: \w+ly| always| also)? \w+ (?:my|our) own\b(?! (?:boss|way)\b)",
    re.escape(QUOTED),
)
_OTHERS = re.compile(
    r"^(?:my|his|her|their|a|the|our) (?:\w+ )?(?:sister|brother|mother|father|friend|neighbou?r"
    r"|cousin|wife|husband|partner|colleague|boss|uncle|aunt|daughter|son|landlord|city|flatmate"
    r"|roommate|grandmother|grandfather|nephew|niece|government|council|mayor|president)s?\b"
    r"|^(?:he|she|they|people|everybody|everyone|nobody|some people)\b"
    r"|^(?:many|most|several|few|all) (?!(?:of|our|my|the)\b)[\w-]+ (?:[\w-]+ )?(?:need|want|look"
    r"|seek|offer|are)\b"
    r"|^(?:my|our|the|his|her) [\w-]+ (?:says|said|thinks|told|believes)\b"
    r"|^[A-Z][a-z]+ (?:said|says|told|wants|needs|is looking|was looking|offers|seeks)\b",
    re.I,
)
_ORDERS = re.compile(
    r"^\W*(?:system|assistant|admin)\s*:|\b(?:ignore|disregard|forget) (?:all|any|the|your"
    r"|previous)\b"
    r"|\b(?:score|rate|rank) (?:me|this|us)\b|\byou are now\b|\bstore that\b|\bas an ai\b"
    r"|\b(?:new|updated) instructions\b",
    re.I,
)
_FEELING = re.compile(
    r"!$|^(?:what an?|how|wow|thank|thanks|congrat\w*|hello|hi|hey|good (?:morning|evening|day)"
    r"|sorry"
    r"|welcome|happy (?:birthday|new)|cheers|ugh|oh)\b"
    r"|\blooking forward\b|\bi (?:love|hate|adore|miss|enjoy|feel)\b"
    r"|\b(?:awful|wonderful|lovely|great|terrible|funny|sad|happy|proud|sorry|grateful|excited)\b",
    re.I,
)
_DECLARED = re.compile(r"\bhereby\b|\b(?:from now on|as of today|as from today)\b", re.I)
_STARTS = r"(?:offer|bring|seek|look|need|want|can|could|am|are|hir|teach|give|sell|mentor|search)"
_AUX = r"(?:'m| am|'re| are|'d| would|'ll| will)?"
_BUT = re.compile(r"[;,] (?:but|and|so) ", re.I)
_IN_RETURN = re.compile(
    r"[;,]?\s+(?:and |but )?(?:in (?:return|exchange)|for (?:that|this))\s+"
    rf"|[;,]\s+(?:and |but )?(?=(?:i|we){_AUX} (?:\w+ )?{_STARTS}\w*\b)"
    rf"|,? (?:and|but) (?=(?:i|we){_AUX} {_STARTS}\w*\b)"
    r"|,? (?:and|but) (?=(?:can offer|could offer|offer|am happy|happy to|also (?:offer|seek"
    r"|need|look)"
    r"|am looking|looking for|seeking|need an?)\b)",
    re.I,
)
_COUNTED = re.compile(
    r"^(?:\w+ things?|to be brief|in short|hi(?: all| everyone)?|hello)\s*[:,]\s*", re.I
)
_HEADING = re.compile(
    r"^\W*(seeking|offering|wanted|i seek|i offer|looking for|i need|i can offer|needs?"
    r"|offers?)\s*:\s*$",
    re.I,
)
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u2013]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sentence, or a part of one; `side` where the heading above it says so."""

    text: str
    side: Side | None = None


def parts_of(text: str) -> tuple[Part, ...]:
    """Return what is said in `text`, sentence by sentence, in its order."""
    return tuple(_parts_of(text))


def judged(parts: Sequence[Part]) -> tuple[Statement, ...]:
    """Return what is done by each part, by rules."""
    return tuple(
        statement(part.text) if part.side is None else of_side(part.text, part.side)
        for part in parts
    )


def read(text: str) -> tuple[Statement, ...]:
    """Return what is said and done in `text`, by rules."""
    return judged(parts_of(text))


def of_side(text: str, side: Side, confidence: float = 0.9) -> Statement:
    """Return what somebody does who seeks or offers something by `text`."""
    act = Act.COMMISSIVE if side is Side.OFFERING else Act.DIRECTIVE
    if _DECLARED.search(text):
        act = Act.DECLARATION
    return Statement(text=text, act=act, side=side, confidence=confidence)


def _parts_of(text: str) -> Iterator[Part]:
    heading: Side | None = None
    for line in text.splitlines() or [text]:
        title = _HEADING.match(line)
        if title is not None:
            heading = Side.OFFERING if "offer" in title[1].lower() else Side.SEEKING
            continue
        bullet = _BULLET.match(line)
        if heading is not None and bullet is not None:
            yield Part(text=line[bullet.end() :].strip(), side=heading)
            continue
        heading = None
        for sentence in sentences(line):
            for part in _parts(sentence):
                yield Part(text=part)


def _parts(sentence: str) -> Iterator[str]:
    """Yield a sentence's parts that each seek or offer something of their own."""
    whole = _COUNTED.sub("", sentence).strip()
    parts = [part.strip(" ,;") for part in _IN_RETURN.split(whole)]
    parts = [part for part in parts if part]
    if len(parts) > 1 and all(_side(part) is not None for part in parts):
        yield from parts
        return
    parts = _BUT.split(whole)
    yield from parts if any(_CLOSING.search(part) for part in parts) else [whole]


def is_of_others(text: str) -> bool:
    """Return whether a sentence says what somebody else seeks or offers."""
    return bool(_OTHERS.search(text))


def is_order(text: str) -> bool:
    """Return whether a sentence is an order to a machine: never an intent."""
    return bool(_ORDERS.search(text))


def forms(text: str) -> tuple[bool, ...]:
    """Return which forms of speech a sentence has, and what the rules make of it: 11 signs."""
    by_rules = statement(text)
    patterns = (_SEEKING, _OFFERING, _CLOSING, _NOT_SO, _OTHERS, _FEELING, _OFFER_FIRST)
    return (
        *(bool(pattern.search(text)) for pattern in patterns),
        is_service(text),
        by_rules.side is Side.SEEKING,
        by_rules.side is Side.OFFERING,
        by_rules.closes,
    )


def statement(text: str) -> Statement:
    """Return what is done by one sentence, by rules."""
    if is_order(text):
        return Statement(text=text, act=Act.DIRECTIVE, side=None)
    if _CLOSING.search(text) and not _OTHERS.search(text) and not _WONDERS.search(text):
        return Statement(text=text, act=Act.DECLARATION, side=None, closes=True)
    side = None if _NOT_SO.search(text) or _OTHERS.search(text) else _side(text)
    if side is None:
        act = Act.EXPRESSIVE if _FEELING.search(text) else Act.ASSERTIVE
        return Statement(text=text, act=act, side=None)
    return of_side(text, side)


def _side(text: str) -> Side | None:
    seeking, offering = _SEEKING.search(text), _OFFERING.search(text)
    if _SEEK_FIRST.search(text):
        return Side.SEEKING
    if _OFFER_FIRST.search(text) and (offering or _HAVE.search(text)):
        return Side.OFFERING
    if seeking is None and (offering or is_service(text)):
        return Side.OFFERING
    if seeking is None or offering is None:
        return Side.SEEKING if seeking else None
    return Side.SEEKING if seeking.start() <= offering.start() else Side.OFFERING
