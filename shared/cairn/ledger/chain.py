"""How entries are chained. Pure: no clock, no storage, no keys (bodies arrive encrypted).

    genesis = SHA-256(the 16 bytes of the workspace id)
    hash    = SHA-256(0x01 || prev_hash || header)
    header  = the canonical JSON object of `header_bytes`

docs/operate/ledger.md says the same for readers without this package.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from json.encoder import encode_basestring
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes, format_timestamp
from cairn.ledger.entry import Entry, Head, NewEntry

EMPTY_CHAIN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""`recorded_at` of a head at position 0: earlier than any entry."""

_ENTRY_DOMAIN = b"\x01"


def genesis(workspace_id: UUID) -> bytes:
    """Return the hash before the first entry: SHA-256 over the id's 16 bytes, big-endian."""
    return hashlib.sha256(workspace_id.bytes).digest()


def empty_head(workspace_id: UUID) -> Head:
    """Return the head of a chain without entries: position 0, the genesis hash."""
    return Head(
        workspace_id=workspace_id,
        position=0,
        hash=genesis(workspace_id),
        recorded_at=EMPTY_CHAIN_TIME,
    )


def header_bytes(entry: Entry) -> bytes:
    """Return the canonical JSON a hash covers: every field but `body`, `prev_hash` and `hash`.

    Ids are lower-case UUID strings, `body_hash` is hex, times have six digits and Z, `meta` is the
    stored text as one string, so the hash covers its exact bytes.
    """
    subjects = ",".join([f'"{subject}"' for subject in entry.data_subjects])
    # Written out since a general encoder takes twice as long; a test holds it to canonical_bytes.
    return (
        f'{{"actor_id":{_text(entry.actor.id)}'
        f',"actor_kind":{_text(entry.actor.kind.value)}'
        f',"body_hash":"{entry.body_hash.hex()}"'
        f',"data_subjects":[{subjects}]'
        f',"id":"{entry.id}"'
        f',"meta":{_text(entry.meta_text)}'
        f',"occurred_at":"{format_timestamp(entry.occurred_at)}"'
        f',"parent_id":{_text(entry.parent_id)}'
        f',"position":{entry.position}'
        f',"recorded_at":"{format_timestamp(entry.recorded_at)}"'
        f',"session_id":{_text(entry.session_id)}'
        f',"trace_id":{_text(entry.trace_id)}'
        f',"type":{_text(entry.type)}'
        f',"workspace_id":"{entry.workspace_id}"}}'
    ).encode()


def entry_hash(entry: Entry) -> bytes:
    """Return SHA-256(0x01 || prev_hash || header), whatever `entry.hash` says."""
    return hashlib.sha256(_ENTRY_DOMAIN + entry.prev_hash + header_bytes(entry)).digest()


def seal(head: Head, entries: Sequence[NewEntry], now: datetime) -> list[Entry]:
    """Chain `entries` onto `head` in their order; the last one is the new head.

    Positions are consecutive; `recorded_at` is max(now, head.recorded_at) for the whole batch;
    data subjects are sorted and distinct. Raises ValidationFailed for an entry of another workspace
    or metadata that has no canonical form.
    """
    recorded_at = max(now, head.recorded_at)
    position, prev_hash = head.position, head.hash
    sealed: list[Entry] = []
    for new in entries:
        if new.workspace_id != head.workspace_id:
            raise ValidationFailed("An entry belongs to another workspace.", entry_id=str(new.id))
        position += 1
        entry = _seal_one(new, position, prev_hash, recorded_at)
        sealed.append(entry)
        prev_hash = entry.hash
    return sealed


def head_of(entry: Entry) -> Head:
    """Return the head of a chain that ends with `entry`."""
    return Head(
        workspace_id=entry.workspace_id,
        position=entry.position,
        hash=entry.hash,
        recorded_at=entry.recorded_at,
    )


def _seal_one(new: NewEntry, position: int, prev_hash: bytes, recorded_at: datetime) -> Entry:
    entry = Entry(
        id=new.id,
        workspace_id=new.workspace_id,
        position=position,
        type=new.type,
        actor=new.actor,
        occurred_at=new.occurred_at,
        recorded_at=recorded_at,
        data_subjects=tuple(sorted(set(new.data_subjects))),
        meta_text=canonical_bytes(new.meta).decode(),
        body=new.body,
        body_hash=hashlib.sha256(new.body).digest(),
        session_id=new.session_id,
        trace_id=new.trace_id,
        parent_id=new.parent_id,
        prev_hash=prev_hash,
        hash=b"",
    )
    return replace(entry, hash=entry_hash(entry))


def _text(value: str | UUID | None) -> str:
    return "null" if value is None else encode_basestring(str(value))
