"""The remember use case over any stores, with a clock that ticks a second a call."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from tests.fakes.keys import InMemoryKeyStore
from tests.fakes.stores import InMemoryTransactions
from tests.support.platform import platform_of

from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.ids import new_id
from cairn.ledger.keys import KeyStore
from cairn.memories.items import MemoryOutcome, NewMemory
from cairn.memories.kinds import MemoryKind
from cairn.memories.remember import Remember
from cairn.writing.ports import OutboxRow

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Sent:
    """A dispatcher that keeps what it was given."""

    rows: list[OutboxRow] = field(default_factory=list)

    def send(self, rows: Iterable[OutboxRow]) -> None:
        self.rows.extend(rows)


@dataclass
class Remembering:
    """Remember with everything around it; `stores` may be read through `transactions`."""

    transactions: Any
    principal: Principal
    sent: Sent = field(default_factory=Sent)
    keys: KeyStore = field(default_factory=InMemoryKeyStore)

    def __post_init__(self) -> None:
        seconds = count()
        self.remember = Remember(
            platform_of(
                self.transactions,
                keys=self.keys,
                dispatcher=self.sent,
                clock=lambda: NOON + timedelta(seconds=next(seconds)),
            )
        )

    def tell(self, *memories: NewMemory, **options: Any) -> tuple[MemoryOutcome, ...]:
        """Remember a batch and return its outcomes."""
        return self.remember(self.principal, memories, **options).outcomes

    def tell_one(self, memory: NewMemory) -> MemoryOutcome:
        """Remember one memory."""
        return self.tell(memory)[0]


def in_memory() -> Remembering:
    """Remembering over the in-memory stores, in a new workspace."""
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    return Remembering(transactions=transactions, principal=principal)


def admin_of(workspace_id: UUID) -> Principal:
    """An admin of the workspace."""
    return Principal(
        workspace_id=workspace_id,
        principal_id=new_id(),
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name="admin",
    )


def fact(text: str, **changes: Any) -> NewMemory:
    """A fact about everybody, without a key, unless changed."""
    given = {
        "type": MemoryKind.FACT,
        "client_id": "global",
        "importance": 5,
        "scope": Scope.ADMIN,
    }
    return NewMemory(text=text, **(given | changes))
