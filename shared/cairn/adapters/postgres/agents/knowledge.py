"""Snapshots of what agents are given, in PostgreSQL: ids, read as their reader may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import scalar_row

from cairn.adapters.postgres.memory.recall import matches
from cairn.adapters.postgres.memory.subscriptions import BY_SUBSCRIPTION
from cairn.adapters.postgres.store import Store, record
from cairn.recall.records import Filters
from cairn.recall.subscriptions import KeywordMatch, scored
from cairn.sessions.knowledge import LEFT_OUT, KnownNode, Snapshot
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresKnowledge(Store):
    """The snapshots of the transaction's workspace."""

    def choose(self, agent: str, subscribed: Collection[UUID], limit: int) -> Sequence[UUID]:
        """Return what a snapshot of an agent would hold, the most important first."""
        parameters = {"agent": agent, "subscribed": list(subscribed), "limit": limit}
        return self.all_of(scalar_row, "knowledge.choose", left_out=list(LEFT_OUT), **parameters)

    def subscribed(self, keywords: Collection[str], limit: int) -> Sequence[UUID]:
        """Return what the subscription of the principal's agent finds."""
        if not keywords:
            return ()
        parameters = {"keywords": list(keywords), "limit": limit}
        filters = Filters(client_id=GLOBAL_CLIENT)
        rows = matches(self.connection, BY_SUBSCRIPTION, parameters, filters)
        best = scored((KeywordMatch(*row) for row in rows), limit=limit)
        return [each.node_id for each in best]

    def read(self, ids: Collection[UUID]) -> Sequence[KnownNode]:
        """Return what the principal may see of these, in their order."""
        return self.all_of(record(KnownNode), "knowledge.read", ids=list(ids))

    def find(self, agent: str, version: int | None = None) -> Snapshot | None:
        """Return one version of an agent's snapshot, the newest without a number."""
        where = {"agent": agent, "version": version}
        return self.first_of(record(Snapshot), "knowledge.newest", **where)

    def unchecked(self, since: datetime) -> Sequence[Snapshot]:
        """Return the newest snapshot of each agent that was not compared since."""
        return self.all_of(record(Snapshot), "knowledge.unchecked", since=since)

    def add(self, snapshot: Snapshot) -> None:
        """Keep a new version."""
        self.write("knowledge.add", snapshot, checked_at=snapshot.baked_at)

    def checked(self, snapshot: Snapshot, now: datetime) -> None:
        """Keep that a version was compared."""
        which = {"agent": snapshot.agent, "version": snapshot.version}
        self.run("knowledge.checked", now=now, **which)

    def prune(self, agent: str, version: int) -> None:
        """Drop an agent's versions up to one."""
        self.run("knowledge.prune", agent=agent, version=version)
