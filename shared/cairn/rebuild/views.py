"""A rebuild as those who asked for it see it. A record: the OpenAPI document is made of it too."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildView:
    """A rebuild, or with `check` a comparison that changes nothing.

    `entries` of about `head` are replayed; `result` has the checksums once it is finished, `error`
    a reason once it failed.
    """

    id: UUID
    check: bool
    state: str
    entries: int
    head: int
    result: Mapping[str, Any] | None = None
    error: str | None = None
    created_at: datetime
    updated_at: datetime
