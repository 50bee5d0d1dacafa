"""The message by rules: to the requester, or a hand-off note to who goes on. Pure.

What was seen, what was done, who goes on. Each sentence that says something ends with the citation
of the sign it speaks of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.agent import citations
from cairn.agent.planning import wording
from cairn.agent.planning.playbooks.playbook import Sign
from cairn.agent.planning.wording import said
from cairn.agent.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.agent.planning.playbooks.playbook import Ending, Text
    from cairn.agent.planning.signs import Seen, View
    from cairn.agent.ports import Question, Ruling


def letter(question: Question, ruling: Ruling, seen: View, ending: Ending | None) -> str:
    """Return the message; `ending` None says only what was seen and who goes on."""
    language = question.memory.brief.language
    known = citations.sources(question.memory)
    here = citations.ticket(question.memory.brief.ticket_id)
    answers = ruling.verdict.answers
    told = list(_told(seen, language, answers=answers))
    closing = list(_closing(ruling, ending, language, here))
    opening = said(wording.GREETING if answers else wording.HAND_OFF, language)
    text = "\n\n".join(filter(None, [opening, " ".join(told), " ".join(closing)]))
    return citations.disclaimed(text, known, language=language)


def _told(seen: View, language: str, *, answers: bool) -> Iterator[str]:
    """Yield a sentence for each sign that has one, those of the playbook first."""
    book = seen.reading.book
    tells, hidden = book.tells, book.private if Sign.FOREIGN in seen.signs else frozenset[Sign]()
    notes: Mapping[Sign, Text] = {} if answers else wording.NOTES
    for sign, text in {**tells, **wording.TELLS, **notes}.items():
        if sign in seen.signs and sign not in hidden:
            yield _sentence(text, seen.signs[sign], language)
    if Sign.KNOWN in seen.signs:
        yield _known(seen, language)


def _known(seen: View, language: str) -> str:
    """Return the documentation's own words for a question, a pointer to it for a problem."""
    found = seen.signs[Sign.KNOWN]
    if Sign.ANSWERED not in seen.signs or not seen.quote:
        return _sentence(wording.KNOWN, found, language)
    quote = " ".join(seen.quote.translate(_NO_BRACKETS).split()).rstrip(".")
    text = said(wording.QUOTED, language).replace("{quote}", quote)
    return f"{text} {found.citation}."


def _closing(ruling: Ruling, ending: Ending | None, language: str, here: str) -> Iterator[str]:
    if ending and ending.says:
        yield f"{said(ending.says, language)} {here}."
    if ruling.verdict is not Verdict.AUTO_RESOLVED:
        text = wording.CLOSINGS.get(ruling.verdict, wording.GOES_ON)
        yield f"{said(text, language)} {here}."
    if ending and ending.asks:
        yield said(ending.asks, language)


def _sentence(text: Text, found: Seen, language: str) -> str:
    sentence = said(text, language)
    for name, value in found.values.items():
        sentence = sentence.replace(f"{{{name}}}", value.translate(_NO_BRACKETS))
    return f"{sentence} {found.citation}."


_NO_BRACKETS = {ord("["): "(", ord("]"): ")"}
"""What is quoted brings no citations of its own."""
