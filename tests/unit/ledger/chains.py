"""Small chains for the ledger's tests."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from cairn.ledger.chain import empty_head, seal
from cairn.ledger.entry import Actor, ActorKind, Entry, NewEntry
from cairn.ledger.keys import BodyCipher, key_subjects

WORKSPACE = UUID("0198c2f4-7b1e-7c3a-9f55-0a1b2c3d4e5f")
OTHER_WORKSPACE = UUID("0198c2f4-7b1e-7c3a-9f55-0a1b2c3d4e60")
SUBJECT, OTHER_SUBJECT = UUID(int=7), UUID(int=9)
NOW = datetime(2026, 3, 20, 9, 30, tzinfo=UTC)
KEYS = {SUBJECT: b"s" * 32, OTHER_SUBJECT: b"o" * 32, WORKSPACE: b"w" * 32}


def new_entry(number: int, *, subjects: tuple[UUID, ...] = (SUBJECT,)) -> NewEntry:
    entry_id = UUID(int=1000 + number)
    keys = {subject: KEYS[subject] for subject in key_subjects(WORKSPACE, subjects)}
    return NewEntry(
        id=entry_id,
        workspace_id=WORKSPACE,
        type="memory.created",
        actor=Actor(kind=ActorKind.AGENT, id="scout"),
        occurred_at=NOW - timedelta(days=number),
        data_subjects=subjects,
        meta={"kind": "fact", "node": str(UUID(int=number)), "n": number},
        body=BodyCipher().seal(entry_id, WORKSPACE, keys, {"text": f"number {number}"}),
        session_id="s-1",
        parent_id=UUID(int=5),
    )


def chain(length: int) -> list[Entry]:
    """A good chain, sealed in batches of three a second apart."""
    head, sealed = empty_head(WORKSPACE), list[Entry]()
    for start in range(0, length, 3):
        batch = [new_entry(number) for number in range(start, min(start + 3, length))]
        sealed += seal(head, batch, NOW + timedelta(seconds=start))
        last = sealed[-1]
        head = type(head)(
            workspace_id=WORKSPACE,
            position=last.position,
            hash=last.hash,
            recorded_at=last.recorded_at,
        )
    return sealed
