"""Chats made shorter behind their turns. Nothing that goes wrong here costs a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.chat.window import Briefing
from cairn.compaction.compact import (
    LEAST_TOKENS,
    MOST_TOKENS,
    SECONDS,
    CompactionMethod,
    Target,
)
from cairn.compaction.session import briefing_id
from cairn.kernel.errors import CairnError
from cairn.kernel.text.canonical import parse_timestamp

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.compaction.compact import Compact
    from cairn.compaction.session import KeepBriefing
    from cairn.kernel.access import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactChat:
    """Makes a chat's conversation shorter, and reads what was made of it."""

    compact: Compact
    keep: KeepBriefing

    def briefing(self, principal: Principal, conversation_id: UUID) -> Briefing | None:
        """Return what is kept of a conversation; None where nothing is."""
        with self.keep.platform.transactions.reading(principal) as stores:
            node = stores.node_views.node(briefing_id(conversation_id))
        if node is None or node.state != "active":
            return None
        since = node.metadata.get("since")
        return Briefing(text=node.text, since=parse_timestamp(since) if since else None)

    def __call__(
        self, principal: Principal, conversation_id: UUID, tokens: int, quickly: bool
    ) -> None:
        """Make a conversation shorter and keep what is made of it, in its place; never raises.

        Where it fails all stays as it was, and the next turn that is too long tries again.
        `quickly` leaves it to rules.
        """
        platform = self.keep.platform
        names: dict[str, Any] = {"conversation_id": str(conversation_id)}
        target = Target(
            tokens=min(max(tokens, LEAST_TOKENS), MOST_TOKENS),
            method=CompactionMethod.RULES if quickly else None,
            seconds=SECONDS,
        )
        try:
            now = platform.clock()
            platform.log("compaction.started", {**names, "target": target.tokens})
            compacted = self.compact.recorded(principal, conversation_id, target)
            if compacted is None:
                return
            # turns that ended since this began are not in it
            since = compacted.kept[0].occurred_at if compacted.kept else now
            self.keep(principal, compacted, since=since)
        except CairnError as error:
            platform.warn("compaction.failed", {**names, "reason": error.reason})
        except Exception as error:  # noqa: BLE001 - a turn must not end with it
            platform.warn("compaction.crashed", {**names, "error": type(error).__name__})
        else:
            done = {"method": compacted.method.value, "failure": compacted.failure}
            size = {"before": compacted.tokens_before, "tokens": compacted.tokens_after}
            platform.log("compaction.kept", {**names, **done, **size})
