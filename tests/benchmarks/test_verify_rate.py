"""What verifying a chain costs beside its floor: one JSON document and two hashes an entry.

Processor time and a ratio within one run, so that neither a busy nor a slow machine changes it.
Seen: 32,000 to 45,000 entries a second, 1.7 times the floor.
"""

import hashlib
import json
import time
from collections.abc import Callable

from tests.unit.ledger.chains import WORKSPACE, chain

from cairn.ledger.chain import head_of
from cairn.ledger.entry import Entry
from cairn.ledger.verify import verify

ENTRIES = 10_000
ROUNDS = 5
ALLOWED = 2.5


def floor(entry: Entry) -> bytes:
    """The least any verifier does: write the header as JSON, hash the body and the header."""
    header = {
        "actor_id": entry.actor.id,
        "actor_kind": entry.actor.kind.value,
        "body_hash": hashlib.sha256(entry.body).hexdigest(),
        "data_subjects": [str(subject) for subject in entry.data_subjects],
        "id": str(entry.id),
        "meta": entry.meta_text,
        "occurred_at": entry.occurred_at.isoformat(),
        "position": entry.position,
        "recorded_at": entry.recorded_at.isoformat(),
        "type": entry.type,
        "workspace_id": str(entry.workspace_id),
    }
    return hashlib.sha256(entry.prev_hash + json.dumps(header).encode()).digest()


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def test_verifying_costs_little_more_than_the_json_and_the_hashes() -> None:
    entries = chain(ENTRIES)
    head = head_of(entries[-1])
    assert verify(entries, workspace_id=WORKSPACE, expected=head).checked == ENTRIES
    least = min(seconds(lambda: [floor(entry) for entry in entries]) for _ in range(ROUNDS))
    spent = min(
        seconds(lambda: verify(entries, workspace_id=WORKSPACE, expected=head))
        for _ in range(ROUNDS)
    )
    assert spent <= ALLOWED * least
