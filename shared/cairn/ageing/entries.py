"""The entries that let nodes age: ids and the rule, no texts. Pure; not what they project to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.ledger.entry import NewEntry
from cairn.writing.append import SYSTEM
from cairn.writing.entries import Planned

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue


def ageing_entry(
    entry_id: UUID, workspace_id: UUID, type_: str, why: str, nodes: Sequence[UUID], now: datetime
) -> Planned:
    """Return one entry about all of `nodes`, in clear: random ids and an enum."""
    meta: dict[str, JsonValue] = {"node_ids": [str(one) for one in nodes], "rule": str(why)}
    entry = NewEntry(
        id=entry_id,
        workspace_id=workspace_id,
        type=type_,
        actor=SYSTEM,
        occurred_at=now,
        meta=meta,
    )
    return Planned(entry=entry, body={})
