"""What a statement is about, as a key: a later statement of the same key stands in its place.

A key is given only where a second statement cannot hold beside the first: a home, a time, a taste.
What may be true together has none.
"""

import re

from cairn.extraction.english import EMPTY, PARTNERS, RELATIONS
from cairn.extraction.statements import TIME, StatementKind, expanded

PREFIX = "said:"
"""Before the keys of what was drawn, which never meet keys that somebody gave."""

_ADVERBS = r"(?:do not |no longer |now |have |just |recently |finally )*"
_STATE = r"(?:am )?(?:not |no longer )?"
_SUBJECT = re.compile(r"^(?:both )?(?:i|we)\s+")
_SLOTS = tuple(
    (re.compile(form), keys)
    for form, keys in (
        (rf"{_ADVERBS}(?:am )?(?:live|living|based|settled) (?:in|near|at)\b", ("home",)),
        (rf"{_ADVERBS}moved? (?:\w+ ){{0,3}}(?:to|into)\b", ("host", "home", "moved")),
        (
            rf"{_ADVERBS}(?:migrated?|switch(?:ed)?) (?:\w+ ){{0,3}}(?:over )?to\b",
            ("host", "moved"),
        ),
        (r"(?:host|hosted|deploy|deployed|run) (?:\w+ ){0,3}(?:on|to|with)\b", ("host",)),
        (rf"{_ADVERBS}{_STATE}(?:work|working|employed) (?:at|for)\b", ("employer",)),
        (
            rf"{_ADVERBS}(?:am starting|started?) (?:working (?:at|for)\b|(?:a |my )?(?:new )?job\b"
            r"|(?:at|with) (?!\d|an? |home\b|midnight\b|noon\b|school\b|the ))",
            ("employer",),
        ),
        (rf"{_STATE}(?:a )?(?:\w+ )?(?:vegetarian|vegan|pescatarian)\b", ("diet",)),
        (r"eat (?:meat|fish|everything) (?:again|now)\b", ("diet",)),
        (rf"{_STATE}(?:single|married|divorced|engaged|widowed)\b", ("marital status",)),
        (r"(?:am )?\d{1,3}(?: years old)?$", ("age",)),
    )
)
_ATTRIBUTE = re.compile(
    r"^(?:my|our) (?P<subject>(?:[\w'-]+ ){0,4}?(?:favou?rite [\w'-]+(?: [\w'-]+)?|name|address"
    r"|birthday|phone number|email|deadline|budget|title|salary|size|height|weight|time ?zone"
    r"|nationality|employer|hometown|diet|host)) (?:is|are|was|will be)\b"
)
_TIMED = re.compile(
    r"^(?:my|our|the|this|that) (?P<subject>[\w' -]{2,50}?) (?:is|are|will|starts?|begins?|ends?"
    r"|leaves?|meets?|runs?|arrives?|closes|opens)\b"
)
_TASTE = re.compile(
    r"^(?:i|we) (?:\w+ ){0,2}?(?:do not |can not |no longer )?(?:\w+ )?(?:like|love|hate|enjoy"
    r"|adore|dislike|detest|loathe|despise|stand|liked|loved|hated)\s+(?P<what>.+)$"
)
_WORD = re.compile(r"[\w'-]*\w")
_ANY_MORE = re.compile(r"\b(?:any ?more|now|these days|again|so much|a lot|very much)\b")
_BESIDE = re.compile(r"\b(?:used to|also|too|as well|another|second)\b")
MAX_WORDS = 5


def keys_of(kind: StatementKind, text: str) -> tuple[str, ...]:
    """Return what a clause may be known by, best first; the last when nothing is known yet."""
    low = expanded(text)
    if kind is StatementKind.RELATION:
        return (_of_relation(low),)
    if _BESIDE.search(low):
        return ()
    if TIME.search(low):
        return _of_time(low, planned=kind is StatementKind.PLAN)
    if kind is StatementKind.PLAN:
        return ()
    if taste := _TASTE.match(low):
        what = _words(_ANY_MORE.sub("", taste["what"]))
        return (f"taste {what}",) if what else ()
    if attribute := _ATTRIBUTE.match(low):
        return (f"my {attribute['subject']}",)
    return _of_slot(low)


def _of_relation(low: str) -> str:
    """Return who somebody is to the speaker: two people may have one name."""
    name, _, is_who = low.partition(" is ")
    relation = is_who.rpartition("'s ")[2]
    bond = "partner" if relation in PARTNERS else relation if relation in RELATIONS else ""
    return f"who {_words(name)} {bond}".rstrip()


def _of_slot(low: str) -> tuple[str, ...]:
    """Return what there is one of, such as a home; a clause that says two things has none."""
    subject = _SUBJECT.match(low)
    if subject is None or " and " in low:
        return ()
    predicate = low[subject.end() :]
    keys = next((keys for form, keys in _SLOTS if form.match(predicate)), ())
    alone = subject[0].startswith("i ")  # one person moves house, a team moves what it runs
    return tuple(key for key in keys if key != "host" or not alone or keys == ("host",))


def _of_time(low: str, *, planned: bool) -> tuple[str, ...]:
    """Return what is to happen then; a move some time ago is a move all the same.

    What happened may happen again, and has no key.
    """
    if thing := _TIMED.match(low):
        return (f"when {thing['subject']}",)
    if slot := _of_slot(low):
        return slot
    what = _words(TIME.sub("", low)) if planned else ""
    return (f"when {what}",) if what else ()


def _words(text: str) -> str:
    words = [word for word in _WORD.findall(text.lower()) if word not in EMPTY]
    return " ".join(words[:MAX_WORDS])
