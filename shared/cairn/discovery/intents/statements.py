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
    from collections.abc import Iterator


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
_SEEKING = _any(
    r"\b(?:looking|searching|hunting|looking out|on the (?:lookout|hunt)) for\b",
    rf"\b{_FIRST}(?: \w+)? (?:look|search|hope) for\b",
    r"\bin (?:search|need|want) of\b",
    r"\b(?:i'm|i am|we're|we are) after\b",
    r"\bseek(?:s|ing)?\b",
    r"^wanted\b",
    r"\b(?:is|are) (?:wanted|sought)\b",
    r"^(?:missing|wanted|searching|iso)\b:?",
    r"\bneed(?:s|ed|ing)?\b(?! not\b)",
    r"\black(?:s|ing)?\b",
    rf"\b{_FIRST}(?: \w+)? (?:want|wish|hope)\b",
    rf"\b{_FIRST}{_WISH} (?:to (?:join|learn|find|meet|have|buy|hear|get|rent|borrow|hire|talk|see"
    r"|connect|work|practi[sc]e|try)\b|advice|help|an?\b|some|any|of\b|people|if)",
    r"\bcould (?:really |do )?(?:use|do with)\b",
    r"\b(?:hiring|recruiting|fundraising|crowdfunding|raising (?:an?|our|money|funds|capital))\b",
    r"^(?:please )?(?:find|introduce|connect|show|help|get|point|recommend)(?: me| us)\b",
    r"\b(?:who|where|which \w+) (?:can|could|knows|does|still|joins|shows|walks|do|has|would"
    r"|will|is"
    r"|wants|likes|else)\b.*\?$",
    r"\b(?:does|do|did|has|have) (?:any|some)(?:one|body|thing)?(?: here| else| of you)? "
    r"(?:know|have|sell|teach|own|want|recommend|got|need|offer)\b",
    r"\b(?:can|could|would|will|might) (?:any|some)(?:one|body)\b",
    r"\b(?:any|some)(?:one|body)\b[^.?!]*\b(?:know|have|up for|keen|interested|willing|want"
    r"|around)\b.*\?$",
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
    r"\bwould (?:any|some)(?:one|body)\b",
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
_OFFERING = _any(
    r"\boffer(?:s|ing|ed up)?\b",
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
_OFFER_FIRST = _any(
    r"\b(?:let me know|get in touch|drop me a line|call me|write to me|message me)\b",
    r"\b(?:i|we)(?: want| would like| would love|'d love|'d like| hope|'d be glad|'d be happy"
    r"| would be "
    r"(?:glad|happy)) to (?:help|give|share|teach|volunteer|lend|mentor|support|donate|host"
    r"|sponsor)\b",
    r"\bif (?:you|your \w+|any(?:one|body)|some(?:one|body))\b",
)
"""Forms that offer although they speak of what somebody else lacks or of what one wants to give."""

_CLOSING = _any(
    r"\b(?:no longer|any ?more|not any ?longer)\b",
    r"\b(?:stopped|ceased|done|finished|through with|given up|gave up|quit)(?: with)? (?:looking"
    r"|seeking"
    r"|searching|giving|offering|teaching|hiring|selling|hunting)",
    r"\b(?:i|we) (?:have |'ve |just |finally )*(?:found|got|hired|bought|sold|rented) (?:our|my"
    r"|a|an|one"
    r"|the|somebody|someone|him|her|it)\b",
    r"\bno more (?:applications|offers|enquiries|inquiries|replies)\b",
    r"\b(?:is|are|has been|have been|was|were|got) (?:now |already )?(?:settled|taken|sold"
    r"|filled|gone"
    r"|over|closed|sorted|rented|booked|given away|called off|cancelled)\b",
    r"\bwe have our\b|\bi have my\b",
    r"\b(?:close|cancel|withdraw|remove|delete|end|drop|forget) (?:everything|all|my|our|the"
    r"|that)\b",
    r"^(?:sold|taken|found|filled|solved|closed)\b",
)
_NOT_SO = _any(
    r"\b(?:not|never|n't) (?:\w+ )?(?:looking|seeking|searching|need|want|hiring|offering|after"
    r"|interested"
    r"|available)\b",
    r"\b(?:was|were|had been|used to be) (?:looking|seeking|searching|hiring|offering|after)\b",
    r"\b(?:last|some|two|three|many) (?:year|month|week|winter|summer|spring|autumn)s?\b(?! of\b).*"
    r"\b(?:was|were|had|found|looked|needed)\b",
    r"\bused to (?:need|want|look|offer|teach|sell|give)\b",
    r"\b(?:years|months|weeks) ago\b",
    r"\bif (?:i|we|it|they) (?:ever|were|had|could|moved)\b|^if (?:i|we) \w+ed\b",
    r"\b(?:said|says|wrote|asked|told)\b:?\s*$|\bsaid:",
    r"\bwish (?:i|we|it|you|they)\b",
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
    r"|\bi (?:love|hate|adore|miss|enjoy|feel)\b"
    r"|\b(?:awful|wonderful|lovely|great|terrible|funny|sad|happy|proud|sorry|grateful|excited)\b",
    re.I,
)
_DECLARED = re.compile(r"\bhereby\b|\b(?:from now on|as of today|as from today)\b", re.I)
_STARTS = r"(?:offer|bring|seek|look|need|want|can|could|am|are|hir|teach|give|sell|mentor|search)"
_AUX = r"(?:'m| am|'re| are|'d| would|'ll| will)?"
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


def read(text: str) -> tuple[Statement, ...]:
    """Return what is said in `text`, sentence by sentence, in its order."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[Statement]:
    heading: Side | None = None
    for line in text.splitlines() or [text]:
        title = _HEADING.match(line)
        if title is not None:
            heading = Side.OFFERING if "offer" in title[1].lower() else Side.SEEKING
            continue
        bullet = _BULLET.match(line)
        if heading is not None and bullet is not None:
            act = Act.COMMISSIVE if heading is Side.OFFERING else Act.DIRECTIVE
            yield Statement(text=line[bullet.end() :].strip(), act=act, side=heading)
            continue
        heading = None
        for sentence in sentences(line):
            for part in _parts(sentence):
                yield statement(part)


def _parts(sentence: str) -> Iterator[str]:
    """Yield a sentence's parts that each seek or offer something of their own."""
    whole = _COUNTED.sub("", sentence).strip()
    parts = [part.strip(" ,;") for part in _IN_RETURN.split(whole)]
    parts = [part for part in parts if part]
    if len(parts) > 1 and all(_side(part) is not None for part in parts):
        yield from parts
    else:
        yield whole


def statement(text: str) -> Statement:
    """Return what is done by one sentence."""
    if _ORDERS.search(text):
        return Statement(text=text, act=Act.DIRECTIVE, side=None)
    if _CLOSING.search(text) and not _OTHERS.search(text):
        return Statement(text=text, act=Act.DECLARATION, side=None, closes=True)
    side = None if _NOT_SO.search(text) or _OTHERS.search(text) else _side(text)
    if side is None:
        act = Act.EXPRESSIVE if _FEELING.search(text) else Act.ASSERTIVE
        return Statement(text=text, act=act, side=None)
    if _DECLARED.search(text):
        return Statement(text=text, act=Act.DECLARATION, side=side)
    act = Act.COMMISSIVE if side is Side.OFFERING else Act.DIRECTIVE
    return Statement(text=text, act=act, side=side)


def _side(text: str) -> Side | None:
    seeking, offering = _SEEKING.search(text), _OFFERING.search(text)
    if offering is not None and _OFFER_FIRST.search(text):
        return Side.OFFERING
    if seeking is None and (offering or is_service(text)):
        return Side.OFFERING
    if seeking is None or offering is None:
        return Side.SEEKING if seeking else None
    return Side.SEEKING if seeking.start() <= offering.start() else Side.OFFERING
