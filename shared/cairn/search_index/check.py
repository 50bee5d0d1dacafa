"""Keep the search index true: compare it with the database, mend it, build it anew. Not searching.

Everything here can be repeated and interrupted: how far an index got is kept in the database.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.clock import Stopwatch
    from cairn.search_index.sync import (
        FollowDatabase,
        IndexSource,
        IndexState,
        LiveIndex,
        SearchIndex,
    )

SLICE = 5_000
"""Nodes indexed between two looks at the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How one workspace's part of an index differs from the database.

    `pending` nodes changed since the last update and are no drift: the next update takes them.
    `missing` and `stale` nodes should have been indexed; `extra` documents, by their positions,
    have no node behind them that is to be found.
    """

    workspace_id: UUID
    index_name: str
    expected: int
    indexed: int
    pending: int
    missing: tuple[UUID, ...] = ()
    stale: tuple[UUID, ...] = ()
    extra: Mapping[UUID, int] = field(default_factory=dict["UUID", int])

    @property
    def ok(self) -> bool:
        """Whether nothing differs, but for what is pending."""
        return not (self.missing or self.stale or self.extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair did: nodes that were pending, then documents put right and taken out.

    `ok` is False when something could not be put right that way; a rebuild does.
    """

    workspace_id: UUID
    caught_up: int
    indexed: int
    removed: int
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The index that was built, whether it is live by now, and which ones it took the place of."""

    index_name: str
    nodes: int
    live: bool
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceStatus:
    """How far an index has followed one workspace."""

    workspace_id: UUID
    state: IndexState
    pending: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The live index, the one being built, and each workspace in the live one."""

    live: LiveIndex | None
    building: str | None
    workspaces: tuple[WorkspaceStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSearchIndex:
    """The use cases of `cairn search-index` and of the schedule."""

    follow: FollowDatabase
    workspaces: Callable[[], Sequence[UUID]]
    stopwatch: Stopwatch

    @property
    def _index(self) -> SearchIndex:
        return self.follow.index

    @property
    def _source(self) -> IndexSource:
        return self.follow.source

    def status(self) -> Status:
        """Say which index is live and how far it is. Raises Unavailable when it does not answer."""
        live = self._index.live()
        status = (
            [self._status(workspace, live.name) for workspace in self.workspaces()] if live else []
        )
        return Status(live=live, building=self._index.building(), workspaces=tuple(status))

    def _status(self, workspace_id: UUID, name: str) -> WorkspaceStatus:
        state = self._source.state(workspace_id, name)
        pending = self._source.pending(workspace_id, state.position)
        return WorkspaceStatus(workspace_id=workspace_id, state=state, pending=pending)

    def check(self, workspace_id: UUID) -> Drift:
        """Compare the live index with the database, by checksums and where they differ by node.

        Raises Unavailable when there is no index of this mapping. Changes nothing. What differs is
        looked at twice, so that a write in between is not taken for drift.
        """
        name = self._live()
        first = self._compare(workspace_id, name)
        return first if first.ok else _both(first, self._compare(workspace_id, name))

    def repair(self, workspace_id: UUID) -> Repaired:
        """Bring the live index up to date, then put right what still differs.

        Makes the index when there is none. Raises Unavailable as `check`.
        """
        name = self.follow.live()
        caught_up = self.follow.catch_up(workspace_id, name)
        drift = self.check(workspace_id)
        indexed = removed = 0
        if not drift.ok:
            removed = self._index.remove(name, workspace_id, drift.extra)
            documents = self._source.documents(workspace_id, [*drift.missing, *drift.stale])
            indexed = self._index.write(name, documents).indexed
        ok = drift.ok or self.check(workspace_id).ok
        return Repaired(
            workspace_id=workspace_id,
            caught_up=caught_up,
            indexed=indexed,
            removed=removed,
            ok=ok,
        )

    def rebuild(
        self,
        *,
        seconds: float | None = None,
        progress: Callable[[UUID, int], None] | None = None,
    ) -> Rebuilt:
        """Build a new index beside the live one, switch to it at once, and drop the old.

        Searches and writes go on with the old one meanwhile; what they change is caught up with by
        position. After `seconds` it stops, not live, and the next call goes on where it stopped.
        `progress` is told a workspace and how many of its nodes were indexed just now.
        """
        until = None if seconds is None else self.stopwatch() + seconds
        name = self._index.building() or self._index.create()
        nodes = 0
        for workspace_id in self.workspaces():
            done, whole = self._fill(workspace_id, name, until, progress)
            nodes += done
            if not whole:
                return Rebuilt(index_name=name, nodes=nodes, live=False)
        self._index.refresh(name)
        dropped = self._index.go_live(name)
        for workspace_id in self.workspaces():  # what was written while it switched
            nodes += self.follow.catch_up(workspace_id, name)
            self._source.forget_others(workspace_id, name)
        return Rebuilt(index_name=name, nodes=nodes, live=True, dropped=tuple(dropped))

    def rebuild_workspace(self, workspace_id: UUID) -> Repaired:
        """Index one workspace's nodes again in the live index, and take out what is too many."""
        self._source.rewind(workspace_id, self.follow.live())
        return self.repair(workspace_id)

    def maintain(self, *, seconds: float) -> dict[str, object]:
        """Keep the index true within about `seconds`: the scheduled step. Counts come back.

        An index of an older mapping is replaced, over several runs if need be.
        """
        live = self._index.live()
        if live is not None and not live.current:
            built = self.rebuild(seconds=seconds)
            return {"rebuilt": built.index_name, "nodes": built.nodes, "live": built.live}
        until, repaired = self.stopwatch() + seconds, list[Repaired]()
        for workspace_id in self.workspaces():
            if self.stopwatch() > until:
                break
            repaired.append(self.repair(workspace_id))
        return {
            "workspaces": len(repaired),
            "caught_up": sum(item.caught_up for item in repaired),
            "repaired": sum(item.indexed + item.removed for item in repaired),
            "drifting": sum(not item.ok for item in repaired),
        }

    def _fill(
        self,
        workspace_id: UUID,
        name: str,
        until: float | None,
        progress: Callable[[UUID, int], None] | None,
    ) -> tuple[int, bool]:
        """Index a workspace's nodes in slices; how many, and whether it came to the end."""
        nodes = 0
        while done := self.follow.catch_up(workspace_id, name, limit=SLICE):
            nodes += done
            if progress is not None:
                progress(workspace_id, done)
            if until is not None and self.stopwatch() > until:
                return nodes, False
        return nodes, True

    def _live(self) -> str:
        live = self._index.live()
        if live is None:
            raise Unavailable("There is no search index yet.", reason="no-alias")
        if not live.current:
            raise Unavailable("The search index has another mapping.", reason="stale-mapping")
        return live.name

    def _compare(self, workspace_id: UUID, name: str) -> Drift:
        self._index.refresh(name)
        held, expected = self._index.buckets(name, workspace_id), self._source.buckets(workspace_id)
        reached = self._source.state(workspace_id, name).position
        missing: list[UUID] = []
        stale: list[UUID] = []
        extra: dict[UUID, int] = {}
        for bucket in sorted(held.keys() | expected.keys()):
            if held.get(bucket) == expected.get(bucket):
                continue
            documents = self._index.positions(name, workspace_id, bucket)
            nodes = self._source.positions(workspace_id, bucket)
            due = {node_id: position for node_id, position in nodes.items() if position <= reached}
            missing += [item for item in due if item not in documents]
            stale += [node_id for node_id, at in due.items() if documents.get(node_id, at) != at]
            extra |= {node_id: at for node_id, at in documents.items() if node_id not in nodes}
        return Drift(
            workspace_id=workspace_id,
            index_name=name,
            expected=sum(item.nodes for item in expected.values()),
            indexed=sum(item.nodes for item in held.values()),
            pending=self._source.pending(workspace_id, reached),
            missing=tuple(missing),
            stale=tuple(stale),
            extra=self._without_pending(workspace_id, extra, reached),
        )

    def _without_pending(
        self, workspace_id: UUID, extra: dict[UUID, int], reached: int
    ) -> dict[UUID, int]:
        """Leave out documents whose nodes went after the last update: it will take them out."""
        if not extra:
            return extra
        gone_since = {
            document.node_id
            for document in self._source.documents(workspace_id, list(extra))
            if document.position > reached
        }
        return {node_id: at for node_id, at in extra.items() if node_id not in gone_since}


def _both(first: Drift, second: Drift) -> Drift:
    """Return the second look, less what only one of them saw."""
    return replace(
        second,
        missing=tuple(item for item in second.missing if item in first.missing),
        stale=tuple(item for item in second.stale if item in first.stale),
        extra={node_id: at for node_id, at in second.extra.items() if node_id in first.extra},
    )
