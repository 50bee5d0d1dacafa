"""Conversations in PostgreSQL: what recording them needs, what readers see, one's own legs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.database import Connection, Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record, scalar
from cairn.conversations.messages import OWN_METADATA
from cairn.conversations.plan import LastMessage, PendingMessage, StoredConversation
from cairn.conversations.read import ConversationMessage, ConversationView, DrawnMemory
from cairn.conversations.transcript import SaidMessage
from cairn.kernel.access import Scope
from cairn.memories.identity import CONTEXT_MESSAGES
from cairn.recall.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.conversations.read import ConversationFilter
    from cairn.embedding.port import Vectors
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.recall.records import Filters


_NEAR = "conversation.near_in_one"
_SAID = "conversation.said_in_one"


class PostgresConversations(Store):
    """Conversations of the transaction's workspace, and what waits to become one."""

    def find(self, identity: str) -> StoredConversation | None:
        """Return the conversation of this identity with its last messages."""
        conversation = self.first_of(
            record(partial(StoredConversation, last=())), "conversation.find", identity=identity
        )
        if conversation is None:
            return None
        last = self.all_of(
            record(LastMessage),
            "conversation.last",
            conversation_id=conversation.id,
            limit=CONTEXT_MESSAGES,
        )
        return replace(conversation, last=tuple(reversed(last)))

    def said(self, conversation_id: UUID) -> Sequence[SaidMessage]:
        """Return every message of a conversation, in their order."""
        parameters = {"conversation_id": conversation_id}
        return self.all_of(record(SaidMessage), "conversation.said", **parameters)

    def exists(self, conversation_id: UUID) -> bool:
        """Return whether the principal sees this conversation, or one waits under this id."""
        return bool(self.value("conversation.exists", id=conversation_id))

    def drawn(self, conversation_id: UUID) -> int:
        """Return the number of its last message that a model drew memories from, 0 for none."""
        return int(self.value("conversation.drawn", id=conversation_id) or 0)

    def pending(self, identity: str, now: datetime) -> Sequence[PendingMessage]:
        """Return the messages that wait and have not expired, in their order."""
        parameters = {"identity": identity, "now": now}
        return self.all_of(record(PendingMessage), "conversation.pending", **parameters)

    def wait(self, message: PendingMessage) -> None:
        """Insert one row."""
        self.write("conversation.wait", message)

    def settle(self, identity: str) -> None:
        """Delete what waits under this identity."""
        self.run("conversation.settle", identity=identity)

    def public_key_ids(self) -> Collection[UUID]:
        """Return the ids of the public keys that open something."""
        return self.values("conversation.public_keys")

    def bound_to(self, key_id: UUID) -> UUID | None:
        """Return the conversation a key was bound to."""
        return self.value("conversation.bound_to", key_id=key_id)

    def keys_of(self, conversation_id: UUID) -> Collection[UUID]:
        """Return the keys that were bound to a conversation."""
        return self.values("conversation.keys_of", conversation_id=conversation_id)

    def bind(self, key_id: UUID, conversation_id: UUID, position: int) -> None:
        """Insert one row."""
        self.run(
            "conversation.bind", key_id=key_id, conversation_id=conversation_id, position=position
        )


class PostgresConversationViews(Store):
    """What a principal may read of conversations."""

    def own(self) -> UUID | None:
        """Return the conversation of the public key that asks."""
        return self.value("conversation.own")

    def conversation(self, conversation_id: UUID) -> ConversationView | None:
        """Return one that is seen."""
        rows = self.rows("conversation.one", id=conversation_id)
        return _conversation(rows[0]) if rows else None

    def conversations(
        self, where: ConversationFilter, *, limit: int, after: int | None
    ) -> Sequence[ConversationView]:
        """Return those that are seen, newest first."""
        rows = self.rows(
            "conversation.list",
            channel=where.channel,
            session_id=where.session_id,
            client_id=where.client_id,
            agent=where.agent,
            sender=where.sender,
            opened_from=where.opened_from,
            opened_to=where.opened_to,
            limit=limit,
            after=after,
        )
        return [_conversation(row) for row in rows]

    def messages(
        self, conversation_id: UUID, *, limit: int, after: int
    ) -> Sequence[ConversationMessage]:
        """Return up to `limit` messages in their order, those above position `after`."""
        rows = self.rows(
            "conversation.messages", conversation_id=conversation_id, limit=limit, after=after
        )
        return [_message(row) for row in rows]

    def memories(
        self, conversation: ConversationView, message_ids: Sequence[UUID]
    ) -> Sequence[DrawnMemory]:
        """Return what was drawn from some of its messages, in the order it was written."""
        return self.all_of(
            record(DrawnMemory),
            "conversation.memories",
            session_id=conversation.session_id,
            conversation_id=conversation.id,
            message_ids=list(message_ids),
        )

    def latest(self, conversation_id: UUID, *, limit: int) -> Sequence[ConversationMessage]:
        """Return the last `limit` messages in their order."""
        rows = self.rows("conversation.latest", conversation_id=conversation_id, limit=limit)
        return [_message(row) for row in reversed(rows)]

    def messages_by_id(self, ids: Sequence[UUID]) -> Sequence[ConversationMessage]:
        """Return those of the messages that the principal sees, in any order."""
        return [_message(row) for row in self.rows("conversation.messages_by_id", ids=list(ids))]


@dataclass(frozen=True)
class PostgresOneConversation:
    """The two legs of recall inside one conversation; implements both of their ports' searches.

    It is small, so every message is compared, under row level security; no index is asked.
    """

    database: Database
    conversation_id: UUID

    def by_vector(
        self,
        principal: Principal,
        vector: Vectors,
        filters: Filters,
        *,
        model_id: int,
        minimum: float,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return the nearest messages, as `recall.ports.VectorLeg.search`."""
        # only who searches by vector loads numpy
        from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec

        parameters = {
            "vector": halfvecs([vector])[0],
            "model_id": model_id,
            "minimum": minimum,
            "limit": limit,
        }
        with bound(self.database, principal, timeout_ms=timeout_ms) as connection:
            knows_halfvec(connection)
            return self._find_candidates(connection, principal, parameters, filters, _NEAR)

    def by_keyword(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return the messages with any of the words, as `recall.ports.KeywordLeg.search`."""
        if not terms:
            return ()
        parameters = {"terms": list(terms), "limit": limit}
        with bound(self.database, principal, timeout_ms=timeout_ms) as connection:
            return self._find_candidates(connection, principal, parameters, filters, _SAID)

    def _find_candidates(
        self,
        connection: Connection,
        principal: Principal,
        parameters: dict[str, Any],
        filters: Filters,
        name: str,
    ) -> Sequence[Candidate]:
        parameters |= {
            "workspace_id": principal.workspace_id,
            "conversation_id": self.conversation_id,
            "roles": list(filters.kinds) or None,
            "occurred_from": filters.occurred_from,
            "occurred_to": filters.occurred_to,
            "language": filters.language,
        }
        rows = connection.execute(query(name), parameters).fetchall()
        return tuple(Candidate(node_id=node_id, score=score) for node_id, score in rows)


@dataclass(frozen=True)
class DropExpiredMessages:
    """Calls the definer function that removes what waited too long, in every workspace."""

    database: Database
    clock: Clock

    def __call__(self) -> int:
        """Return how many messages were removed."""
        parameters = {"now": self.clock()}
        with self.database.connection() as connection:
            return scalar(connection, "conversation.drop_expired", parameters) or 0


def _conversation(row: dict[str, Any]) -> ConversationView:
    row["scope"], row["agents"] = Scope(row["scope"]), tuple(row["agents"])
    return ConversationView(**row)


def _message(row: dict[str, Any]) -> ConversationMessage:
    metadata = dict(row.pop("metadata"))
    own: dict[str, Any] = metadata.pop(OWN_METADATA, {})
    return ConversationMessage(**row, **own, metadata=metadata)
