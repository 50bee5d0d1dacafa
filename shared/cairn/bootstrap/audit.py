"""What the audit function needs: outcomes of machines, verification, the sweep of the outbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from cairn.bootstrap.dispatching import dispatcher, machines_of, queues_of
from cairn.bootstrap.forgetting import forget_use_case
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.parts import database, key_store
from cairn.bootstrap.search_index import endpoint, keep_search_index
from cairn.bootstrap.signing import signing_key
from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.ingestion.finish_ingestion import FinishIngestion
from cairn.lifecycle.anchors import WriteAnchors
from cairn.lifecycle.count_accesses import CountAccesses
from cairn.lifecycle.forget import FinishForgettings
from cairn.lifecycle.sweep import KeepForDays, Sweep
from cairn.lifecycle.verify_chains import VerifyChains
from cairn.settings import AuditSettings
from cairn.storage.aws.anchors import S3Anchors
from cairn.storage.postgres.access_log import DropSearchRuns, PostgresAccessStores
from cairn.storage.postgres.conversations import DropExpiredMessages
from cairn.storage.postgres.store_transactions import StoreTransactions
from cairn.storage.postgres.stores import PostgresStores
from cairn.storage.postgres.sweeping import ListWorkspaces
from cairn.storage.postgres.views import browse_transactions
from cairn.storage.postgres.webhooks import DropDeliveries

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.lifecycle.search_index import KeepSearchIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditServices:
    """The audit function's use cases."""

    finish: FinishIngestion
    verify: VerifyChains
    count_accesses: CountAccesses
    sweep: Sweep
    search_index: KeepSearchIndex | None
    log: Logger


def audit_services() -> AuditServices:
    """Build them from the environment; nothing connects yet."""
    settings = AuditSettings.read()
    log = logger("audit", settings.log_level)
    opened = database(settings)
    transactions = StoreTransactions(opened, PostgresStores)
    index = endpoint(settings)
    key = signing_key(settings)
    sender = dispatcher(queues_of(settings), machines_of(settings), opened, transactions, warn(log))
    kept = partial(
        KeepForDays,
        age=timedelta(days=settings.search_run_days),
        clock=utc_now,
        stopwatch=monotonic,
    )
    return AuditServices(
        finish=FinishIngestion(transactions=transactions, clock=utc_now, new_id=new_id),
        verify=VerifyChains(
            workspaces=ListWorkspaces(opened),
            transactions=browse_transactions(opened),
            anchors=WriteAnchors(
                store=S3Anchors(settings.anchor_bucket), signer=key, verifier=key, clock=utc_now
            ),
            report=warn(log),
        ),
        sweep=Sweep(
            send=sender.sweep,
            expire=DropExpiredMessages(opened, utc_now),
            forget=kept(drop=DropSearchRuns(opened)),
            deliveries=kept(drop=DropDeliveries(opened)),
            finish_forgettings=FinishForgettings(
                workspaces=ListWorkspaces(opened),
                forget=forget_use_case(settings, opened, key_store(settings), key, sender),
                report=warn(log),
            ),
        ),
        count_accesses=CountAccesses(
            workspaces=ListWorkspaces(opened),
            transactions=StoreTransactions(opened, PostgresAccessStores),
            clock=utc_now,
            stopwatch=monotonic,
            new_id=new_id,
        ),
        search_index=keep_search_index(index, opened, warn(log)) if index else None,
        log=log,
    )
