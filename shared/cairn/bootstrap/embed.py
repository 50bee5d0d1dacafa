"""What the embed function needs: vectors for what was written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.messages import require_sent
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import (
    database,
    embedder,
    inform,
    key_store,
    logger,
    platform,
    registered,
    warn,
)
from cairn.bootstrap.telemetry import tell_spans
from cairn.settings import EmbedSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.enrichment.queue import EmbedMessage, WorkOff
    from cairn.search_index.sync import EmbedStage
    from cairn.writing.platform import Platform

ANEW_AFTER_SECONDS = 2
"""When a message that was put back comes again: who held the ledger goes on meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedServices:
    """The embed function's use cases."""

    enrich: EmbedStage
    work_off: WorkOff
    record_search: Callable[[dict[str, Any]], None]
    judge_anew: Callable[[UUID, UUID, UUID], int]
    log: Logger


def embed_services() -> EmbedServices:
    """Build them from the environment; nothing connects and no model is read yet."""
    settings = EmbedSettings.read()
    log = logger("embed", settings.log_level)
    tell_spans("embed", settings)
    opened = database(settings)
    stage = lazy(lambda: _stage(settings, opened, log))
    return EmbedServices(
        enrich=stage,
        work_off=lazy(lambda: _work_off(stage, settings.embed_queue_url, log)),
        record_search=lazy(lambda: _record_search(opened)),
        judge_anew=lazy(lambda: _judge_anew(settings, opened, log)),
        log=log,
    )


def _stage(settings: EmbedSettings, opened: Database, log: Logger) -> EmbedStage:
    from cairn.bootstrap.search_index import endpoint, follow_database
    from cairn.enrichment.enrich import Enrich
    from cairn.search_index.sync import EnrichAndIndex

    enrich = Enrich(
        platform=_platform(settings, opened, log),
        embedder=registered(embedder(settings), opened),
        finds_similar=settings.similar_edges == "on",
    )
    index = endpoint(settings)
    follow = follow_database(index, opened, warn(log)) if index else None
    return EnrichAndIndex(enrich=enrich, follow=follow) if follow else enrich


def _platform(settings: EmbedSettings, opened: Database, log: Logger) -> Platform:
    from cairn.bootstrap.dispatch import dispatcher
    from cairn.writing.ports import Topic

    queue: dict[str, str] = dict.fromkeys((Topic.EMBED, Topic.ASSIGNMENT), settings.embed_queue_url)
    sender = dispatcher(queue, {}, opened, StoreTransactions(opened), warn(log))
    return platform(opened, keys=key_store(settings), dispatcher=sender, log=log)


def _judge_anew(
    settings: EmbedSettings, opened: Database, log: Logger
) -> Callable[[UUID, UUID, UUID], int]:
    """Return what judges intents anew for a network, by rules: this function asks no chat model."""
    from cairn.bootstrap.networks import indexer_of

    model = registered(embedder(settings), opened)
    indexer = indexer_of(_platform(settings, opened, log), model, lambda: None)

    def judge_anew(workspace_id: UUID, network_id: UUID, outbox_id: UUID) -> int:
        count = indexer.judge_anew(workspace_id, network_id, outbox_id)
        log.info("embed.judged", extra={"network_id": str(network_id), "members": count})
        return count

    return judge_anew


def _work_off(stage: EmbedStage, queue_url: str, log: Logger) -> WorkOff:
    from cairn.enrichment.queue import WorkOff

    return WorkOff(
        rows=stage.rows,
        send_anew=partial(_send_anew, queue_url),
        inform=inform(log),
        warn=warn(log),
    )


def _send_anew(queue_url: str, message: EmbedMessage) -> None:
    """Send a message again as a new one, whose tries are not counted yet."""
    require_sent(
        queue_url,
        message.body,
        workspace_id=message.workspace_id,
        traceparent=message.traceparent,
        delay_seconds=ANEW_AFTER_SECONDS,
    )


def _record_search(opened: Database) -> Callable[[dict[str, Any]], None]:
    """Return what inserts a search as its message has it; few messages have one."""
    from cairn.adapters.aws.search_runs import read_run
    from cairn.adapters.postgres.memory.search_runs import PostgresSearchRuns

    runs = PostgresSearchRuns(opened)
    return lambda values: runs.insert([read_run(values)])
