"""Sources that can be listed whole, by path: what is chosen of them, and their pages."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from dulwich.ignore import IgnoreFilter

from cairn.documents.media import media_type_of
from cairn.kernel.errors import TooLarge
from cairn.sources.reader import MAX_KEY_CHARS, Item, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

A_PAGE = 50
MOST_PATHS = 200_000
"""Paths that are looked at of one source; whatever makes more is no folder of documents."""


class Choice(Protocol):
    """What of a source is wanted."""

    @property
    def include(self) -> tuple[str, ...]: ...
    @property
    def exclude(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Chooser:
    """Chooses paths: as .gitignore matches, its folders too."""

    choice: Choice
    _filters: dict[str, IgnoreFilter] = field(default_factory=dict[str, IgnoreFilter])

    def __call__(self, path: str) -> bool:
        """Return whether it is included, and not excluded; hidden paths have to be included."""
        parts = path.split("/")
        if self.choice.include:
            chooses = self._matches("include", parts)
        else:
            chooses = not any(part.startswith(".") for part in parts)
        return chooses and not self._matches("exclude", parts)

    def _matches(self, name: str, parts: Sequence[str]) -> bool:
        patterns: tuple[str, ...] = getattr(self.choice, name)
        if name not in self._filters:
            self._filters[name] = IgnoreFilter([each.encode() for each in patterns])
        places = ["/".join(parts[:at]) + "/" for at in range(1, len(parts))]
        return any(self._filters[name].is_ignored(each) for each in [*places, "/".join(parts)])


def fault_of(path: str) -> str | None:
    """Return why a path cannot be the name of a document; None when it can."""
    parts = path.split("/")
    if len(path) > MAX_KEY_CHARS:
        return "name-too-long"
    if any(part in {"", ".", ".."} for part in parts) or "\\" in path:
        return "unreadable-name"
    if any(unicodedata.category(letter) in {"Cc", "Cs", "Cf"} for letter in path):
        return "unreadable-name"
    return None


def is_read(path: str) -> bool:
    """Say whether documents of this name are read at all."""
    return media_type_of(path) is not None


@dataclass
class Listing:
    """The items of a source, by path; its pages end where the last of them does."""

    items: list[Item] = field(default_factory=list[Item])

    @classmethod
    def of(cls, items: Iterable[Item]) -> Listing:
        """Return them in order; TooLarge when there is no end of them."""
        listed: list[Item] = []
        for item in items:
            listed.append(item)
            if len(listed) > MOST_PATHS:
                raise TooLarge(
                    f"The source has more than {MOST_PATHS} paths.", reason="too-many-paths"
                )
        return cls(sorted(listed, key=lambda item: item.key))

    def page(self, cursor: str | None) -> Page:
        """Return the items after a cursor."""
        keys = [item.key for item in self.items]
        start = bisect_right(keys, cursor) if cursor is not None else 0
        items = tuple(self.items[start : start + A_PAGE])
        more = start + A_PAGE < len(self.items)
        return Page(items=items, cursor=items[-1].key if more else None)
