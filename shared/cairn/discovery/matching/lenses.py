"""What an ideal match would say of itself: one to five lenses on a text, by rules. Pure.

A lens has a label, the corpus it looks in, and a reason. Without a model the documents are made of
the text's own words: a wish turned to its other side, and a profile of who could fulfil it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cairn.discovery.matching.evidence import BOTH, OFFERING, SEEKING

Corpus: TypeAlias = Literal["profiles", "intents"]
By: TypeAlias = Literal["rules", "model"]
MOST_LENSES = 5
MOST_CHARS = 600

_WANTS = (
    r"(?:i am |we are |i'm |we're )?(?:looking for|seeking|searching for|in search of)|"
    r"(?:i|we) (?:need|want|seek|would like|lack|search for|look for)|wanted:?|needed:?|"
    r"(?:is|are) there|who (?:can|could|has|knows)|any"
)
_GIVES = (
    r"(?:i|we) (?:offer|provide|can|could|have|teach|build|make|repair|mend|rent|let|sell)|"
    r"offering|available|happy to|for hire"
)
_LEAD_WANTS = re.compile(rf"^\s*(?:{_WANTS})\b\s*", re.IGNORECASE)
_LEAD_GIVES = re.compile(rf"^\s*(?:{_GIVES})\b\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """One way to look for somebody, and what the ideal match would say, seen through it."""

    label: str
    corpus: Corpus
    reason: str
    document: str
    by: By = "rules"


def lenses_of(text: str, side: str | None, about: str = "") -> tuple[Lens, ...]:
    """Return the lenses of a wish, or of a query, by rules."""
    core = _core(text)
    if side == BOTH:
        joint = Lens(
            label="the same joint thing",
            corpus="intents",
            reason="Who wants the same of others as is wanted of them says it alike.",
            document=_cut(text),
        )
        return (joint, _profile(core, "does the same", about))
    if side == OFFERING:
        need = Lens(
            label="who needs it",
            corpus="intents",
            reason="Who needs what is offered asks for it.",
            document=_cut(f"Looking for {core}"),
        )
        return (need, _profile(core, "needs it", about))
    offer = Lens(
        label="who offers it",
        corpus="intents",
        reason="Who can do what is sought offers it.",
        document=_cut(f"I offer {core}"),
    )
    return (offer, _profile(core, "can do it", about))


def side_of_query(text: str) -> str:
    """Return which side a query is on: who asks seeks, unless they say that they give."""
    return OFFERING if _LEAD_GIVES.match(text) and not _LEAD_WANTS.match(text) else SEEKING


def _profile(core: str, label: str, about: str) -> Lens:
    place = f" {about}" if about else ""
    return Lens(
        label=label,
        corpus="profiles",
        reason="What somebody is may say what their wishes do not.",
        document=_cut(f"Works on {core}.{place}"),
    )


def _core(text: str) -> str:
    """Return a wish without the words that say only which side it is on."""
    for lead in (_LEAD_WANTS, _LEAD_GIVES):
        shorter = lead.sub("", text, count=1).strip()
        if shorter and shorter != text.strip():
            return shorter[0].lower() + shorter[1:]
    return text.strip()


def _cut(text: str) -> str:
    return text[:MOST_CHARS]
