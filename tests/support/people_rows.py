"""Rows of people around investigations, with what does not matter to a test filled in."""

from typing import Any
from uuid import UUID

from tests.support.remembering import NOON

from cairn.investigations.ports import Candidate, Escalation, Opinion
from cairn.investigations.state import Investigation, Verdict
from cairn.kernel.ids import new_id


def call(of: Investigation, **changes: Any) -> Escalation:
    """A call of a person that waits."""
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": of.id,
        "ticket_id": of.ticket_id,
        "verdict": Verdict.NEEDS_TECH,
        "channel": "ticket-note",
        "why": b"sealed",
        "data_subjects": (new_id(),),
        "queued_at": NOON,
        "updated_at": NOON,
    }
    return Escalation(**given | changes)


def opinion(of: UUID, rating: int | None, **changes: Any) -> Opinion:
    """A rating, or a dispute without one."""
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": of,
        "principal_id": new_id(),
        "rating": rating,
        "content": b"sealed",
        "data_subjects": (),
        "said_at": NOON,
    }
    return Opinion(**given | changes)


def candidate(of: UUID, **changes: Any) -> Candidate:
    """What may be learned and waits."""
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": of,
        "ticket_id": new_id(),
        "cause": "rated",
        "content": b"sealed",
        "data_subjects": (new_id(),),
        "staged_at": NOON,
    }
    return Candidate(**given | changes)
