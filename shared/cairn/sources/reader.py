"""The port of sources: how the items of one are listed and read. Not what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, TypeAlias
from uuid import UUID

from cairn.sources.source import Content, KnowledgeKind

MAX_KEY_CHARS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that a source holds, by the name it has there.

    `mark` differs when the item has changed. `load` reads it; None: it is as it was. What cannot be
    taken says why in `refused`, what is of no kind that is read is `skipped`; `gone` is no more.
    """

    key: str
    mark: str = ""
    size: int = 0
    load: Callable[[], Content] | None = None
    refused: str | None = None
    skipped: bool = False
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some items, and where the next ones begin; without a cursor these were the last.

    Pages of a run that lists only what has changed are `partial`, the first without items: what
    they do not list is as it was.
    """

    items: tuple[Item, ...]
    cursor: str | None = None
    partial: bool = False


Marks: TypeAlias = Callable[[list[str] | None], Mapping[str, str]]
"""Returns the marks that items had when they were read last; unknown ones are left out. None: all.
"""


class Reader(Protocol):
    """Reads one source. Listing again from a cursor lists the same items or newer ones.

    Raises ValidationFailed for what will never be read (an address in this network, a repository
    above its limit), Denied for a refused sign-in, Unavailable when nobody answers in time.
    """

    def version(self) -> str | None:
        """Return what differs when anything does; None where that cannot be told at once."""
        ...

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the items after a cursor; the first ones without it."""
        ...

    def close(self) -> None:
        """Let go of what reading needed: temporary files, connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one source of a workspace may hold: items, and bytes of them together.

    `whole` when the last run came to its end, with the settings of now; `since` is its version.
    `began` is when this run did.
    """

    items: int
    bytes: int
    whole: bool = False
    began: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    since: str | None = None
    workspace_id: UUID = field(default_factory=partial(UUID, int=0))


OpenReader: TypeAlias = Callable[
    [KnowledgeKind, Mapping[str, Any], Mapping[str, str], Limits], Reader
]
"""(kind, config, secrets, limits) -> what reads it; nothing connects yet."""

CheckConfig: TypeAlias = Callable[[KnowledgeKind, Mapping[str, Any], Mapping[str, str]], None]
"""Raises ValidationFailed for settings that no reader could use; nothing connects."""
