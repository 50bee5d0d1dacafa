"""The observe use case over any stores, and events as callers send them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.support.remembering import NOON, Remembering

from cairn.access import Scope
from cairn.graph.edge import Edge
from cairn.ids import new_id
from cairn.ingestion.event_draft import EventOutcome, NewEvent
from cairn.ingestion.observe import Observe
from cairn.ledger.keys import BodyCipher


@dataclass
class Observing:
    """Observe beside the remembering it shares stores, keys and clock with."""

    system: Remembering

    def __post_init__(self) -> None:
        remember = self.system.remember
        self.observe = Observe(
            transactions=self.system.transactions,
            resolver=remember.resolver,
            cipher=BodyCipher(),
            dispatcher=self.system.sent,
            clock=remember.clock,
            new_id=new_id,
        )

    def see(self, *events: NewEvent, **options: Any) -> tuple[EventOutcome, ...]:
        """Observe a batch and return its outcomes."""
        return self.observe(self.system.principal, events, **options).outcomes

    def see_one(self, event: NewEvent) -> UUID:
        """Observe one event and return its id."""
        (outcome,) = self.see(event)
        assert outcome.id is not None, outcome
        return outcome.id


def event(type: str = "tool.execute", *, at: float = 0, **changes: Any) -> NewEvent:
    """An event of session `s`, `at` seconds past noon, unless changed."""
    given: dict[str, Any] = {
        "client_id": "global",
        "scope": Scope.ADMIN,
        "occurred_at": NOON + timedelta(seconds=at),
        "session_id": "s",
    }
    return NewEvent(type=type, **(given | changes))


def ends(edges: Any, relation: str) -> set[tuple[UUID, UUID]]:
    """The (source, target) pairs of the edges of one relation."""
    return {
        (e.source_id, e.target_id) for e in edges if isinstance(e, Edge) and e.relation == relation
    }
