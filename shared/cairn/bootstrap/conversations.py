"""What the API needs of conversations, reports and subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.memory.conversations import PostgresOneConversation
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.services import (
    ConversationServices,
    ReportServices,
    SubscriptionServices,
    TaskServices,
)
from cairn.conversations.read import BrowseConversations
from cairn.conversations.record import BindKey, RecordMessage
from cairn.conversations.search import SearchConversations
from cairn.kernel.clock import monotonic
from cairn.recall.subscriptions import Subscriptions
from cairn.reports.read import BrowseReports
from cairn.reports.write import WriteReport
from cairn.tasks.work import Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.memories.remember import Remember
    from cairn.recall.recall import Recall


def conversation_services(
    opened: Database, remember: Remember, recalled: Recall
) -> ConversationServices:
    """Build them beside `remember`; the search has the legs of `recalled`."""
    transactions = StoreTransactions(opened)
    reads = StoreTransactions(opened)
    browse = BrowseConversations(transactions=reads)
    legs = recalled.legs
    return ConversationServices(
        record=RecordMessage(
            transactions=transactions,
            resolver=remember.resolver,
            cipher=remember.cipher,
            dispatcher=remember.dispatcher,
            clock=remember.clock,
            new_id=remember.new_id,
        ),
        bind_key=BindKey(transactions=transactions, clock=remember.clock, new_id=remember.new_id),
        page=browse.list,
        get=browse.get,
        search=SearchConversations(
            embedder=legs.embedder,
            vector_leg=legs.vector,
            keyword_leg=legs.keyword,
            one=lambda conversation_id: PostgresOneConversation(opened, conversation_id),
            transactions=reads,
            pool=legs.pool,
            clock=remember.clock,
            stopwatch=monotonic,
        ),
    )


def report_services(opened: Database, remember: Remember, log: Logger) -> ReportServices:
    """Build them beside `remember`; each operation is one line of the log."""
    say = _info(log)
    browse = BrowseReports(transactions=StoreTransactions(opened), stopwatch=monotonic, log=say)
    return ReportServices(
        write=WriteReport(
            transactions=StoreTransactions(opened),
            resolver=remember.resolver,
            cipher=remember.cipher,
            dispatcher=remember.dispatcher,
            clock=remember.clock,
            stopwatch=monotonic,
            new_id=remember.new_id,
            log=say,
        ),
        latest=browse.latest,
        page=browse.list,
    )


def subscription_services(opened: Database, remember: Remember) -> SubscriptionServices:
    """Build them beside `remember`."""
    subscriptions = Subscriptions(
        transactions=StoreTransactions(opened),
        resolver=remember.resolver,
        cipher=remember.cipher,
        clock=remember.clock,
        new_id=remember.new_id,
    )
    return SubscriptionServices(
        get=subscriptions.get, put=subscriptions.put, clear=subscriptions.clear
    )


def task_services(remember: Remember, transactions: StoreTransactions, log: Logger) -> TaskServices:
    """Build them beside `remember`; each step is one line of the log."""
    tasks = Tasks(
        transactions=transactions,
        resolver=remember.resolver,
        cipher=remember.cipher,
        dispatcher=remember.dispatcher,
        clock=remember.clock,
        new_id=remember.new_id,
        log=_info(log),
    )
    return TaskServices(start=tasks.start, step=tasks.step, end=tasks.end)


def _info(log: Logger) -> Callable[[str, Mapping[str, Any]], None]:
    def say(event: str, fields: Mapping[str, Any]) -> None:
        log.info(event, extra=dict(fields))

    return say
