"""Summaries: of documents while they are ingested, and of what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.ledger.keys import KeyStore
    from cairn.llm.gateway import Gateway
    from cairn.llm.port import ChatAnswer, ChatRequest
    from cairn.summaries.texts import Ask
    from cairn.summaries.write import SummariseWorkspace
    from cairn.writing.ports import Dispatcher

SUMMARY_SECONDS = 240.0


def summariser() -> Callable[[str, str], str]:
    """Return (text, level) -> summary; one budget of seconds for each document."""

    def summarised(text: str, level: str) -> str:
        from cairn.llm.budget import Budget, Limits  # loaded with the first document
        from cairn.llm.summaries import Level, Rules, summarise

        budget = Budget(Limits(seconds=SUMMARY_SECONDS), stopwatch=monotonic)
        return summarise(Rules(), text, Level(level), budget).text

    return summarised


def summarise_workspace(
    opened: Database, *, keys: KeyStore, dispatcher: Dispatcher, models: Gateway | None
) -> SummariseWorkspace:
    """Return what keeps a workspace's summaries, by a model where there is one, else by rules."""
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.summaries.append import SummaryWriting
    from cairn.summaries.texts import ByModel, ByRules
    from cairn.summaries.write import SummariseWorkspace

    transactions = StoreTransactions(opened)
    model = ByModel(ask=asking(models)) if models else None
    return SummariseWorkspace(
        transactions=transactions,
        writing=SummaryWriting(
            transactions=transactions,
            keys=keys,
            cipher=BodyCipher(),
            dispatcher=dispatcher,
            clock=utc_now,
            new_id=new_id,
        ),
        condense=model or ByRules(),
        stopwatch=monotonic,
        describe=model.asked if model else None,
    )


def asking(models: Gateway) -> Ask:
    """Return what asks a model on a workspace's and a run's account."""
    from cairn.llm.costs import Call

    def ask(request: ChatRequest, workspace_id: UUID, run_id: UUID | None) -> ChatAnswer:
        return models.chat(request, Call(workspace_id=workspace_id, run_id=run_id))

    return ask
