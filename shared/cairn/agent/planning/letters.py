"""The message to the requester by rules: what was seen, what was done, what comes next. Pure.

Each sentence that says something ends with the citation of the sign it speaks of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.agent import citations
from cairn.agent.planning import wording
from cairn.agent.planning.playbooks.playbook import Sign
from cairn.agent.planning.wording import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.agent.planning.playbooks.playbook import Ending, Text
    from cairn.agent.planning.signs import Seen, View
    from cairn.agent.ports import Question, Ruling

OUTCOMES = (Sign.REFUSED, Sign.SIMULATED, Sign.FAILED, Sign.UNKNOWN)


def letter(question: Question, ruling: Ruling, seen: View, ending: Ending | None) -> str:
    """Return the message; `ending` None says only what was seen and who goes on."""
    language = question.memory.brief.language
    known = citations.sources(question.memory)
    here = citations.ticket(question.memory.brief.ticket_id)
    told = list(_told(seen, language))
    closing = list(_closing(ruling, ending, language, here))
    parts = [said(wording.GREETING, language), " ".join(told), " ".join(closing)]
    text = "\n\n".join(filter(None, parts))
    return citations.disclaimed(text, known, language=language)


def _told(seen: View, language: str) -> Iterator[str]:
    """Yield a sentence for each sign that has one, those of the playbook first."""
    book = seen.reading.book
    tells, hidden = book.tells, book.private if Sign.FOREIGN in seen.signs else frozenset[Sign]()
    for sign, text in tells.items():
        if sign in seen.signs and sign not in hidden:
            yield _sentence(text, seen.signs[sign], language)
    for sign in (Sign.NO_ACCOUNT, *OUTCOMES):
        if sign in seen.signs and sign not in tells and sign not in hidden:
            yield _sentence(wording.TELLS[sign], seen.signs[sign], language)
    if Sign.KNOWN in seen.signs:
        yield _known(seen, language)


def _known(seen: View, language: str) -> str:
    """Return the documentation's own words for a question, a pointer to it for a problem."""
    found = seen.signs[Sign.KNOWN]
    if Sign.ASKS_HOW not in seen.signs or not seen.quote:
        return _sentence(wording.TELLS[Sign.KNOWN], found, language)
    quote = " ".join(seen.quote.translate(_NO_BRACKETS).split()).rstrip(".")
    text = said(wording.QUOTED, language).replace("{quote}", quote)
    return f"{text} {found.citation}."


def _closing(ruling: Ruling, ending: Ending | None, language: str, here: str) -> Iterator[str]:
    if ending and ending.says:
        yield f"{said(ending.says, language)} {here}."
    if ruling.verdict in wording.CLOSINGS:
        yield f"{said(wording.CLOSINGS[ruling.verdict], language)} {here}."
    if ending and ending.asks:
        yield said(ending.asks, language)


def _sentence(text: Text, found: Seen, language: str) -> str:
    sentence = said(text, language)
    for name, value in found.values.items():
        sentence = sentence.replace(f"{{{name}}}", value.translate(_NO_BRACKETS))
    return f"{sentence} {found.citation}."


_NO_BRACKETS = {ord("["): "(", ord("]"): ")"}
"""What is quoted brings no citations of its own."""
