"""Rebuilds that are asked for: kept, run by the `rebuild` machine in steps, and followed.

Not the replay: that is `rebuild`. A machine that dies is started again by a new request, which goes
on with what the old one had replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.rebuild.rebuild import Rebuild
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildView:
    """A rebuild, or with `check` a comparison that changes nothing.

    `entries` of about `head` are replayed; `result` has the checksums once it is finished, `error`
    a reason once it failed.
    """

    id: UUID
    check: bool
    state: str
    entries: int
    head: int
    result: Mapping[str, Any] | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime


RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRebuild:
    """Keeps a rebuild and wakes the machine; Denied unless an admin asks."""

    platform: Platform

    def __call__(self, principal: Principal, /, *, check: bool = False) -> RebuildView:
        """Return it as it begins."""
        principal.require(Role.ADMIN)
        rebuild_id = self.platform.new_id()
        with self.platform.transactions.writing(system_principal(principal.workspace_id)) as stores:
            now = self.platform.clock()
            stores.rebuilds.add(rebuild_id, check=check, now=now)
            row = OutboxRow(
                workspace_id=principal.workspace_id,
                id=rebuild_id,
                topic=Topic.REBUILD,
                position=stores.ledger.head().position,
                reference=rebuild_id,
            )
            stores.outbox.add(row, now)
            rebuild = _find_rebuild(stores, rebuild_id)
        self.platform.dispatcher.send([row])
        return rebuild


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRebuild:
    """Shows a rebuild to admins; NotFound for another workspace's too."""

    transactions: Transactions[Stores]

    def __call__(self, principal: Principal, rebuild_id: UUID, /) -> RebuildView:
        """Return it as it stands."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return _find_rebuild(stores, rebuild_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRebuild:
    """The states of the machine. Each may be run again, and goes on where the last one was."""

    platform: Platform
    rebuild: Rebuild

    def step(self, workspace_id: UUID, rebuild_id: UUID, *, seconds: float) -> dict[str, Any]:
        """Replay for some time, and put the rows in place when all is replayed.

        Returns {"more": bool, "entries": int, "head": int}; ids and counts only.
        """
        principal = system_principal(workspace_id)
        with self.platform.transactions.writing(principal) as stores:
            rebuild = _find_rebuild(stores, rebuild_id)
            stores.outbox.done([rebuild_id])
        if rebuild.state != RUNNING:
            return {"more": False, "entries": rebuild.entries, "head": rebuild.head}
        far = self.rebuild.advance(workspace_id, seconds=seconds)
        done = None
        if not far["more"]:
            done = self.rebuild.finish(workspace_id, only_check=rebuild.check)
        with self.platform.transactions.writing(principal) as stores:
            now, head = self.platform.clock(), far["head"]
            stores.rebuilds.progress(rebuild_id, entries=far["entries"], head=head, now=now)
            if done is not None:
                stores.rebuilds.end(rebuild_id, result=done.as_json(), error=None, now=now)
        return {"more": done is None, "entries": far["entries"], "head": head}

    def fail(self, workspace_id: UUID, rebuild_id: UUID, *, error: str) -> dict[str, Any]:
        """Keep that it failed: the name of an error, no text of anybody's."""
        with self.platform.transactions.writing(system_principal(workspace_id)) as stores:
            stores.rebuilds.end(rebuild_id, result=None, error=error, now=self.platform.clock())
        return {"failed": True}


def _find_rebuild(stores: Stores, rebuild_id: UUID) -> RebuildView:
    rebuild = stores.rebuilds.get(rebuild_id)
    if rebuild is None:
        raise NotFound("There is no such rebuild.")
    return rebuild
