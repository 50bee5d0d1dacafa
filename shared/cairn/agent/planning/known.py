"""Which text that was found speaks of the ticket, by the words they share. Not a search. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.agent import citations
from cairn.agent.citations import Kind
from cairn.text.words import content_words, sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    """A text that speaks of the ticket: its citation, and the sentence nearest to it.

    `answers` when it speaks of all that is asked.
    """

    citation: str
    sentence: str
    answers: bool


def best_known(memory: WorkingMemory, question: Sequence[str] = ()) -> Known | None:
    """Return the part of a document that shares the most words with the ticket, if enough.

    `question` are the sentences of the ticket that ask for instructions. Only documents: what
    agents remember is not theirs to send to a requester.
    """
    title = _stems(memory.brief.title)
    asked = title | _stems(memory.brief.body[:1000])
    best: Evidence | None = None
    most = 0
    for one in memory.evidence:
        text = _document_stems(one)
        shares = len(title & text)
        enough = shares >= max(1, SHARE * len(title)) and (
            len(asked & text) >= FEWEST or 2 <= shares == len(title)
        )
        if enough and len(asked & text) > most:
            best, most = one, len(asked & text)
    if best is None:
        return None
    wanted = [stems for one in question if (stems := _stems(one))]
    text = _document_stems(best)
    answers = all(len(one & text) >= min(FEWEST, SHARE * len(one)) for one in wanted)
    return Known(
        citation=best.citation,
        sentence=_nearest(best.text, asked),
        answers=bool(wanted) and answers,
    )


def _nearest(text: str, asked: set[str]) -> str:
    parts = [one for one in sentences(text) if len(one) <= QUOTE_CHARS and _stems(one)]
    return max(parts, key=lambda one: len(asked & _stems(one)), default="")


def _document_stems(one: Evidence) -> set[str]:
    """Return the stems of a part of a document, none of anything else."""
    cited = citations.parse(one.citation)
    if cited is None or cited.kind is not Kind.DOC:
        return set()
    return _stems(f"{one.text} {' '.join(cited.headings)}")


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in content_words(text)}
