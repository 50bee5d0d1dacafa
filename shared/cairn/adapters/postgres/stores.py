"""The stores of one transaction. Thin: each method is one named query and its mapping."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.grouping import groups
from cairn.adapters.postgres.rows import Record, as_json, runs
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.graph.edge import Edge, EdgeClosure, EdgeStrength
from cairn.graph.node import Node, NodeChange
from cairn.kernel.text.hashes import sha256
from cairn.ledger.entry import Actor, ActorKind, Entry, Head
from cairn.memories.identity import Link, Message
from cairn.memories.ports import Session, StoredMemory
from cairn.writing.audience import Audience
from cairn.writing.corroboration import Known
from cairn.writing.ports import OutboxRow, StoredAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.projection import Projection, Purge
    from cairn.rebuild.missing_keys import SealedFor
    from cairn.writing.ports import Subject

IDEMPOTENCY_LIFETIME = timedelta(hours=24)

_EDGE_QUERIES: Mapping[type, str] = {
    Edge: "node.insert_edges",
    EdgeClosure: "node.close_edges",
    EdgeStrength: "node.strengthen_edges",
}

_DESCRIBING = {
    "keywords",
    "importance",
    "consolidated",
    "knowledge_category",
    "metadata",
    "summary",
}
_CHANGING = attrgetter(
    *(
        one.name
        for one in fields(NodeChange)
        if one.name not in {"workspace_id", "id", "position", "revive", *_DESCRIBING}
    )
)
"""What a node would have to be indexed again for, or its guards changed."""


class PostgresLedger(Store):
    """The chain of one workspace."""

    def head(self) -> Head:
        """Return where the chain ends."""
        position, hash_, recorded_at = self.run("ledger.head").fetchone() or _missing()
        return Head(
            workspace_id=self.principal.workspace_id,
            position=position,
            hash=hash_,
            recorded_at=recorded_at,
        )

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
        rows = self.run("ledger.page", after=after, limit=limit, type=type_)
        return [ledger_entry(self.principal.workspace_id, row) for row in rows]

    def sealed_for(self) -> Sequence[SealedFor]:
        """Return everybody whose key a body needs and who was not forgotten, in order of ids."""
        from cairn.rebuild.missing_keys import SealedFor

        return [
            SealedFor(subject_id=subject_id, entries=entries, first_position=first)
            for subject_id, entries, first in self.run("ledger.sealed_for")
        ]

    def trace_at(self, position: int) -> str | None:
        """Return the trace id of the entry at a position, if it is of a trace."""
        row = self.run("ledger.trace_at", position=position).fetchone()
        return row[0] if row else None

    def position_at(self, moment: datetime) -> int:
        """Return the last position recorded at or before `moment`; 0 before the first."""
        return (self.run("ledger.position_at", moment=moment).fetchone() or _missing())[0]


class PostgresMemories(Store):
    """What planning a write reads."""

    def known(self, dedup_keys: Collection[str]) -> Mapping[str, tuple[Known, ...]]:
        """Return the active and superseded memories of each identity that has any."""
        found: dict[str, tuple[Known, ...]] = {}
        rows = self.run("memory.known", dedup_keys=list(dedup_keys))
        for key, node_id, position, observed_by, valid_from, active in rows:
            known = Known(
                id=node_id,
                position=position,
                observed_by=tuple(observed_by),
                valid_from=valid_from,
                active=active,
            )
            found[key] = (*found.get(key, ()), known)
        return found

    def links(self, places: Sequence[tuple[str, datetime]]) -> Mapping[str, tuple[Link, ...]]:
        """Return the links around each (chain key, moment), by chain key."""
        found: dict[str, tuple[Link, ...]] = {}
        keys, moments = [key for key, _ in places], [moment for _, moment in places]
        rows = self.run("memory.links", chain_keys=keys, moments=moments)
        for key, node_id, valid_from, valid_to, position in rows:
            link = Link(id=node_id, valid_from=valid_from, valid_to=valid_to, position=position)
            found[key] = (*found.get(key, ()), link)
        return found

    def messages(self, session: Session, first: int, last: int) -> tuple[Message, ...]:
        """Return a session's messages from `first` to `last`, and some more on either side."""
        audience = session.audience
        rows = self.run(
            "memory.messages",
            session_id=session.session_id,
            first=first,
            last=last,
            scope=audience.scope,
            agents=_list(audience.agents),
            data_subjects=list(audience.data_subjects),
        )
        return tuple(Message(id=one, sequence=sequence, text=text) for one, sequence, text in rows)

    def find(self, memory_id: UUID) -> StoredMemory | None:
        """Return a memory, deleted or not, that the principal's agent may see."""
        row = self.run("memory.find", id=memory_id).fetchone()
        if row is None:
            return None
        node_id, position, deleted, subjects, session_id, sequence, scope, agents, text = row
        audience = Audience(scope=scope, agents=_tuple(agents), data_subjects=tuple(subjects))
        return StoredMemory(
            id=node_id,
            position=position,
            deleted=deleted,
            data_subjects=tuple(subjects),
            session=_session(session_id, sequence, audience),
            sequence=sequence,
            text=text,
        )


class PostgresNodes(Store):
    """The projections of nodes and edges; triggers keep their versions."""

    def apply(self, projections: Sequence[Projection]) -> None:
        """Apply rows in order, a run of one kind as one statement, as if one by one."""
        for group in groups(projections):
            self._apply(group)

    def _apply(self, projections: Sequence[Projection]) -> None:
        for run in runs(row for one in projections for row in one.nodes):
            for query_name, rows in _node_queries(run):
                self.run(query_name, rows=as_json(rows))
        for run in runs(row for one in projections for row in one.edges):
            self.run(_EDGE_QUERIES[type(run[0])], rows=as_json(run))
        for removal in (one for projection in projections for one in projection.removals):
            self.run(
                "node.delete_document",
                document_id=removal.document_id,
                deleted_at=removal.deleted_at,
                position=removal.position,
            )
        aliases = [row for one in projections for row in one.aliases]
        if aliases:
            from cairn.adapters.postgres.memory.nodes import PostgresAliases

            PostgresAliases(self.connection, self.principal).apply(aliases)
        taints = [row for one in projections for row in one.taints]
        if taints:
            from cairn.adapters.postgres.ledger.taints import PostgresTaints

            PostgresTaints(self.connection, self.principal).apply(taints)
        purges = [row for one in projections for row in one.purges]
        if purges:
            self._purge(purges)

    def _purge(self, purges: Sequence[Purge]) -> None:
        from cairn.adapters.postgres.ledger.purging import PostgresPurge

        for purge in purges:
            PostgresPurge(self.connection, self.principal).apply(purge)


class PostgresSubjects(Store):
    """Natural keys and the random ids that stand for them."""

    def find(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], UUID]:
        """Return the ids of the (kind, natural key) pairs that are known."""
        kinds, names = [kind for kind, _ in wanted], [name for _, name in wanted]
        rows = self.run("subject.find", kinds=kinds, natural_keys=names)
        return {(kind, name): subject_id for kind, name, subject_id in rows}

    def add(self, subject: Subject, position: int) -> None:
        """Project a registered subject; a second time changes nothing."""
        self.run(
            "subject.add",
            id=subject.id,
            kind=subject.kind,
            natural_key=subject.natural_key,
            position=position,
        )

    def forgotten(self, subject_ids: Collection[UUID]) -> Collection[UUID]:
        """Return those of the subjects whose forgetting was begun."""
        return {one for (one,) in self.run("subject.forgotten", ids=list(subject_ids))}

    def barred(self, marks: Collection[bytes]) -> Collection[UUID]:
        """Return the subjects whose forgetting is under way, by the marks of their names."""
        return {one for (one,) in self.run("subject.barred", marks=list(marks))}


class PostgresOutbox(Store):
    """Work that follows a commit."""

    def add(self, row: OutboxRow, now: datetime) -> None:
        """Add a row that is about to be sent."""
        self.run(
            "outbox.add",
            id=row.id,
            topic=row.topic,
            node_ids=list(row.node_ids),
            reference=row.reference,
            position=row.position,
            batch=row.batch,
            now=now,
        )

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        return [self._row(row) for row in self.run("outbox.find", ids=list(ids))]

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        row = self.run("outbox.find_batch", reference=reference, batch=batch).fetchone()
        return self._row(row) if row else None

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        self.run("outbox.done", ids=list(ids))

    def unsent(self, ids: Collection[UUID]) -> None:
        """Mark rows whose message could not be sent: the next sweep takes them."""
        self.run("outbox.unsent", ids=list(ids))

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why the work of rows failed."""
        self.run("outbox.failed", ids=list(ids), error=error)

    def _row(self, row: Sequence[Any]) -> OutboxRow:
        row_id, topic, node_ids, reference, position, batch = row
        return OutboxRow(
            workspace_id=self.principal.workspace_id,
            id=row_id,
            topic=topic,
            position=position,
            node_ids=tuple(node_ids),
            reference=reference,
            batch=batch,
        )


class PostgresIdempotency(Store):
    """Answers by (workspace, principal, key), kept for 24 hours."""

    def find(self, key: str, now: datetime) -> StoredAnswer | None:
        """Return the answer given under this key within 24 hours."""
        row = self.run(
            "idempotency.find",
            principal_id=self.principal.principal_id,
            key=key,
            since=now - IDEMPOTENCY_LIFETIME,
        ).fetchone()
        return StoredAnswer(body_hash=row[0], status=row[1], answer=row[2]) if row else None

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


def ledger_entry(workspace_id: UUID, row: Sequence[Any]) -> Entry:
    """Return the entry that a row of `ledger.page` is."""
    (
        position,
        entry_id,
        type_,
        actor_kind,
        actor_id,
        session_id,
        trace_id,
        parent_id,
        subjects,
        occurred_at,
        recorded_at,
        meta,
        body,
        prev_hash,
        hash_,
    ) = row
    return Entry(
        id=entry_id,
        workspace_id=workspace_id,
        position=position,
        type=type_,
        actor=Actor(kind=ActorKind(actor_kind), id=actor_id),
        occurred_at=occurred_at,
        recorded_at=recorded_at,
        data_subjects=tuple(subjects),
        meta_text=meta,
        body=body,
        body_hash=sha256(body),
        session_id=session_id,
        trace_id=trace_id,
        parent_id=parent_id,
        prev_hash=prev_hash,
        hash=hash_,
    )


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


def _session(session_id: str | None, sequence: int | None, audience: Audience) -> Session | None:
    if session_id is None or sequence is None:
        return None
    return Session(session_id=session_id, audience=audience)


def _list(values: tuple[str, ...] | None) -> list[str] | None:
    return list(values) if values is not None else None


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values is not None else None


def _node_queries(rows: Sequence[Record]) -> list[tuple[str, Sequence[Record]]]:
    """Return the statements of a run: changes that leave texts alone need not index them again.

    A run names a row once, so the others may come first: what is replaced then has given way.
    """
    if isinstance(rows[0], Node):
        return [("node.insert", rows)]
    describing = [row for row in rows if _only_describes(row)]
    changing = [row for row in rows if not _only_describes(row)]
    found = [("node.change", changing), ("node.describe", describing)]
    return [(name, part) for name, part in found if part]


def _only_describes(row: Record) -> bool:
    if not isinstance(row, NodeChange):
        return False
    return not row.revive and all(value is None for value in _CHANGING(row))


def _missing() -> Any:
    raise RuntimeError("a row that always exists is missing")
