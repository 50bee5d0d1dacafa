"""What evidence is worth: a score of 0-100, roles, a reason and questions. Pure; rules only.

`allowed` also holds what a model says of a candidate (`evaluator`) to what stands against it.

The weights were fitted on the project's own network, each community judged by the other three
(docs/use/discovery.md); what excludes a meeting (same side, wrong place, wrong role) keeps it below
EXCLUDED whatever else speaks for it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.matching.evidence import BOTH, OFFERING, SEEKING
from cairn.discovery.matching.rows import Valency

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.discovery.matching.evidence import Asker, Candidate, Evidence
    from cairn.discovery.matching.lenses import By

MUST_MEET, SHOULD_MEET = 90, 70
EXCLUDED = 29
"""Up to here nobody is proposed, even when they were picked."""
EXCLUDING = frozenset({"same side", "wrong role", "wrong place"})
CONFLICTING = 59
"""The most where terms stand against each other: close, and not to be shown."""
UNSAID = 75
"""The most for somebody who said no wish: their profile alone speaks for them."""

_BEHIND = 0.09
"""What is left of a score where a meeting excludes itself: it ranks behind all that may be one."""

_LATE, _SHARE, _Z, _MIXED, _CONFLICT, _BIAS = 12.9, 8.2, 0.8, -3.3, -5.4, -6.07
_MOST_QUESTIONS = 3

_TAKES, _GIVES = (
    r"raised|raising|seeking|looking for|funded by|backed by|learn(?:s|ing)|student of",
    r"invest(?:s|ing|or)|teach(?:es|ing|er)|mentors?|coach(?:es|ing)?|fund(?:s|ing)",
)
_GIVER = re.compile(
    r"\b(investors?|funders?|backers?|teachers?|mentors?|coach(?:es)?|sponsors?)\b", re.IGNORECASE
)
_TAKER, _GIVING = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (_TAKES, _GIVES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was judged of one candidate. `role` is what they are to the one who looks."""

    member_id: UUID
    node_id: UUID | None
    score: int
    role: Valency
    reason: str
    questions: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    by: By = "rules"

    @property
    def verdict(self) -> str | None:
        """Return must_meet, should_meet, or None for what is not shown."""
        if self.score >= MUST_MEET:
            return "must_meet"
        return "should_meet" if self.score >= SHOULD_MEET else None


def judge(
    asker: Asker, name: str, candidates: Sequence[Candidate], evidence: Sequence[Evidence]
) -> list[Judgement]:
    """Return what the rules say of each candidate; `name` is the asker's."""
    return [
        _judged(asker, name, candidate, measured)
        for candidate, measured in zip(candidates, evidence, strict=True)
    ]


def _judged(asker: Asker, name: str, candidate: Candidate, measured: Evidence) -> Judgement:
    role = role_of(asker.side, candidate)
    conflicts = conflicts_of(asker, candidate, measured)
    return Judgement(
        member_id=candidate.member_id,
        node_id=candidate.node_id,
        score=score_of(candidate, measured, conflicts),
        role=role,
        reason=reason_of(asker, name, candidate, role, conflicts),
        questions=tuple(
            f'Does "{phrase}" suit {candidate.name or "them"}?'
            for phrase in measured.checked.missing[:_MOST_QUESTIONS]
        ),
        conflicts=conflicts,
    )


def conflicts_of(asker: Asker, candidate: Candidate, measured: Evidence) -> tuple[str, ...]:
    """Return what stands against it, the excluding first."""
    reasons = [
        *(["same side"] if measured.same_side else []),
        *(["wrong role"] if is_wrong_role(asker, candidate) else []),
        *(["wrong place"] if measured.checked.wrong_place else []),
    ]
    return (*reasons, *measured.checked.conflicts)


def is_wrong_role(asker: Asker, candidate: Candidate) -> bool:
    """Return whether a giver is sought and the other takes: who raised money is no investor."""
    if asker.side == OFFERING or not _GIVER.search(asker.text):
        return False
    says = candidate.wish or candidate.about
    return bool(_TAKER.search(says)) and not _GIVING.search(says)


def score_of(candidate: Candidate, measured: Evidence, conflicts: Sequence[str]) -> int:
    """Return the score: what is measured, and no more than what stands against it allows."""
    total = _BIAS + _LATE * measured.late + _SHARE * measured.share + _Z * measured.z
    total += _MIXED * measured.mixed + _CONFLICT * bool(measured.checked.conflicts)
    return allowed(round(100 / (1 + math.exp(-max(-30.0, min(30.0, total))))), candidate, conflicts)


def allowed(score: int, candidate: Candidate, conflicts: Sequence[str]) -> int:
    """Return a score, and no more than what stands against the candidate allows, whoever judges."""
    if EXCLUDING & set(conflicts):
        return round(score * _BEHIND)
    if conflicts:
        return min(score, CONFLICTING)
    return min(score, UNSAID) if candidate.node_id is None else score


def role_of(side: str | None, candidate: Candidate) -> Valency:
    """Return what the candidate is to the asker: agent where it can do it for them."""
    if side == BOTH and candidate.side == BOTH:
        return Valency.PEER
    if side == OFFERING or (side == BOTH and candidate.side == SEEKING):
        return Valency.PATIENT
    return Valency.AGENT


_RELATION = {
    Valency.AGENT: "{them} could do it for {you}",
    Valency.PATIENT: "{you} could do it for {them}",
    Valency.PEER: "both want the same thing of each other",
}
_SIDE = {SEEKING: "seeks", OFFERING: "offers", BOTH: "seeks and offers", None: "asks for"}


def reason_of(
    asker: Asker, name: str, candidate: Candidate, role: Valency, conflicts: Sequence[str]
) -> str:
    """Return why, as a third person would put it: only what the two said, and what was checked."""
    you, them = name or "the one who looks", candidate.name or "the other member"
    says = (
        f"{_capital(them)} {_SIDE[candidate.side]}: {_quoted(candidate.text)}"
        if candidate.node_id is not None
        else f"{_capital(them)} shows in the profile: {candidate.about or candidate.text}"
    )
    relation = _RELATION[role].format(you=you, them=them)
    against = f" Against it: {', '.join(conflicts)}." if conflicts else ""
    seeks = f"{_capital(you)} {_SIDE[asker.side]}: {_quoted(asker.text)}"
    return f"{seeks} {says} So {relation}.{against}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _quoted(text: str) -> str:
    return f'"{text}"' if text.rstrip().endswith((".", "!", "?")) else f'"{text}."'
