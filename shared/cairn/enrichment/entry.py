"""The `node.enriched` entry: what was derived of nodes, sealed for whom they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.ledger.entry import SYSTEM, NewEntry
from cairn.ledger.keys import key_subjects
from cairn.writing.entries import Planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import BodyCipher


def enriched_entry(
    entry_id: UUID,
    workspace_id: UUID,
    body: Mapping[str, JsonValue],
    *,
    model: str,
    node_ids: Iterable[UUID],
    data_subjects: tuple[UUID, ...],
    cipher: BodyCipher,
    keys: Mapping[UUID, bytes],
    now: datetime,
) -> Planned:
    """Return the entry of nodes that are about the same data subjects; `keys` hold theirs."""
    used = {one: keys[one] for one in key_subjects(workspace_id, data_subjects)}
    entry = NewEntry(
        id=entry_id,
        workspace_id=workspace_id,
        type="node.enriched",
        actor=SYSTEM,
        occurred_at=now,
        data_subjects=data_subjects,
        meta={"model": model, "node_ids": [str(one) for one in node_ids]},
        body=cipher.seal(entry_id, workspace_id, used, body),
    )
    return Planned(entry=entry, body=body)
