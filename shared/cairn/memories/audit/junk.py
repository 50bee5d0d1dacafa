"""Says by rules why a text is not worth remembering. Pure; closed lists, no model, English.

Deliberately narrow: what is short and names something is not junk. Not the screening of attacks.
"""

from __future__ import annotations

import re
from enum import StrEnum

from cairn.kernel.text.words import words


class Junk(StrEnum):
    """Why a text is junk."""

    EMPTY = "empty"  # no letter and no digit
    TALK = "talk"  # greetings, thanks and agreement, nothing else
    PLACEHOLDER = "placeholder"  # test, lorem ipsum, null
    ASSISTANT = "assistant"  # what models say of themselves, or offer
    PROMPT = "prompt"  # the instructions of a model, restated
    HEARTBEAT = "heartbeat"  # that a job ran and had nothing to say


LONGEST_TALK = 8
"""Words; a longer text says something, whatever it greets with."""

_TALK_WORDS = """
    hi hello hey yo good morning afternoon evening night bye goodbye thanks thank you thx ty please
    ok okay k yes no yep nope yeah sure fine great nice cool perfect awesome got it understood noted
    welcome sorry lol haha hmm um uh right exactly absolutely definitely done so much very a lot
    sounds all the again everyone there will do
"""
_TALK = frozenset(_TALK_WORDS.split())
_PLACEHOLDERS = frozenset(
    {"test", "testing", "test test", "foo", "bar", "foo bar", "asdf", "todo", "tbd", "n a", "na",
     "none", "null", "undefined", "nan", "placeholder", "example", "hello world", "no memory",
     "no memories", "no facts", "nothing", "empty", "unknown"}
)  # fmt: skip
_PATTERNS = (
    (Junk.PLACEHOLDER, r"\blorem ipsum\b"),
    (
        Junk.ASSISTANT,
        r"\bas an? (?:ai|artificial intelligence)(?: language)? (?:model|assistant)\b"
        r"|\bas a (?:large )?language model\b"
        r"|\bhow (?:can|may) i (?:help|assist) you\b"
        r"|\b(?:is there )?anything else (?:i can|you(?:'d| would) like)\b"
        r"|\bi(?:'m| am) (?:here|happy|glad) to (?:help|assist)\b"
        r"|\bi (?:do not|don't) have (?:any )?(?:memory|access) of (?:previous|past)\b",
    ),
    (
        Junk.PROMPT,
        r"^(?:system: ?)?you are (?:a|an) (?:helpful|ai|expert|friendly)\b"
        r"|\byour (?:system prompt|instructions) (?:is|are)\b"
        r"|\bfollow these instructions\b.*\b(?:assistant|user)\b",
    ),
    (
        Junk.HEARTBEAT,
        r"\bheartbeat[_ ]ok\b|^heartbeat\b|\bno[_ ]reply\b|\bnothing (?:new )?to report\b"
        r"|^(?:cron|scheduled) (?:job|task) (?:ran|completed|finished)(?: successfully)?\.?$",
    ),
)
_COMPILED = tuple((why, re.compile(pattern, re.IGNORECASE)) for why, pattern in _PATTERNS)
LONGEST_PATTERN_TEXT = 600
"""Characters; boilerplate inside a longer text is a part of it, not all."""


def junk_of(text: str) -> Junk | None:
    """Return why a text is junk, None when it is not."""
    said = words(text)
    if not said:
        return Junk.EMPTY
    if " ".join(said) in _PLACEHOLDERS:
        return Junk.PLACEHOLDER
    if len(said) <= LONGEST_TALK and _TALK.issuperset(said):
        return Junk.TALK
    if len(text) <= LONGEST_PATTERN_TEXT:
        for why, pattern in _COMPILED:
            if pattern.search(text.strip()):
                return why
    return None
