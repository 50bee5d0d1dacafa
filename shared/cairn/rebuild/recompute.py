"""After a forgetting: what remains is made equal to what the readable ledger projects to.

A rebuild, in parts of some seconds. Not the erasure, which is done before this begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.rebuild.rebuild import KeysMissing

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.rebuild.rebuild import Rebuild


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputeByReplay:
    """Implements `lifecycle.forget.Recompute`."""

    rebuild: Rebuild

    def __call__(self, workspace_id: UUID, *, seconds: float) -> bool:
        """Go on replaying for some time; True once the rows are in place.

        Not while somebody else's key is missing: what is to be erased is, and the rest waits.
        """
        if self.rebuild.advance(workspace_id, seconds=seconds)["more"]:
            return False
        try:
            return self.rebuild.finish(workspace_id) is not None
        except KeysMissing:
            return False
