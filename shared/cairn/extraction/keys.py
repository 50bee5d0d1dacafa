"""What a statement is about, as a key: a later statement of the same key stands in its place.

A key is given only where a second statement cannot hold beside the first: a home, a time, a taste.
What may be true together has none.
"""

import re

from cairn.extraction.english import EMPTY
from cairn.extraction.statements import TIME, StatementKind, expanded

PREFIX = "said:"
"""Before the keys of what was drawn, which never meet keys that somebody gave."""

_SUBJECT = re.compile(r"^(?:both )?(?:i|we)\s+")
_SLOTS = tuple(
    (re.compile(form), keys)
    for form, keys in (
        (r"(?:do not |no longer |now )*(?:am )?(?:live|living|based|settled) (?:in|near|at)\b", ("home",)),
        (r"(?:have )?(?:just |recently |finally )*moved? (?:\w+ ){0,3}(?:to|into)\b", ("host", "home", "moved")),
        (r"(?:have )?(?:just |recently |finally )*(?:migrated?|switch(?:ed)?) (?:\w+ ){0,3}(?:to|over to)\b",
         ("host", "moved")),
        (r"(?:host|hosted|deploy|deployed|run) (?:\w+ ){0,3}(?:on|to|with)\b", ("host",)),
        (r"(?:no longer )?(?:work|working|am working|am employed) (?:at|for)\b", ("employer",)),
        (r"(?:am |eat )?(?:not |no longer )?(?:a )?(?:\w+ )?(?:vegetarian|vegan|pescatarian)\b", ("diet",)),
        (r"eat (?:meat|fish|everything) (?:again|now)\b", ("diet",)),
        (r"(?:am )?(?:not |no longer )?(?:single|married|divorced|engaged|widowed)\b", ("marital status",)),
        (r"(?:am )?\d{1,3}(?: years old)?$", ("age",)),
    )
)  # fmt: skip
_ATTRIBUTE = re.compile(
    r"^(?:my|our) (?P<subject>(?:[\w'-]+ ){0,4}?(?:favou?rite [\w'-]+(?: [\w'-]+)?|name|address|birthday"
    r"|phone number|number|email|job|deadline|budget|plan|role|title|salary|size|height|weight"
    r"|time ?zone|nationality|employer|hometown|diet|host|password|goal)) (?:is|are|was|will|has)\b"
)
_TIMED = re.compile(
    r"^(?:my|our|the|this|that) (?P<subject>[\w' -]{2,50}?) (?:is|are|was|were|will|starts?|begins?"
    r"|ends?|leaves?|meets?|runs?|arrives?|closes|opens)\b"
)
_TASTE = re.compile(
    r"^(?:i|we) (?:\w+ ){0,2}?(?:do not |can not |no longer )?(?:\w+ )?(?:like|love|hate|enjoy|adore"
    r"|dislike|detest|loathe|despise|stand|liked|loved|hated)\s+(?P<what>.+)$"
)
_WORD = re.compile(r"[\w'-]*\w")
_ANY_MORE = re.compile(r"\b(?:any ?more|now|these days|again|so much|a lot|very much)\b")
MAX_WORDS = 5


def keys_of(kind: StatementKind, said: str) -> tuple[str, ...]:
    """Return what a clause may be known by, best first; the last when nothing is known yet."""
    low = expanded(said)
    if kind is StatementKind.RELATION:
        return (f"who {_words(said.partition(' is ')[0])}",)
    if "used to" in low:
        return ()
    timed = bool(TIME.search(low))
    if kind is StatementKind.PLAN or timed:
        return _of_time(low) if timed else ()
    if taste := _TASTE.match(low):
        what = _words(_ANY_MORE.sub("", taste["what"]))
        return (f"taste {what}",) if what else ()
    if attribute := _ATTRIBUTE.match(low):
        return (f"my {attribute['subject']}",)
    subject = _SUBJECT.match(low)
    slot = subject and next((keys for form, keys in _SLOTS if form.match(low[subject.end() :])), None)
    return slot or ()


def _of_time(low: str) -> tuple[str, ...]:
    """Return what happens then: a thing that is at a time is known by itself."""
    if thing := _TIMED.match(low):
        return (f"when {thing['subject']}",)
    what = _words(TIME.sub("", low))
    return (f"when {what}",) if what else ()


def _words(text: str) -> str:
    kept = [word for word in _WORD.findall(text.lower()) if word not in EMPTY]
    return " ".join(kept[:MAX_WORDS])
