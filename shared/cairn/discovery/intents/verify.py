"""How far a statement can be acted on: felicity, entropy, what it refers to. Pure, by rules.

The conditions are Searle's: whether the speaker is in a position to say it, means it, and says it
clearly enough. A vague statement is made specific by what the speaker's profile says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cairn.discovery.intents.statements import Act, Side
from cairn.kernel.text import words
from cairn.kernel.text.stems import stem

if TYPE_CHECKING:
    from cairn.discovery.intents.profile import ProfileText
    from cairn.discovery.intents.statements import Statement

By = Literal["rules", "model"]

VAGUE_ENTROPY = 0.75
"""Above it a statement could mean almost anybody."""

LEAST_CLARITY = 40
MOST_CHARS = 2_000
"""Of an intent's description."""

MOST_SKILLS = 3
"""Of a profile that a vague statement is made specific by."""

_FRAME = frozenset(
    re.findall(
        r"\w+",
        """
        look looking search searching hunting after seek seeking want wanted need needed
        offer offering find introduce show help helping helped happy glad willing ready
        available hire hiring recruit please somebody someone anybody anyone everybody
        everyone one give giving get would like love can could able know join meet meeting
        hope let new now today also really just very much many lot lots bit kind sort
        somehow somewhere something anything whatever maybe perhaps way ways""",
    )
)
"""Words that say that something is sought or offered, not what."""

_GENERIC = frozenset(
    re.findall(
        r"\w+",
        """
        job jobs work working role position career people person persons folk folks friend
        friends others man woman interesting good great nice cool fun best better right
        suitable exciting amazing talented smart opportunity opportunities connection
        connections contact contacts network networking community collaboration
        collaborations collaborator collaborators partner partners project projects idea
        ideas thing things stuff topic topics subject area field chat talk conversation
        conversations support advice business company startup service services skill skills
        expert experts professional professionals client clients customer customers investor
        investors money funding team teams place time life change chance challenge gig gigs
        hand useful various different local grow growing growth make making happen happens
        improve succeed success progress forward next step steps level thrive""",
    )
)
"""Words that fit almost anybody."""

_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|might|possibly|not sure|some ?day|one day|i guess)\b", re.I
)
_JOKING = re.compile(r"\b(?:just kidding|joking|lol|haha+|jk)\b|\U0001f609", re.I)
_NUMBER = re.compile(r"\b\d[\d.,]*\b")
_NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*)*")
_NO_NAMES = frozenset(
    {"I", "I'm", "I'd", "I've", "I'll", "Happy", "Looking", "Seeking", "Offering"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A statement with what was judged of it. `original` is what was said before enrichment.

    Felicity is in hundredths, `entropy` and `confidence` from 0 to 1; `likely` is how probable the
    act is, from 0 to 1.
    """

    text: str
    act: Act
    side: Side | None
    authority: int
    sincerity: int
    clarity: int
    entropy: float
    confidence: float
    reason: str
    anchor: str | None = None
    original: str | None = None
    closes: bool = False
    likely: float = 1.0
    by: By = "rules"

    @property
    def is_intent(self) -> bool:
        """Return whether the speaker seeks or offers something by it."""
        return self.side is not None and self.act in (
            Act.COMMISSIVE,
            Act.DIRECTIVE,
            Act.DECLARATION,
        )

    @property
    def is_vague(self) -> bool:
        """Return whether it could mean almost anybody."""
        return self.entropy > VAGUE_ENTROPY or self.clarity < LEAST_CLARITY


def verify(statement: Statement, profile: ProfileText | None) -> Verified:
    """Return what rules judge of a statement."""
    text = statement.text[:MOST_CHARS]
    anchor = anchor_of(text)
    specific = len(_specific(text)) + (1 if anchor else 0)
    entropy = round(1 / (1 + specific), 2)
    clarity = min(100, 20 + 25 * min(specific, 2) + 6 * max(0, specific - 2))
    sincerity = 20 if _JOKING.search(text) else 55 if _UNSURE.search(text) else 85
    return Verified(
        text=text,
        act=statement.act,
        side=statement.side,
        authority=_authority(statement, profile),
        sincerity=sincerity,
        clarity=clarity,
        entropy=entropy,
        confidence=round((clarity + sincerity) / 200, 2),
        reason=_reason(statement),
        anchor=anchor,
        closes=statement.closes,
        likely=statement.confidence,
    )


def enriched(vague: Verified, profile: ProfileText | None) -> Verified:
    """Return a vague intent made specific by the speaker's profile, verified again.

    It stays as it is where the profile says nothing that would make it specific.
    """
    more = _known_matter(profile) if profile else ""
    if not vague.is_intent or not vague.is_vague or not more:
        return vague
    text = f"{vague.text.rstrip(' .!?')} ({more})"[:MOST_CHARS]
    specific = len(_specific(text))
    return replace(
        vague,
        text=text,
        original=vague.text,
        entropy=round(1 / (1 + specific), 2),
        clarity=min(100, 20 + 25 * min(specific, 2)),
        anchor=anchor_of(text),
        reason=f"{vague.reason} It was vague; the profile says what is meant.",
    )


def anchor_of(text: str) -> str | None:
    """Return the names and numbers that a text refers to."""
    names = [match[0] for match in _NAME.finditer(text) if match[0] not in _NO_NAMES]
    results = dict.fromkeys([*names, *_NUMBER.findall(text)])
    return "; ".join(list(results)[:5])[:200] or None


def _specific(text: str) -> set[str]:
    content = {word for word in words.content_words(text) if len(word) > 2}
    return {stem(word) for word in content - _FRAME - _GENERIC}


def _authority(statement: Statement, profile: ProfileText | None) -> int:
    """Return how far the speaker is in a position to say it: a profile that bears an offer out."""
    if statement.side is None:
        return 50
    if profile is None or statement.side is Side.SEEKING:
        return 80
    shared = _specific(statement.text) & _specific(profile.text)
    return 95 if shared else 70


def _known_matter(profile: ProfileText) -> str:
    parts = [", ".join(profile.skills[:MOST_SKILLS] or profile.interests[:MOST_SKILLS])]
    if not parts[0]:
        parts = [profile.bio or profile.context]
    if profile.location:
        parts.append(profile.location)
    return "; ".join(part for part in parts if part)[:300]


def _reason(statement: Statement) -> str:
    if statement.closes:
        return "It says that something is over."
    if statement.side is None:
        return {
            Act.EXPRESSIVE: "It says how something feels.",
            Act.DIRECTIVE: "It gives orders to a machine.",
        }.get(statement.act, "It says how things are and asks for nothing.")
    if statement.side is Side.OFFERING:
        return "The speaker offers it."
    return "The speaker asks others for it."
