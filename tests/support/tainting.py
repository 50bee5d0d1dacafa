"""Taints over any stores, and short ways to plant what they reach and to look at the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from psycopg import sql
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, fact

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Node, State
from cairn.graph.projection import Projection, TaintKind
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.ledger.entry import Actor, ActorKind, NewEntry
from cairn.taint.taint import NewTaint, Taints
from cairn.writing.append import append
from cairn.writing.entries import Planned

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.memories.items import MemoryOutcome
    from cairn.taint.taint import Tainted


@dataclass
class Tainting:
    """A workspace somebody may taint."""

    system: Remembering

    def __post_init__(self) -> None:
        self.taints = Taints(
            platform=platform_of(
                self.system.transactions,
                keys=self.system.keys,
                dispatcher=self.system.sent,
                clock=self.system.remember.platform.clock,
            )
        )
        self.admin = self.system.principal

    def tell(self, text: str, agent: str = "scout", **changes: Any) -> UUID:
        """Remember one fact of an agent and return its id."""
        told = self.outcome(text, agent, **changes)
        assert told.id is not None
        return told.id

    def outcome(self, text: str, agent: str = "scout", **changes: Any) -> MemoryOutcome:
        """Remember one fact of an agent and return what became of it."""
        return self.system.tell_one(fact(text, source_agent=agent, **changes))

    def taint(self, kind: str, what: Any, **changes: Any) -> Tainted:
        """Taint something."""
        node = what if kind == "node" else None
        new = NewTaint(
            kind=TaintKind(kind),
            value=None if kind == "node" else what,
            node_id=node,
            reason="forged",
            causes=changes.pop("causes", False),
        )
        return self.taints.apply(self.admin, new, **changes)

    def taint_id(self, kind: str, what: Any, **changes: Any) -> UUID:
        """Taint something and return the taint's id."""
        told = self.taint(kind, what, **changes)
        assert told.taint_id is not None
        return told.taint_id

    def lift(self, taint_id: UUID) -> int:
        """Lift a taint and return how many nodes came back."""
        return self.taints.lift(self.admin, taint_id).restored

    def node(self, node_id: UUID) -> dict[str, Any]:
        """Return the columns of a node as they stand."""
        columns = ("state", "superseded_by", "valid_to", "compiled_truth", "position")
        select = sql.SQL("SELECT {} FROM node WHERE workspace_id = %s AND id = %s").format(
            sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        with self.system.transactions.reading(system_principal(self.admin.workspace_id)) as stores:
            row = stores.connection.execute(select, (self.admin.workspace_id, node_id)).fetchone()
            return dict(zip(columns, row, strict=True))

    def states(self, *node_ids: UUID) -> list[str]:
        """Return the states of nodes."""
        return [str(self.node(id_)["state"]) for id_ in node_ids]

    def link(self, relation: Relation, source: UUID, target: UUID) -> None:
        """Plant an edge."""
        view = View.CAUSAL if relation is Relation.CAUSED_BY else View.PROVENANCE
        with self.system.transactions.writing(self.admin) as stores:
            edge = Edge(
                workspace_id=self.admin.workspace_id,
                id=new_id(),
                view=view,
                relation=relation,
                source_id=source,
                target_id=target,
                valid_from=NOON,
                recorded_at=NOON,
                position=stores.ledger.head().position,
            )
            stores.nodes.apply([Projection(edges=(edge,))])

    def plant(self, label: str, text: str, **changes: Any) -> UUID:
        """Plant a node that no use case here makes."""
        with self.system.transactions.writing(self.admin) as stores:
            node = Node(
                workspace_id=self.admin.workspace_id,
                id=new_id(),
                label=label,
                text=text,
                content_hash=text,
                data_subjects=(),
                state=State.ACTIVE,
                occurred_at=NOON,
                valid_from=NOON,
                recorded_at=NOON,
                entry_id=new_id(),
                position=stores.ledger.head().position,
                **changes,
            )
            stores.nodes.apply([Projection(nodes=(node,))])
        return node.id

    def act(self, *evidence: Any) -> int:
        """Plant an executed action on some evidence and return its position."""
        entry = NewEntry(
            id=new_id(),
            workspace_id=self.admin.workspace_id,
            type="action.applied",
            actor=Actor(kind=ActorKind.AGENT, id="a"),
            occurred_at=NOON + timedelta(days=1),
            meta={"evidence_ids": [str(item) for item in evidence], "tool": "mail"},
        )
        planned = [Planned(entry=entry, body={})]
        with self.system.transactions.writing(self.admin) as stores:
            return append(stores, planned, NOON, new_id).entries[-1].position
