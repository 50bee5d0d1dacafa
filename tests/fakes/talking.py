"""Conversations, reports and subscriptions in memory, over the tables of `stores`. For tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.conversations.plan import LastMessage, StoredConversation
from cairn.graph.node import Label, State
from cairn.memories.identity import CONTEXT_MESSAGES
from cairn.reports.write import StoredReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.conversations.plan import PendingMessage
    from cairn.graph.node import Node
    from cairn.kernel.access import Principal
    from cairn.recall.subscriptions import SubscriptionView

_FOUND = (State.ACTIVE, State.PROVISIONAL)


@dataclass(frozen=True)
class InMemoryConversations:
    """`PostgresConversations` in memory."""

    tables: Tables
    principal: Principal

    def find(self, identity: str) -> StoredConversation | None:
        """Return the conversation of this identity with its last messages."""
        node = _identified(self.tables, self.principal, Label.CONVERSATION, identity)
        if node is None:
            return None
        said = sorted(
            (item.sequence or 0, item.id, item)
            for item in _seen(self.tables, self.principal, Label.MESSAGE)
            if item.parent_id == node.id
        )
        last = tuple(_last(one) for _, _, one in said[-CONTEXT_MESSAGES:])
        return StoredConversation(id=node.id, data_subjects=node.data_subjects, last=last)

    def exists(self, conversation_id: UUID) -> bool:
        """Return whether it is seen, or waits."""
        waiting = any(
            item.conversation_id == conversation_id for item in self.tables.pending.values()
        )
        seen = _tagged(self.tables, self.principal, Label.CONVERSATION)
        return waiting or any(item.id == conversation_id for item in seen)

    def pending(self, identity: str, now: datetime) -> Sequence[PendingMessage]:
        """Return the messages that wait."""
        waiting = (item for item in self.tables.pending.values() if item.expires_at > now)
        return sorted(
            (item for item in waiting if item.identity == identity), key=lambda item: item.sequence
        )

    def wait(self, message: PendingMessage) -> None:
        """Keep one message."""
        self.tables.pending[message.id] = message

    def settle(self, identity: str) -> None:
        """Remove what waits under this identity."""
        for item in list(self.tables.pending.values()):
            if item.identity == identity:
                del self.tables.pending[item.id]

    def public_key_ids(self) -> Collection[UUID]:
        """Return the public keys a test has put into the tables."""
        return self.tables.public_keys

    def bound_to(self, key_id: UUID) -> UUID | None:
        """Return the conversation a key was bound to."""
        return self.tables.bindings.get(key_id)

    def bind(self, key_id: UUID, conversation_id: UUID, position: int) -> None:
        """Bind a key, for good."""
        self.tables.bindings.setdefault(key_id, conversation_id)


@dataclass(frozen=True)
class InMemoryReports:
    """`PostgresReports` in memory."""

    tables: Tables
    principal: Principal

    def find(self, identity: str) -> StoredReport | None:
        """Return the report of this identity."""
        node = _identified(self.tables, self.principal, Label.REPORT, identity)
        if node is None:
            return None
        position = self.tables.created[node.id]
        return StoredReport(id=node.id, position=position, parent_id=node.parent_id)

    def conversation(
        self, conversation_id: UUID | None, session_id: str | None
    ) -> tuple[UUID, tuple[UUID, ...]] | None:
        """Return the conversation a report came of."""
        found = [
            item
            for item in _tagged(self.tables, self.principal, Label.CONVERSATION)
            if item.id == conversation_id
            or (conversation_id is None and item.session_id == session_id)
        ]
        newest = max(found, key=lambda item: self.tables.created[item.id], default=None)
        return (newest.id, newest.data_subjects) if newest else None


@dataclass(frozen=True)
class InMemorySubscriptions:
    """`PostgresSubscriptions` in memory."""

    tables: Tables

    def of_agent(self, agent: str) -> SubscriptionView | None:
        """Return an agent's subscription, None when it has no keywords."""
        found = self.tables.subscriptions.get(agent)
        return found if found and found.keywords else None

    def all(self) -> Sequence[SubscriptionView]:
        """Return every agent's, by name."""
        return [one for _, one in sorted(self.tables.subscriptions.items()) if one.keywords]

    def put(self, subscription: SubscriptionView) -> None:
        """Keep an agent's keywords; an older change does nothing."""
        present = self.tables.subscriptions.get(subscription.agent)
        if present is None or present.position < subscription.position:
            self.tables.subscriptions[subscription.agent] = subscription


def _seen(tables: Tables, principal: Principal, label: Label) -> Iterable[Node]:
    return (
        node
        for node in tables.nodes.values()
        if node.label == label and node.state in _FOUND and node.scope in principal.allowed_scopes
    )


def _tagged(tables: Tables, principal: Principal, label: Label) -> Iterable[Node]:
    seen = _seen(tables, principal, label)
    return (item for item in seen if principal.finds(item.agents))


def _identified(tables: Tables, principal: Principal, label: Label, identity: str) -> Node | None:
    seen = _seen(tables, principal, label)
    return next((item for item in seen if item.dedup_key == identity), None)


def _last(node: Node) -> LastMessage:
    return LastMessage(
        id=node.id,
        sequence=node.sequence or 0,
        text=node.text,
        occurred_at=node.occurred_at,
        data_subjects=node.data_subjects,
    )
