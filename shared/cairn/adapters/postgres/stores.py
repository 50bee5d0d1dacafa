"""The stores of one transaction. Thin: each method is one named query and its mapping."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import timedelta
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.rows import Record, as_json, groups, runs
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, keyed, record
from cairn.enrichment.ports import Stated
from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange
from cairn.kernel.text.canonical import MAX_INTEGER
from cairn.kernel.text.hashes import sha256
from cairn.ledger.entry import Actor, ActorKind, Entry, Head
from cairn.memories.identity import Link, Message, Session, StoredMemory
from cairn.writing.audience import Audience
from cairn.writing.corroboration import KnownMemory
from cairn.writing.ports import OutboxRow, StoredAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.enrichment.ports import EnrichableNode
    from cairn.graph.projection import Projection, Purge
    from cairn.memories.edit_plan import WholeMemory
    from cairn.reading.views import LedgerFilter
    from cairn.rebuild.missing_keys import SealedFor
    from cairn.writing.ports import Subject

IDEMPOTENCY_LIFETIME = timedelta(hours=24)

_EDGE_QUERIES: Mapping[type, str] = {
    Edge: "node.insert_edges",
    EdgeClosure: "node.close_edges",
    EdgeStrength: "node.strengthen_edges",
}


_INSTANT = timedelta(microseconds=1)
"""The shortest time between two times of the ledger."""

SET = re.compile(r"^ .*?(\w+) = ", re.MULTILINE)
R = TypeVar("R")


class PostgresLedger(Store):
    """The chain of one workspace."""

    def head(self) -> Head:
        """Return where the chain ends."""
        factory = record(partial(Head, workspace_id=self.principal.workspace_id))
        (head,) = self.all_of(factory, "ledger.head")
        return head

    def append(self, entries: Sequence[Entry]) -> None:
        """Append sealed entries and move the head."""
        if not entries:
            return
        last = entries[-1]
        with self.connection.pipeline(), self.connection.cursor() as cursor:
            cursor.executemany(query("ledger.append"), [_entry_row(entry) for entry in entries])
            moved = self.run(
                "ledger.move_head",
                position=last.position,
                hash=last.hash,
                recorded_at=last.recorded_at,
                expected=entries[0].position - 1,
            )
        if moved.rowcount != 1:
            raise RuntimeError("the ledger head moved inside a writing transaction")

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        """Return up to `limit` entries above position `after`, of one type when given."""
        parameters = {"after": after, "limit": limit, "type": type_}
        return self.all_of(entries_of(self.principal.workspace_id), "ledger.page", **parameters)

    def newest(self, types: Collection[str], *, before: int, limit: int) -> list[Entry]:
        """Return up to `limit` entries of some types below a position, the newest first."""
        parameters = {"types": list(types), "before": before, "limit": limit}
        return self.all_of(entries_of(self.principal.workspace_id), "ledger.newest", **parameters)

    def listed(self, where: LedgerFilter, *, limit: int, after: int | None) -> list[Entry]:
        """Return up to `limit` entries as a list shows them, those past `after` in its order."""
        first, last = where.from_position - 1, MAX_INTEGER
        if where.recorded_from is not None:
            first = max(first, self.position_at(where.recorded_from - _INSTANT))
        if where.recorded_to is not None:
            last = self.position_at(where.recorded_to - _INSTANT) + 1
        if after is not None:
            if where.newest_first:
                last = min(last, after)
            else:
                first = max(first, after)
        return self.all_of(
            entries_of(self.principal.workspace_id),
            "ledger.listed_backwards" if where.newest_first else "ledger.listed",
            after=first,
            before=last,
            type=where.type,
            actor_id=where.actor_id,
            subject_id=where.subject_id,
            limit=limit,
        )

    def sealed_for(self) -> Sequence[SealedFor]:
        """Return everybody whose key a body needs and who was not forgotten, in order of ids."""
        from cairn.rebuild.missing_keys import SealedFor

        return self.all_of(record(SealedFor), "ledger.sealed_for")

    def trace_at(self, position: int) -> str | None:
        """Return the trace id of the entry at a position, if it is of a trace."""
        return self.value("ledger.trace_at", position=position)

    def position_at(self, moment: datetime) -> int:
        """Return the last position recorded at or before `moment`; 0 before the first."""
        return self.value("ledger.position_at", moment=moment)


class PostgresMemories(Store):
    """What planning a write reads."""

    def known(self, dedup_keys: Collection[str]) -> Mapping[str, tuple[KnownMemory, ...]]:
        """Return the active and superseded memories of each identity that has any."""
        factory = keyed(KnownMemory, "dedup_key")
        return _grouped(self.all_of(factory, "memory.known", dedup_keys=list(dedup_keys)))

    def links(self, places: Sequence[tuple[str, datetime]]) -> Mapping[str, tuple[Link, ...]]:
        """Return, by chain key, the links just before and just after each (chain key, moment).

        The one before holds at that moment or starts with it; the one after starts later.
        """
        keys, moments = [key for key, _ in places], [moment for _, moment in places]
        parameters = {"chain_keys": keys, "moments": moments}
        return _grouped(self.all_of(keyed(Link, "chain_key"), "memory.links", **parameters))

    def messages(self, session: Session, first: int, last: int) -> tuple[Message, ...]:
        """Return a session's messages from `first` to `last`, and some more on either side."""
        audience = session.audience
        messages = self.all_of(
            record(Message),
            "memory.messages",
            session_id=session.session_id,
            first=first,
            last=last,
            scope=audience.scope,
            agents=_list(audience.agents),
            data_subjects=list(audience.data_subjects),
        )
        return tuple(messages)

    def stated(self, message: EnrichableNode, limit: int = 200) -> list[Stated]:
        """Return what was drawn from what who wrote a message said before."""
        return self.all_of(
            record(Stated),
            "memory.stated",
            client_id=message.client_id,
            scope=message.scope,
            agents=_list(message.agents),
            data_subjects=list(message.data_subjects),
            conversation_id=message.parent_id,
            limit=limit,
        )

    def find(self, memory_id: UUID) -> StoredMemory | None:
        """Return a memory, deleted or not, that the principal's agent may see."""
        return self.first_of(record(_memory), "memory.find", id=memory_id)

    def whole(self, ids: Sequence[UUID]) -> Mapping[UUID, WholeMemory]:
        """Return all of those memories, deleted or not, that the principal's agent may see."""
        from cairn.memories.edit_plan import WholeMemory  # not for every function

        self.run("view.see_deleted")
        memories = self.all_of(record(WholeMemory), "memory.whole", ids=list(ids))
        return {memory.id: memory for memory in memories}

    def standing(
        self, dedup_key: str | None, chain_key: str | None, without: Collection[UUID]
    ) -> UUID | None:
        """Return the memory of this identity, or at the end of this chain, but for some."""
        parameters = {"dedup_key": dedup_key, "chain_key": chain_key, "without": list(without)}
        return self.value("memory.standing", **parameters)

    def state_before_deletion(self, memory_id: UUID) -> str | None:
        """Return the state a deleted memory had."""
        self.run("view.see_deleted")
        return self.value("memory.state_before_deletion", id=memory_id)

    def edges(self, ids: Collection[UUID]) -> list[dict[str, Any]]:
        """Return the edges of memories that are not derived of their texts."""
        return self.rows("memory.edges", ids=list(ids))

    def made_of(self, memory_id: UUID) -> list[dict[str, Any]]:
        """Return the summaries and the entities with truths made of a memory: `id`, `entity`."""
        return self.rows("memory.made_of", id=memory_id)


class PostgresNodes(Store):
    """The projections of nodes and edges; triggers keep their versions."""

    def apply(self, projections: Sequence[Projection]) -> None:
        """Apply rows in order, a run of one kind as one statement, as if one by one."""
        for group in groups(projections):
            self._apply(group)

    def _apply(self, projections: Sequence[Projection]) -> None:
        for run in runs(row for projection in projections for row in projection.nodes):
            for query_name, rows in _node_queries(run):
                self.run(query_name, rows=as_json(rows))
            marked = [row for row in run if _marks(row)]
            if marked:
                self.run("node.mark_versions", rows=as_json(marked))
        for run in runs(row for projection in projections for row in projection.edges):
            self.run(_EDGE_QUERIES[type(run[0])], rows=as_json(run))
        for removal in (removal for projection in projections for removal in projection.removals):
            self.run(
                "node.delete_document",
                document_id=removal.document_id,
                deleted_at=removal.deleted_at,
                position=removal.position,
            )
        aliases = [row for projection in projections for row in projection.aliases]
        if aliases:
            from cairn.adapters.postgres.memory.nodes import PostgresAliases

            PostgresAliases(self.connection, self.principal).apply(aliases)
        taints = [row for projection in projections for row in projection.taints]
        if taints:
            from cairn.adapters.postgres.ledger.taints import PostgresTaints

            PostgresTaints(self.connection, self.principal).apply(taints)
        purges = [row for projection in projections for row in projection.purges]
        if purges:
            self._purge(purges)

    def _purge(self, purges: Sequence[Purge]) -> None:
        from cairn.adapters.postgres.ledger.forgetting import PostgresPurge

        for purge in purges:
            PostgresPurge(self.connection, self.principal).apply(purge)


class PostgresSubjects(Store):
    """Natural keys and the random ids that stand for them."""

    def find(self, subjects: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], UUID]:
        """Return the ids of the (kind, natural key) pairs that are known."""
        kinds, names = [kind for kind, _ in subjects], [name for _, name in subjects]
        rows = self.rows("subject.find", kinds=kinds, natural_keys=names)
        return {(row["kind"], row["natural_key"]): row["id"] for row in rows}

    def add(self, subject: Subject, position: int) -> None:
        """Project a registered subject; a second time changes nothing."""
        self.write("subject.add", subject, position=position)

    def forgotten(self, subject_ids: Collection[UUID]) -> Collection[UUID]:
        """Return those of the subjects whose forgetting was begun."""
        return set(self.values("subject.forgotten", ids=list(subject_ids)))

    def barred(self, marks: Collection[bytes]) -> Collection[UUID]:
        """Return the subjects whose forgetting is under way, by the marks of their names."""
        return set(self.values("subject.barred", marks=list(marks)))


class PostgresOutbox(Store):
    """Work that follows a commit."""

    def add(self, row: OutboxRow, now: datetime) -> None:
        """Add a row that is about to be sent."""
        self.write("outbox.add", row, now=now)

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        return self.all_of(self._row_factory, "outbox.find", ids=list(ids))

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        return self.first_of(
            self._row_factory, "outbox.find_batch", reference=reference, batch=batch
        )

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        self.run("outbox.done", ids=list(ids))

    def unsent(self, ids: Collection[UUID]) -> None:
        """Mark rows whose message could not be sent: the next sweep takes them."""
        self.run("outbox.unsent", ids=list(ids))

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why the work of rows failed."""
        self.run("outbox.failed", ids=list(ids), error=error)

    @property
    def _row_factory(self) -> RowFactory[OutboxRow]:
        return record(partial(OutboxRow, workspace_id=self.principal.workspace_id))


class PostgresIdempotency(Store):
    """Answers by (workspace, principal, key), kept for 24 hours."""

    def find(self, key: str, now: datetime) -> StoredAnswer | None:
        """Return the answer given under this key within 24 hours."""
        return self.first_of(
            record(StoredAnswer),
            "idempotency.find",
            principal_id=self.principal.principal_id,
            key=key,
            since=now - IDEMPOTENCY_LIFETIME,
        )

    def save(self, key: str, answer: StoredAnswer, now: datetime) -> None:
        """Keep the answer in this transaction."""
        self.run(
            "idempotency.save",
            principal_id=self.principal.principal_id,
            key=key,
            since=now - IDEMPOTENCY_LIFETIME,
            body_hash=answer.body_hash,
            status=answer.status,
            answer=Jsonb(dict(answer.answer)),
            now=now,
        )


def entries_of(workspace_id: UUID) -> RowFactory[Entry]:
    """Return what makes entries of rows such as those of `ledger.page`."""

    def entry(*, actor_kind: str, actor_id: str, body: bytes, **row: Any) -> Entry:
        return Entry(
            workspace_id=workspace_id,
            actor=Actor(kind=ActorKind(actor_kind), id=actor_id),
            body=body,
            body_hash=sha256(body),
            **row,
        )

    return record(entry)


def _entry_row(entry: Entry) -> dict[str, Any]:
    return {
        "workspace_id": entry.workspace_id,
        "position": entry.position,
        "id": entry.id,
        "type": entry.type,
        "actor_kind": entry.actor.kind.value,
        "actor_id": entry.actor.id,
        "session_id": entry.session_id,
        "trace_id": entry.trace_id,
        "parent_id": entry.parent_id,
        "data_subjects": list(entry.data_subjects),
        "occurred_at": entry.occurred_at,
        "recorded_at": entry.recorded_at,
        "meta": entry.meta_text,
        "body": entry.body,
        "prev_hash": entry.prev_hash,
        "hash": entry.hash,
    }


def _memory(*, scope: str, agents: tuple[str, ...] | None, **row: Any) -> StoredMemory:
    audience = Audience(scope=scope, agents=agents, data_subjects=row["data_subjects"])
    session_id, sequence = row.pop("session_id"), row["sequence"]
    session = None
    if session_id is not None and sequence is not None:
        session = Session(session_id=session_id, audience=audience)
    return StoredMemory(session=session, **row)


def _grouped(pairs: Sequence[tuple[str, R]]) -> dict[str, tuple[R, ...]]:
    groups: dict[str, tuple[R, ...]] = {}
    for key, each in pairs:
        groups[key] = (*groups.get(key, ()), each)
    return groups


def _list(values: tuple[str, ...] | None) -> list[str] | None:
    return list(values) if values is not None else None


def _node_queries(rows: Sequence[Record]) -> list[tuple[str, Sequence[Record]]]:
    """Return the statements of a run: changes that leave texts alone need not index them again.

    A run names a row once, so the others may come first: what is replaced then has given way.
    """
    if isinstance(rows[0], Node):
        return [("node.insert", rows)]
    describing = [row for row in rows if _only_describes(row)]
    changing = [row for row in rows if not _only_describes(row)]
    queries = [("node.change", changing), ("node.describe", describing)]
    return [(name, part) for name, part in queries if part]


def _marks(row: Record) -> bool:
    if not isinstance(row, NodeChange):
        return False
    return row.never_recall is not None or row.expires_at is not None


def _only_describes(row: Record) -> bool:
    if not isinstance(row, NodeChange):
        return False
    return not row.revive and all(value is None for value in _changing()(row))


@cache
def _changing() -> attrgetter[Any]:
    """Return what reads the values that a node would have to be indexed again for.

    They are what `node.describe` does not set.
    """
    described = set(SET.findall(query("node.describe").decode()))
    unchanged = {"workspace_id", "id", "revive", *described}
    return attrgetter(*(field.name for field in fields(NodeChange) if field.name not in unchanged))
