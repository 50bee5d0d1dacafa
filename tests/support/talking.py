"""Conversations, reports and subscriptions around a workspace, for tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.fakes.keys import InMemoryKeyStore
from tests.support.platform import platform_of
from tests.support.world import MORNING, Sent

from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel, MessageRole, NewMessage
from cairn.conversations.read import BrowseConversations
from cairn.conversations.record import BindKey, MessageRecorded, RecordMessage
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.ids import new_id
from cairn.recall.subscriptions import Subscriptions
from cairn.reports.read import BrowseReports
from cairn.reports.write import NewReport, ReportWritten, WriteReport


@dataclass
class Talking:
    """The use cases over any stores; `transactions` has what all of them need."""

    transactions: Any
    admin: Principal
    keys: InMemoryKeyStore = field(default_factory=InMemoryKeyStore)
    sent: Sent = field(default_factory=Sent)
    logged: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    now: datetime = MORNING

    def __post_init__(self) -> None:
        platform = platform_of(
            self.transactions,
            keys=self.keys,
            dispatcher=self.sent,
            clock=lambda: self.now,
            log=self._log,
        )
        self.record = RecordMessage(platform)
        self.subscriptions = Subscriptions(platform)
        self.bind = BindKey(platform_of(self.transactions, clock=lambda: self.now))
        self.write_report = WriteReport(platform)

    def _log(self, event: str, fields: Mapping[str, Any]) -> None:
        self.logged.append({"event": event, **fields})

    def say(self, text: str, principal: Principal | None = None, **changes: Any) -> MessageRecorded:
        """A user's message in web chat session `s1`, unless changed."""
        return self.record(principal or self.admin, message(text, **changes))

    def report(
        self, title: str, principal: Principal | None = None, **changes: Any
    ) -> ReportWritten:
        """A report at nine in the morning, unless changed."""
        given: dict[str, Any] = {"body": f"All of {title}.", "occurred_at": MORNING} | changes
        return self.write_report(principal or self.admin, NewReport(title=title, **given))

    def later(self, **passed: float) -> None:
        """Let the clock go on."""
        self.now += timedelta(**passed)


@dataclass
class PostgresTalking(Talking):
    """The same over a database, with what reads it."""

    pool: Database | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.pool is not None
        self.browse = BrowseConversations(transactions=StoreTransactions(self.pool))
        self.reports = BrowseReports(
            transactions=StoreTransactions(self.pool),
            stopwatch=lambda: 0.0,
            log=self._log,
        )


def talking_in(pool: Database, admin: Principal, **changes: Any) -> PostgresTalking:
    """The use cases over a database."""
    return PostgresTalking(transactions=StoreTransactions(pool), admin=admin, pool=pool, **changes)


def message(text: str, **changes: Any) -> NewMessage:
    """A user's message in web chat session `s1`, unless changed."""
    given: dict[str, Any] = {
        "channel": Channel.WEBCHAT,
        "session_id": "s1",
        "role": MessageRole.USER,
    }
    return NewMessage(text=text, **(given | changes))


def public_of(admin: Principal, **changes: Any) -> Principal:
    """A public key's principal for the agent `bot`."""
    given: dict[str, Any] = {
        "role": Role.PUBLIC,
        "allowed_scopes": frozenset({Scope.PUBLIC}),
        "agent_slug": "bot",
        "key_id": new_id(),
        "name": "visitor",
    }
    return Principal(workspace_id=admin.workspace_id, principal_id=new_id(), **(given | changes))
