"""The message by rules: to the requester, or a hand-off note to who goes on. Pure.

What was seen, what was done, who goes on. Each sentence that says something ends with the citation
of the sign it speaks of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.planning import wording
from cairn.investigations.planning.playbooks.general import ANSWER
from cairn.investigations.planning.playbooks.playbook import Sign
from cairn.investigations.planning.wording import phrase
from cairn.investigations.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cairn.investigations.planning.playbooks.playbook import Ending, Text
    from cairn.investigations.planning.signs import SignEvidence, View
    from cairn.investigations.ports import Question, Ruling
    from cairn.investigations.state import Observation, WorkingMemory


APPLIED = "applied"
UNDONE = frozenset({"denied", "rejected", "unknown"})


def mended(observation: Observation) -> bool:
    """Return whether an action really happened: applied, and not only simulated."""
    return observation.outcome == APPLIED and not observation.dry_run


def sober(ruling: Ruling, memory: WorkingMemory) -> Ruling:
    """Return the ruling, or needs_tech in its place when nothing supports that all is well.

    auto_resolved stands on knowledge that was found or on an action that was applied, and not
    beside an action whose outcome nobody knows, or whose last word was a refusal.
    """
    if ruling.verdict is not Verdict.AUTO_RESOLVED:
        return ruling
    acted = memory.observations
    if any(item.outcome == "unknown" for item in acted):
        return _tech(ruling, "The outcome of an action is not known.")
    if acted and acted[-1].outcome in UNDONE:
        return _tech(ruling, "The last action was refused.")
    if not memory.evidence and not any(mended(item) for item in acted):
        return _tech(ruling, "Nothing was found and nothing was done.")
    return ruling


def _tech(ruling: Ruling, reason: str) -> Ruling:
    return replace(ruling, verdict=Verdict.NEEDS_TECH, reason=reason)


MOST_QUOTED = 1_500
"""Characters of a ticket that a note quotes."""


def letter(question: Question, ruling: Ruling, seen: View, ending: Ending | None) -> str:
    """Return the message; `ending` None says only what was seen and who goes on."""
    language = question.memory.brief.language
    sources = citations.sources(question.memory)
    here = citations.ticket(question.memory.brief.ticket_id)
    answers = ruling.verdict.answers
    tokens = list(_sign_sentences(seen, language, answers=answers))
    if ending is ANSWER:
        source = seen.signs[Sign.ANSWERED].citation
        tokens = [_quoted(wording.QUOTED, seen.quote, source, language)]
    elif not answers:
        tokens += _for_colleagues(seen, language, here)
    closing = list(_closing(ruling, ending, language, here))
    opening = phrase(wording.GREETING if answers else wording.HAND_OFF, language)
    text = "\n\n".join(filter(None, [opening, " ".join(tokens), " ".join(closing)]))
    return citations.disclaimed(text, sources, language=language)


def _sign_sentences(seen: View, language: str, *, answers: bool) -> Iterator[str]:
    """Yield a sentence for each sign that has one, those of the playbook first."""
    book = seen.reading.book
    tells, hidden = book.tells, book.private if Sign.FOREIGN in seen.signs else frozenset[Sign]()
    notes: Mapping[Sign, Text] = {} if answers else wording.NOTES
    for sign, text in {**tells, **wording.TELLS, **notes}.items():
        if sign in seen.signs and sign not in hidden:
            yield _sentence(text, seen.signs[sign], language)


def _for_colleagues(seen: View, language: str, here: str) -> Iterator[str]:
    """Yield what was asked, in the ticket's own words, and what is near to it."""
    if words := _in_own_words(seen):
        yield _quoted(wording.ASKED, words, here, language)
    if Sign.KNOWN in seen.signs and seen.quote:
        yield _quoted(wording.NEAR, seen.quote, seen.signs[Sign.KNOWN].citation, language)


def _quoted(text: Text, quote: Sequence[str], citation: str, language: str) -> str:
    """Return whole sentences of others in quotation marks, each with its source."""
    whole = phrase(text, language)
    frame = whole[: whole.index("{quote}")].rpartition(":")[2].strip(), whole[-1:]
    first, *rest = (_plain(name) for name in quote)
    parts = [whole.replace("{quote}", first), *(_framed(item, frame) for item in rest)]
    return " ".join(f"{part} {citation}." for part in parts)


def _framed(text: str, frame: tuple[str, str]) -> str:
    return f"{frame[0]}{text}{frame[1]}"


def _plain(text: str) -> str:
    """Return a quoted sentence in one line, without citations of its own and its full stop."""
    return " ".join(text.translate(_NO_BRACKETS).split()).rstrip(".!")


def _in_own_words(seen: View) -> list[str]:
    """Return the ticket's sentences that a person has to read, as many as a note may have."""
    words: list[str] = []
    for word in seen.own_words:
        if any(map(str.isalnum, word)) and sum(map(len, words)) + len(word) <= MOST_QUOTED:
            words.append(word)
    return words or [word[:MOST_QUOTED] for word in seen.own_words[:1]]


def _closing(ruling: Ruling, ending: Ending | None, language: str, here: str) -> Iterator[str]:
    if ending and ending.says:
        yield f"{phrase(ending.says, language)} {here}."
    if ruling.verdict is not Verdict.AUTO_RESOLVED:
        text = wording.CLOSINGS.get(ruling.verdict, wording.GOES_ON)
        yield f"{phrase(text, language)} {here}."
    if ending and ending.asks:
        yield phrase(ending.asks, language)


def _sentence(text: Text, sign: SignEvidence, language: str) -> str:
    sentence = phrase(text, language)
    for name, value in sign.values.items():
        sentence = sentence.replace(f"{{{name}}}", value.translate(_NO_BRACKETS))
    return f"{sentence} {sign.citation}."


_NO_BRACKETS = {ord("["): "(", ord("]"): ")"}
"""What is quoted brings no citations of its own."""
