"""Verify every workspace's chain and keep its head where the database's owner cannot change it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.access.system import system_principal
from cairn.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.retrieval.views import LedgerVerification


class VerifyLedger(Protocol):
    """Recomputes one workspace's chain from its beginning."""

    def __call__(self, principal: Principal) -> LedgerVerification: ...


class Anchors(Protocol):
    """An object store whose objects cannot be changed or removed for a time."""

    def put(self, key: str, content: bytes) -> None: ...


class ListWorkspaces(Protocol):
    """Returns the ids of all workspaces."""

    def __call__(self) -> Sequence[UUID]: ...


class Report(Protocol):
    """Tells people: a name and ids or codes."""

    def __call__(self, event: str, fields: dict[str, Any], /) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyChains:
    """Runs daily. A chain that does not hold is reported with its first bad position."""

    workspaces: ListWorkspaces
    verify: VerifyLedger
    anchors: Anchors
    clock: Clock
    report: Report

    def __call__(self) -> dict[str, Any]:
        """Return how many chains were verified, and which did not hold."""
        bad: list[dict[str, Any]] = []
        workspaces = self.workspaces()
        for workspace_id in workspaces:
            found = self.verify(system_principal(workspace_id))
            if found.ok:
                self._anchor(found)
                continue
            fault = {
                "workspace_id": str(workspace_id),
                "first_bad_position": found.first_bad_position,
                "reason": found.reason,
            }
            self.report("ledger.broken", fault)
            bad.append(fault)
        return {"verified": len(workspaces), "broken": bad}

    def _anchor(self, found: LedgerVerification) -> None:
        now = format_timestamp(self.clock())
        head = {
            "workspace_id": str(found.workspace_id),
            "position": found.head_position,
            "hash": found.head_hash,
            "verified_at": now,
        }
        key = f"heads/{found.workspace_id}/{now}.json"
        self.anchors.put(key, json.dumps(head, sort_keys=True).encode())
