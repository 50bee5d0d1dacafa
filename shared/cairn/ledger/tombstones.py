"""Signed statements that a data subject was forgotten. Pure; not the store they are kept in.

Ids, a position and a time; no names. An object's name says whose tombstone it is, and what stands
in it has to say the same, so that one cannot be replayed for another subject or workspace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.ledger.signing import is_signed, read_statement, sign_statement

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.ledger.signing import Signer, Verifier

FORMAT = "cairn-tombstone-1"
KINDS = frozenset({"client", "person", "source"})


class TombstoneFault(StrEnum):
    """Why an object among the tombstones is not followed."""

    MALFORMED = "malformed"  # no JSON object with a tombstone's fields, or a name that is none
    NOT_AUTHENTIC = "not-authentic"  # altered, unsigned, or signed by a key not known here
    FOREIGN = "foreign"  # a good tombstone of another workspace, moved here
    OTHER_SUBJECT = "other-subject"  # a good tombstone of somebody else, under this one's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """Somebody was forgotten at `forgotten_at`, when the ledger's head was at `position`."""

    workspace_id: UUID
    subject_id: UUID
    kind: str
    position: int
    forgotten_at: datetime


def tombstone_prefix(workspace_id: UUID) -> str:
    """Return below which name the tombstones of a workspace are kept."""
    return f"tombstones/{workspace_id}/"


def tombstone_key(workspace_id: UUID, subject_id: UUID) -> str:
    """Return the name of a subject's tombstone."""
    return f"{tombstone_prefix(workspace_id)}{subject_id}.json"


def new_tombstone(signer: Signer, tombstone: Tombstone) -> bytes:
    """Return the signed bytes of a tombstone; the same for the same one under the same key."""
    return sign_statement(
        signer,
        {
            "format": FORMAT,
            "workspace_id": str(tombstone.workspace_id),
            "subject_id": str(tombstone.subject_id),
            "kind": tombstone.kind,
            "position": tombstone.position,
            "forgotten_at": format_timestamp(tombstone.forgotten_at),
        },
    )


def read_tombstone(
    key: str, stored: bytes, workspace_id: UUID, verifier: Verifier
) -> Tombstone | TombstoneFault:
    """Return the tombstone kept under `key`, or why it is not followed."""
    try:
        statement = read_statement(stored)
    except ValidationFailed:
        return TombstoneFault.MALFORMED
    if not is_signed(verifier, statement, FORMAT):
        return TombstoneFault.NOT_AUTHENTIC
    try:
        tombstone = _tombstone(dict(statement.fields))
    except (ValidationFailed, ValueError, KeyError, TypeError, AttributeError):
        return TombstoneFault.MALFORMED
    if tombstone.workspace_id != workspace_id:
        return TombstoneFault.FOREIGN
    if key != tombstone_key(workspace_id, tombstone.subject_id):
        return TombstoneFault.OTHER_SUBJECT
    return tombstone


def _tombstone(fields: dict[str, Any]) -> Tombstone:
    if fields["kind"] not in KINDS or not isinstance(fields["position"], int):
        raise ValueError("kind or position")
    return Tombstone(
        workspace_id=UUID(fields["workspace_id"]),
        subject_id=UUID(fields["subject_id"]),
        kind=fields["kind"],
        position=fields["position"],
        forgotten_at=parse_timestamp(fields["forgotten_at"]),
    )
