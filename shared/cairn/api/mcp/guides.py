"""The shipped guides: found by name, or by the words of a question. Not a search of the memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cairn.kernel.errors import NotFound

GUIDES = Path(__file__).with_name("guide_texts")
"""docs/use of the repository."""

MOST_SECTIONS = 3
MAX_CHARS = 16_000
_HEADING = re.compile(r"^#{1,3} +(.+)$", re.MULTILINE)
_WORD = re.compile(r"[a-z0-9_]{3,}")
_COMMON = frozenset({"the", "and", "how", "what", "does", "with", "for", "are", "can", "you"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading of a guide with what stands under it."""

    guide: str
    heading: str
    text: str


def names() -> tuple[str, ...]:
    """Return the names of the guides."""
    return tuple(sorted(path.stem for path in GUIDES.glob("*.md")))


def guide(name: str) -> str:
    """Return a guide; NotFound names those that there are."""
    if name not in names():
        raise NotFound(f"There is no such guide; these are: {', '.join(names())}.", name=name)
    return (GUIDES / f"{name}.md").read_text(encoding="utf-8")


def found(words: str) -> tuple[Section, ...]:
    """Return the sections that have most of the words, those in headings counted twice."""
    asked_words = set(_WORD.findall(words.casefold())) - _COMMON

    def score(section: Section) -> tuple[int, int]:
        heading = f"{section.guide} {section.heading}".casefold()
        text = section.text.casefold()
        inside = sum((word in text) + 2 * (word in heading) for word in asked_words)
        return inside, -len(text)

    ranked = sorted(sections(), key=score, reverse=True)
    return tuple(section for section in ranked if score(section)[0] > 0)[:MOST_SECTIONS]


@cache
def sections() -> tuple[Section, ...]:
    """Return every section of every guide."""
    return tuple(
        Section(guide=name, heading=heading.strip(), text=text.strip())
        for name in names()
        for heading, text in _parts(guide(name))
    )


def _parts(text: str) -> list[tuple[str, str]]:
    parts = _HEADING.split(text)
    return list(zip(parts[1::2], parts[2::2], strict=True))
