"""Which text that was found speaks of the ticket, by the words they share. Not a search. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.agent import citations
from cairn.agent.citations import Kind
from cairn.text.words import content_words, sentences

if TYPE_CHECKING:
    from cairn.agent.state import Evidence, WorkingMemory

STEM = 5
"""Letters of a word that are compared: "invoices" and "invoice" are one."""

FEWEST = 3
"""Words a text has to share with title and body; of a short title all are enough."""

SHARE = 0.5
"""Of the title's words a text has to share."""

QUOTE_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A text that speaks of the ticket: its citation, and the sentence nearest to it."""

    citation: str
    sentence: str


def best_known(memory: WorkingMemory) -> Known | None:
    """Return the part of a document that shares the most words with the ticket, if enough.

    Only documents: what agents remember is not theirs to send to a requester.
    """
    title = _stems(memory.brief.title)
    asked = title | _stems(memory.brief.body[:1000])
    best: Evidence | None = None
    most = 0
    for one in memory.evidence:
        cited = citations.parse(one.citation)
        text = _stems(f"{one.text} {' '.join(cited.headings)}") if cited else set[str]()
        shares = len(title & text)
        enough = shares >= max(1, SHARE * len(title)) and (
            len(asked & text) >= FEWEST or 2 <= shares == len(title)
        )
        if cited and cited.kind is Kind.DOC and enough and len(asked & text) > most:
            best, most = one, len(asked & text)
    if best is None:
        return None
    return Known(citation=best.citation, sentence=_nearest(best.text, asked))


def _nearest(text: str, asked: set[str]) -> str:
    parts = [one for one in sentences(text) if len(one) <= QUOTE_CHARS and _stems(one)]
    return max(parts, key=lambda one: len(asked & _stems(one)), default="")


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in content_words(text)}
