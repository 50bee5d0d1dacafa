"""What a member says of themselves: identity, narrative, attributes, premises. Pure, by rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from cairn.discovery.intents.statements import Side, read
from cairn.extraction.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_TEXT_CHARS = 4_000
MOST_NAME_CHARS = 200
MOST_BIO_CHARS = 1_000
MOST_ATTRIBUTES = 50
MOST_ATTRIBUTE_CHARS = 100
MOST_PREMISES = 200
MOST_PREMISE_CHARS = 500

_CONFIRMED = re.compile(
    r"^\W*(?:(?:yes|yeah|yep|yup|ok|okay|sure|fine|right|correct|exactly|perfect|great|good|done|agreed"
    r"|please|thanks|thank you|go ahead|go on|go for it|do it|do that|do so|sounds good|looks good"
    r"|looks right"
    r"|that's (?:right|fine|me|it|correct)|that is (?:right|fine|me|correct)|of course|absolutely"
    r"|confirm(?:ed)?|proceed|continue|create it|make it|save it|my profile|it)[\s,.!]*)+$",
    re.I,
)
_LISTS = {
    "skills": re.compile(
        r"\b(?:skills?|skilled in|expertise|good at|experienced in|experience with|specialis\w+ in"
        r"|specializ\w+ in)\s*(?:include|are|:|-)?\s*:?\s*([^.\n]+)",
        re.I,
    ),
    "interests": re.compile(
        r"\b(?:interests?|interested in|hobbies|passionate about|i (?:love|like|enjoy))"
        r"\s*(?:include|are|:|-)?\s*:?\s*([^.\n]+)",
        re.I,
    ),
}
_PLACE = re.compile(
    r"\b(?i:lives?|living|live|based|located|resid\w+|at home) (?:in|at|near|outside)\s+"
    r"((?:(?:the|of|de|la|le|am|an der|upon)\s+)*[A-Z][\w'\u2019-]*"
    r"(?:(?:\s|,\s)(?:de |la |of |upon )?[A-Z][\w'\u2019-]*)*)"
    r"|\b(?i:location)\s*:\s*([^.\n;]+)",
)
_NAME = re.compile(
    r"\b(?i:my name is|i am called|name\s*:)\s+([A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*){0,3})"
)
_SPLIT = re.compile(r"\s*(?:,|;|\band\b|&)\s*")
_AND = re.compile(r",?\s+and\s+(?=(?:i|my|we)\b)|;\s+", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileText:
    """A profile: who one is, one's story, what one can do and cares for."""

    name: str = ""
    bio: str = ""
    location: str = ""
    context: str = ""
    skills: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it as it is shown, searched and embedded."""
        lists = [
            f"{label}: {', '.join(items)}."
            for label, items in (("Skills", self.skills), ("Interests", self.interests))
            if items
        ]
        lines = [self.name, self.bio, self.location, self.context]
        return " ".join([*(_stopped(line) for line in lines if line.strip()), *lists])

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the parts that nothing is said of."""
        return tuple(each.name for each in fields(self) if not getattr(self, each.name))

    def told(self) -> dict[str, Any]:
        """Return it as metadata keep it."""
        return {
            "name": self.name,
            "bio": self.bio,
            "location": self.location,
            "context": self.context,
            "skills": list(self.skills),
            "interests": list(self.interests),
        }


def profile_of(metadata: Mapping[str, Any]) -> ProfileText:
    """Return the profile that metadata keep."""
    return ProfileText(
        **{name: str(metadata.get(name) or "") for name in ("name", "bio", "location", "context")},
        skills=tuple(metadata.get("skills") or ()),
        interests=tuple(metadata.get("interests") or ()),
    )


def is_confirmation(text: str) -> bool:
    """Return whether a text only says yes: it says nothing of who says it."""
    return len(text) < 100 and _CONFIRMED.match(text) is not None


def profile_from(text: str) -> ProfileText:
    """Return what a text says of its writer."""
    lists = {name: _listed(pattern, text) for name, pattern in _LISTS.items()}
    place, name = _PLACE.search(text), _NAME.search(text)
    stated = [each for each in self_descriptions(text) if not _is_label(each)]
    return ProfileText(
        name=name[1] if name else "",
        bio=stated[0][:MOST_BIO_CHARS] if stated else "",
        location=(place[1] or place[2]).strip() if place else "",
        context=" ".join(stated[1:])[: MOST_TEXT_CHARS - MOST_BIO_CHARS],
        skills=lists["skills"],
        interests=lists["interests"],
    )


def merged(before: ProfileText, new: ProfileText) -> ProfileText:
    """Return a profile with what is new: lists grow, a text that is said takes another's place."""
    return replace(
        before,
        **{
            name: getattr(new, name) or getattr(before, name)
            for name in ("name", "bio", "location")
        },
        context=_joined(before.context, new.context),
        skills=_union(before.skills, new.skills),
        interests=_union(before.interests, new.interests),
    )


def filled(before: ProfileText, new: ProfileText) -> ProfileText:
    """Return a profile whose missing parts are taken from another; the others stay."""
    return replace(before, **{name: getattr(new, name) for name in before.missing})


def without(profile: ProfileText, text: str) -> ProfileText:
    """Return a profile that no longer says a text of its narrative."""
    parts = {name: getattr(profile, name).replace(text, " ") for name in ("bio", "context")}
    return replace(profile, **{name: " ".join(part.split()) for name, part in parts.items()})


def self_descriptions(text: str) -> tuple[str, ...]:
    """Return the sentences of a text that describe, each by itself, nothing sought."""
    results: list[str] = []
    for line in text.splitlines():
        for sentence in sentences(line):
            if sentence.rstrip().endswith("?") or _seeks(sentence):
                continue
            results.append(sentence.strip())
    return tuple(dict.fromkeys(each for each in results if len(each) > 2))


def _seeks(sentence: str) -> bool:
    return any(each.is_intent and each.side is not Side.OFFERING for each in read(sentence))


def premises_of(text: str) -> tuple[str, ...]:
    """Return the atomic premises of a self-description: one statement each."""
    parts = [
        part.strip(" ,;")[:MOST_PREMISE_CHARS]
        for sentence in self_descriptions(text)
        for part in _AND.split(sentence)
    ]
    return tuple(dict.fromkeys(part for part in parts if len(part) > 2))


def _is_label(sentence: str) -> bool:
    """Return whether a sentence only names an attribute that stands in a field of its own."""
    starts = [pattern.match(sentence) for pattern in _LISTS.values()]
    return any(starts) or re.match(r"(?i)\s*(?:name|location)\s*:", sentence) is not None


def _listed(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    items = [
        item.strip(" .:-")[:MOST_ATTRIBUTE_CHARS]
        for match in pattern.finditer(text)
        for item in _SPLIT.split(match[1])
    ]
    return _union((), tuple(item for item in items if len(item) > 1))[:MOST_ATTRIBUTES]


def _union(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    by_key = {item.casefold(): item for item in (*second, *first)}
    order = dict.fromkeys(item.casefold() for item in (*first, *second))
    return tuple(by_key[key] for key in order)[:MOST_ATTRIBUTES]


def _joined(before: str, new: str) -> str:
    if not new or new in before:
        return before
    return f"{_stopped(before)} {new}".strip()[-MOST_TEXT_CHARS:]


def _stopped(line: str) -> str:
    text = line.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."
