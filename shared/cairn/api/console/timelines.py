"""Open timelines: one look finds what is new in all that a workspace's people have open.

A page that waits costs no thread and no connection of the database; what is new is read and written
once, however many watch it. Not what is written: `investigations.py`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import anyio
from anyio import to_thread

from cairn.api.streams import HEARTBEAT
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
    from uuid import UUID

    from cairn.api.options import Pace
    from cairn.investigations.ports import Progress

MOST_PARTS = 200
"""Fragments of pages that are kept of a workspace, for others who watch the same."""

Look: TypeAlias = "Callable[[Sequence[UUID]], Mapping[UUID, Progress]]"
"""Returns how far each of some investigations is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is new of a timeline, as a piece of a page, and the last line in it."""

    html: bytes
    last: int


Write: TypeAlias = "Callable[[int], Part]"
"""Returns what is new after a line; it may be that there is more after it."""


@dataclass(slots=True)
class _Workspace:
    watched: Counter[UUID] = field(default_factory=Counter["UUID"])
    latest: Mapping[UUID, Progress] = field(default_factory=dict["UUID", "Progress"])
    looked_at: float = float("-inf")
    looking: anyio.Lock = field(default_factory=anyio.Lock)
    writing: anyio.Lock = field(default_factory=anyio.Lock)
    parts: OrderedDict[tuple[Progress, int], Part] = field(
        default_factory=OrderedDict["tuple[Progress, int]", "Part"]
    )


class Timelines:
    """What the timelines that are open in this process show next."""

    def __init__(self) -> None:
        self._workspaces: dict[UUID, _Workspace] = {}

    @contextmanager
    def watching(self, workspace_id: UUID, investigation_id: UUID) -> Generator[None]:
        """Count somebody who watches, as long as they do."""
        place = self._workspaces.setdefault(workspace_id, _Workspace())
        place.watched[investigation_id] += 1
        try:
            yield
        finally:
            place.watched[investigation_id] -= 1
            if not place.watched[investigation_id]:
                del place.watched[investigation_id]
            if not place.watched and self._workspaces.get(workspace_id) is place:
                del self._workspaces[workspace_id]

    async def progress(
        self,
        workspace_id: UUID,
        investigation_id: UUID,
        look: Look,
        *,
        every: float,
    ) -> Progress | None:
        """Return how far one is, as of `every` seconds ago at most; for all by the first's look.

        While the database does not answer it is where it was.
        """
        place = self._workspaces[workspace_id]
        async with place.looking:
            late = anyio.current_time() - place.looked_at >= every
            if late or investigation_id not in place.latest:
                with suppress(Unavailable):
                    place.latest = await to_thread.run_sync(look, tuple(place.watched))
                place.looked_at = anyio.current_time()
        return place.latest.get(investigation_id)

    async def part(self, workspace_id: UUID, progress: Progress, after: int, write: Write) -> Part:
        """Return what is new after a line, written by whoever of its readers comes first."""
        place = self._workspaces[workspace_id]
        async with place.writing:
            key = (progress, after)
            if key not in place.parts:
                place.parts[key] = await to_thread.run_sync(write, after)
                if len(place.parts) > MOST_PARTS:
                    place.parts.popitem(last=False)
            return place.parts[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Somebody who watches one: what they look with, and whether they still may."""

    workspace_id: UUID
    investigation_id: UUID
    look: Look
    write: Write
    admit: Callable[[], object]


async def followed(
    timelines: Timelines, reader: Reader, pace: Pace, after: int
) -> AsyncGenerator[bytes]:
    """Yield events with what is new after a line, until the investigation or the time is over."""
    began = beat = admitted = anyio.current_time()
    seen: Progress | None = None
    with timelines.watching(reader.workspace_id, reader.investigation_id):
        while (now := anyio.current_time()) - began < pace.longest:
            if now - admitted >= pace.admission:
                await to_thread.run_sync(reader.admit)
                admitted = now
            progress = await timelines.progress(
                reader.workspace_id, reader.investigation_id, reader.look, every=pace.look
            )
            if progress is not None and progress != seen:
                part = await timelines.part(reader.workspace_id, progress, after, reader.write)
                yield event("lines", part.html, id_=part.last)
                after, beat = part.last, now
                if after < progress.seq:
                    continue
                seen = progress
                if progress.ended_at is not None:
                    yield event("end", b"ended")
                    return
            elif now - beat >= pace.heartbeat:
                beat = now
                yield HEARTBEAT
            await anyio.sleep(pace.look)


def event(name: str, data: bytes, *, id_: int | None = None) -> bytes:
    """Return an event as it goes over the wire; each line of its data has the name of the field."""
    head = f"event: {name}\n" + (f"id: {id_}\n" if id_ is not None else "")
    lines = b"".join(b"data: " + line + b"\n" for line in data.splitlines())
    return head.encode() + lines + b"\n"
