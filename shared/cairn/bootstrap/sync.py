"""What the sync function needs: what reads sources of knowledge, and accepts their documents."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import database, key_store, logger, platform, warn
from cairn.bootstrap.telemetry import tell_spans
from cairn.settings import SyncSettings

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.sources.sync import SyncSource, WakeDue
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncServices:
    """The sync function's use cases."""

    sync: SyncSource
    wake_due: WakeDue
    log: Logger


def sync_services() -> SyncServices:
    """Build them from the environment; nothing connects yet."""
    settings = SyncSettings.read()
    log = logger("sync", settings.log_level)
    tell_spans("sync", settings)
    opened = database(settings)
    shared = lazy(lambda: _platform(settings, opened, log))
    return SyncServices(
        sync=lazy(lambda: sync_source(settings, shared)),
        wake_due=lazy(lambda: _wake_due(opened, shared)),
        log=log,
    )


def _platform(settings: SyncSettings, opened: Database, log: Logger) -> Platform:
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.dispatch import dispatcher, queues_of
    from cairn.writing.ports import Topic

    wakes = dispatcher(
        queues_of(settings) | {Topic.SOURCE: settings.source_queue_url},
        {Topic.INGESTION: settings.ingestion_machine_arn},
        opened,
        StoreTransactions(opened),
        warn(log),
    )
    return platform(opened, keys=key_store(settings), dispatcher=wakes, log=log)


def sync_source(settings: SyncSettings, shared: Platform) -> SyncSource:
    """Return what works at the run of a source."""
    from cairn.adapters.aws.objects import S3Objects
    from cairn.adapters.sources.checking import CheckSource
    from cairn.adapters.sources.opening import OpenSource
    from cairn.documents.accept import AcceptDocument
    from cairn.memories.delete import DeleteDocument
    from cairn.sources.keep import Sources
    from cairn.sources.sync import SyncSource

    folders, hosts = settings.folders(), settings.hosts_inside()
    buckets = settings.buckets() - {settings.uploads_bucket}
    return SyncSource(
        platform=shared,
        sources=Sources(
            shared, check=CheckSource(folders=folders, private_hosts=hosts, buckets=buckets)
        ),
        open=OpenSource(platform=shared, folders=folders, private_hosts=hosts, buckets=buckets),
        accept=AcceptDocument(shared, objects=S3Objects(settings.uploads_bucket)),
        delete=DeleteDocument(shared),
        pause=time.sleep,
    )


def _wake_due(opened: Database, shared: Platform) -> WakeDue:
    from cairn.adapters.postgres.agents.sources import KnowledgeSourcesDue
    from cairn.sources.sync import WakeDue

    return WakeDue(platform=shared, due=KnowledgeSourcesDue(opened))
