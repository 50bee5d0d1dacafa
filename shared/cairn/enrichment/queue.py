"""The messages of the embed queue: what one invocation works off, and what it puts back.

A queue counts how often a message is received, and a few times are all it gets. So a
message that was not begun for lack of time, or whose ledger others held, is sent anew and costs
nothing; only a try that failed is one. Not the enrichment (`enrich`), nor the queue's client.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError, Unavailable
from cairn.kernel.spans import Kind, span
from cairn.kernel.transaction import LedgerBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.kernel.spans import Span

NODES_AT_ONCE = 300
"""Nodes that are embedded, and their entries appended, in one transaction."""

SPARE_SECONDS = 30.0
"""What a part may take on a machine that is busy; with less left, none is begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedMessage:
    """Rows of one workspace that wait for their vectors. `nodes` is how many they name."""

    id: str
    workspace_id: UUID
    outbox_ids: tuple[UUID, ...]
    nodes: int
    body: str
    traceparent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOff:
    """Works off the messages of one invocation, workspaces in turn.

    `rows` embeds rows of a workspace, and raises LedgerBusy while others write there.
    `send_anew` puts a message behind the others as a new one, or is Unavailable.
    """

    rows: Callable[[UUID, Collection[UUID]], int]
    send_anew: Callable[[EmbedMessage], None]
    inform: Callable[[str, dict[str, Any]], None]
    warn: Callable[[str, dict[str, Any]], None]

    def __call__(
        self, messages: Sequence[EmbedMessage], seconds_left: Callable[[], float]
    ) -> list[str]:
        """Return the ids of the messages whose try failed; the others are done or sent anew."""
        failed: list[str] = []
        late: list[EmbedMessage] = []
        for at, part in enumerate(_parts(messages)):
            if at and seconds_left() < SPARE_SECONDS:
                late += part
            else:
                failed += self._tried(part)
        return failed + self._put_back(late, "no-time")

    def _tried(self, part: Sequence[EmbedMessage]) -> list[str]:
        """Embed messages together; when that fails, one by one."""
        try:
            with _span(part):
                count = self.rows(
                    part[0].workspace_id, [row for message in part for row in message.outbox_ids]
                )
        except LedgerBusy as error:
            return self._put_back(part, error.reason)
        except CairnError as error:
            self.warn("embed.failed", {"error": error.code, "reason": error.reason})
            if len(part) == 1:
                return [part[0].id]
            return [failed for message in part for failed in self._tried([message])]
        self.inform("embed.done", {"messages": len(part), "nodes": count})
        return []

    def _put_back(self, messages: Sequence[EmbedMessage], why: str) -> list[str]:
        """Send messages anew, and return those the queue did not take: they come by themselves."""
        failed: list[str] = []
        for message in messages:
            try:
                self.send_anew(message)
            except Unavailable as error:
                self.warn("embed.not_sent_anew", {"message_id": message.id, "error": error.code})
                failed.append(message.id)
        if messages:
            self.inform("embed.sent_anew", {"messages": len(messages), "reason": why})
        return failed


def _span(part: Sequence[EmbedMessage]) -> AbstractContextManager[Span]:
    """Measure the work on messages: a part of their trace, or linked with the traces of several."""
    traces = sorted({message.traceparent for message in part if message.traceparent})
    attributes = {
        "messaging.system": "aws_sqs",
        "messaging.operation.type": "process",
        "messaging.batch.message_count": len(part),
        "cairn.workspace_id": str(part[0].workspace_id),
        "cairn.nodes": sum(message.nodes for message in part),
    }
    parent, links = (traces[0], ()) if len(traces) == 1 else (None, traces)
    return span("process embed", attributes, kind=Kind.CONSUMER, parent=parent, links=links)


def _parts(messages: Sequence[EmbedMessage]) -> list[list[EmbedMessage]]:
    """Return what is embedded together: messages of one workspace, each workspace in turn."""
    parts: dict[UUID, list[list[EmbedMessage]]] = {}
    for message in messages:
        mine = parts.setdefault(message.workspace_id, [[]])
        if mine[-1] and sum(item.nodes for item in mine[-1]) + message.nodes > NODES_AT_ONCE:
            mine.append([])
        mine[-1].append(message)
    return [part for part in chain.from_iterable(zip_longest(*parts.values())) if part]
