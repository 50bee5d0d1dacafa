"""The row that a change of a workspace's settings projects to. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from cairn.workspace.documents import StoredSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry

CHANGED = "settings.changed"


def changed(entry: Entry) -> StoredSettings:
    """Return the settings a `settings.changed` entry says."""
    meta = cast("Mapping[str, Any]", entry.meta)
    return StoredSettings(
        document=json.loads(meta["document"]), version=meta["version"], position=entry.position
    )
