"""Rows of the agent's stores, with what does not matter to a test filled in."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.support.remembering import NOON

from cairn.investigations.ports import ActionRow, ActionState, Approval, ApprovalState, StepRow
from cairn.investigations.state import Investigation, State
from cairn.kernel.ids import new_id


def investigation(workspace_id: UUID, **changes: Any) -> Investigation:
    """A new investigation of a ticket of its own."""
    given: dict[str, Any] = {
        "id": new_id(),
        "workspace_id": workspace_id,
        "ticket_id": new_id(),
        "persona": "default",
        "state": State.CREATED,
        "created_at": NOON,
        "moved_at": NOON,
    }
    return Investigation(**given | changes)


def line(**changes: Any) -> StepRow:
    """A line that has no number yet."""
    given: dict[str, Any] = {
        "seq": 0,
        "state": "PLANNING",
        "system": "plan",
        "action": "first",
        "kind": "plan",
        "ms": 12,
        "position": 7,
        "line": 0,
        "at": NOON,
    }
    return StepRow(**given | changes)


def approval(of: Investigation, **changes: Any) -> Approval:
    """A question that waits for 24 hours."""
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": of.id,
        "ticket_id": of.ticket_id,
        "action_id": new_id(),
        "tool": "accounts.unlock",
        "binding": "a" * 64,
        "policy_version": "p1",
        "content": b"sealed",
        "state": ApprovalState.PENDING,
        "data_subjects": (),
        "asked_at": NOON,
        "expires_at": NOON + timedelta(hours=24),
    }
    return Approval(**given | changes)


def action(of: Investigation, **changes: Any) -> ActionRow:
    """A proposed write."""
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": of.id,
        "connector": "accounts",
        "tool": "unlock",
        "lane": "write",
        "digest": "d" * 64,
        "state": ActionState.PROPOSED,
        "dry_run": False,
        "is_error": False,
        "input": b"in",
        "output": b"",
        "data_subjects": (),
        "proposed_at": NOON,
    }
    return ActionRow(**given | changes)
