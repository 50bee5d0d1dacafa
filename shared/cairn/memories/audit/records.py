"""What an audit of memories reads and finds, and which texts are junk. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.kernel.text.words import words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


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
    tokens = words(text)
    if not tokens:
        return Junk.EMPTY
    if " ".join(tokens) in _PLACEHOLDERS:
        return Junk.PLACEHOLDER
    if len(tokens) <= LONGEST_TALK and _TALK.issuperset(tokens):
        return Junk.TALK
    if len(text) <= LONGEST_PATTERN_TEXT:
        for why, pattern in _COMPILED:
            if pattern.search(text.strip()):
                return why
    return None


class Problem(StrEnum):
    """What can be wrong with memories."""

    NEAR_DUPLICATE = "near_duplicate"  # says what an older one of the same readers says
    CONTRADICTION = "contradiction"  # two of the same readers cannot both hold
    BOILERPLATE = "boilerplate"  # junk, or a sentence that many memories restate
    SECRET = "secret"  # a credential that slipped through
    LOOP = "re_ingestion_loop"  # what was recalled went in again
    ORPHAN = "orphan"  # lost what it belongs to
    UNREADABLE = "unreadable"  # a record of the export that is no memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One memory of whatever store. Only records of one `audience` are compared.

    `audience` says who may see it and whose it is; `source` who said it; `chain` by what it
    replaces others (a key or a subject), when it does.
    """

    id: str
    text: str
    audience: str = ""
    kind: str = "fact"
    source: str | None = None
    recorded_at: datetime | None = None
    active: bool = True
    chain: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One example: which records, why, and their texts, shortened and without credentials."""

    records: tuple[str, ...]
    why: str
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemCount:
    """How many records have a problem, their share of all looked at, and some examples."""

    count: int
    share: float
    examples: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found. `left_out` records came after the limit and were not compared.

    `scanned` texts beside the records were looked through for credentials only.
    `compared_by` says how near-duplicates were confirmed: the embedding model, or words.
    """

    records: int
    scanned: int
    left_out: int
    compared_by: str
    problems: Mapping[str, ProblemCount]

    def above(self, percent: float) -> list[str]:
        """Return the problems that more than so many percent of the records have."""
        return [name for name, problem in self.problems.items() if 100 * problem.share > percent]
