"""The prompt that asks for the message of the end, sentence by sentence with its source."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

from cairn.investigations import citations
from cairn.investigations.planning.prompts import WHO
from cairn.kernel.text.elements import one_line
from cairn.llm.structured import AnswerShape

MAX_SENTENCES: Final = 20

SYSTEM: Final = (
    WHO
    + """
Write what is sent at the end, in the ticket's language, polite and short. You are told which:
an answer goes to who sent the ticket: what was wrong, what was done, what happens next, what they
have to do;
a hand-off note goes to the colleague who takes over and is never shown to who sent the ticket: what
is asked for, what was seen, what was done or refused, what is left to do or to decide. It speaks of
the requester, not to them, and has no greeting.
Promise nothing that was not done. Say of a step that was denied, rejected, failed or simulated only
that it was not taken.

Answer with one JSON object and nothing else:
sentences: in order, each with
  text: one sentence, without any citation in it
  citation: the one source that says so, exactly as shown; "" for greetings, questions, requests and
    for what has no source

Example of an answer: the account was locked [tool:0198-a], unlock_user was applied [tool:0198-b].
Example answer: {"sentences": [{"text": "Hello,", "citation": ""}, {"text": "your account was \
locked after 7 failed sign-ins.", "citation": "[tool:0198-a]"}, {"text": "We have unlocked it.", \
"citation": "[tool:0198-b]"}, {"text": "Can you sign in again?", "citation": ""}]}"""
)

ASKED: Final = "The verdict is {verdict}: {reason}\nWrite {what}, in the language {language}."
ANSWER: Final = "an answer to who sent the ticket"
NOTE: Final = "a hand-off note to the colleague who takes over"
AGAIN: Final = (
    "These sentences name no source that was shown:\n{claims}\n"
    "Write it again. Give each its source, or leave it out."
)


class Sentence(AnswerShape):
    """One sentence, and the citation a model claims for it."""

    text: str
    citation: str


def _few(sentences: list[Sentence]) -> list[Sentence]:
    if not any(one_line(sentence.text) for sentence in sentences) or len(sentences) > MAX_SENTENCES:
        raise ValueError(f"not between 1 and {MAX_SENTENCES} sentences")
    return sentences


class Letter(AnswerShape):
    """The message, sentence by sentence."""

    sentences: Annotated[list[Sentence], AfterValidator(_few)]

    def written(self) -> str:
        """Return the message: each sentence followed by its citations; what is none is left out."""
        lines = [
            " ".join(
                [one_line(sentence.text), *map(str, citations.citations(sentence.citation))]
            ).strip()
            for sentence in self.sentences
        ]
        return " ".join(filter(None, lines))
