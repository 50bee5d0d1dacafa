"""Memories that last for a time: refreshed when asked, removed when it is over. Not ageing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.text.canonical import format_timestamp
from cairn.memories.edit_plan import EDITABLE
from cairn.writing.checks import require_writer
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

MAX_REFRESHED = 100
PAGE = 200
"""Memories removed in one transaction: the head is held shortly."""


@dataclass(frozen=True, slots=True)
class RefreshMemories:
    """Lets memories that last for a time last as long again, from now on."""

    platform: Platform

    def __call__(self, principal: Principal, ids: Sequence[UUID]) -> Mapping[UUID, datetime]:
        """Return when each expires now.

        Left out is what lasts for ever, has expired, stands no longer, or the principal does not
        see or may not change.
        """
        require_writer(principal)
        with open_write(self.platform, principal) as write:
            until = {
                memory.id: write.now + timedelta(seconds=memory.ttl_seconds)
                for memory in write.stores.memories.whole(ids).values()
                if memory.ttl_seconds
                and memory.expires_at
                and memory.expires_at > write.now
                and memory.state in EDITABLE
                and principal.client_id in (None, memory.client_id)
            }
            if until:
                write.note("memory.refreshed", refreshed_meta(until))
        return until


def refreshed_meta(until: Mapping[UUID, datetime]) -> dict[str, dict[str, str]]:
    """Return what an entry says of refreshed memories: random ids and times."""
    return {"expires_at": {str(id_): format_timestamp(at) for id_, at in until.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveExpired:
    """Removes what has expired from every projection of every workspace, by ledger entries.

    Killed or run twice at once it ends the same: what is due is found again under the ledger's
    head. Ages are taken from the earlier of two clocks.
    """

    platform: Platform
    workspaces: Callable[[], Iterable[UUID]]
    report: Callable[[str, dict[str, object]], None]
    seconds: float = 120.0

    def __call__(self) -> int:
        """Return how many went; a workspace that fails is told of, and the next sweep's."""
        gone, until = 0, self.platform.stopwatch() + self.seconds
        for workspace_id in self.workspaces():
            try:
                gone += self._of(workspace_id, until)
            except CairnError as error:
                detail: dict[str, object] = {
                    "workspace_id": str(workspace_id),
                    "reason": error.reason,
                }
                self.report("memories.not-expired", detail)
        return gone

    def _of(self, workspace_id: UUID, until: float) -> int:
        principal, gone = system_principal(workspace_id), 0
        with self.platform.transactions.reading(principal) as stores:
            now = min(self.platform.clock(), stores.ageing.now())
            due = stores.ageing.expired(now, limit=PAGE)
        while due and self.platform.stopwatch() < until:
            with open_write(self.platform, principal) as write:
                due = write.stores.ageing.expired(now, limit=PAGE)
                if due:
                    meta = {"node_ids": [str(node) for node in due], "rule": "ttl"}
                    write.note("node.purged", meta)
            gone += len(due)
            if len(due) < PAGE:
                break
        return gone
