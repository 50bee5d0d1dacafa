"""What the ingest function needs: the steps of the ingestion machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import database, key_store, logger, platform, warn
from cairn.bootstrap.telemetry import tell_spans
from cairn.kernel.clock import monotonic
from cairn.settings import IngestSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger

    from cairn.documents.ingest import IngestDocument

SUMMARY_SECONDS = 240.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestServices:
    """The ingest function's use cases."""

    ingest: IngestDocument
    log: Logger


def ingest_services() -> IngestServices:
    """Build them from the environment; nothing connects yet."""
    settings = IngestSettings.read()
    log = logger("ingest", settings.log_level)
    tell_spans("ingest", settings)
    return IngestServices(ingest=lazy(lambda: _ingest(settings, log)), log=log)


def _ingest(settings: IngestSettings, log: Logger) -> IngestDocument:
    from cairn.adapters.aws.objects import S3Objects
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.dispatch import dispatcher
    from cairn.documents.ingest import IngestDocument
    from cairn.embedding.onnx import OnnxEmbedder

    opened = database(settings)
    wakes_nobody = dispatcher({}, {}, opened, StoreTransactions(opened), warn(log))
    return IngestDocument(
        platform=platform(opened, keys=key_store(settings), dispatcher=wakes_nobody, log=log),
        objects=S3Objects(settings.uploads_bucket),
        tokens=OnnxEmbedder(settings.model_dir),
        summarise=summariser(),
    )


def summariser() -> Callable[[str, str], str]:
    """Return (text, level) -> summary; one budget of seconds for each document."""

    def summarised(text: str, level: str) -> str:
        from cairn.llm.budget import Budget, Limits  # loaded with the first document
        from cairn.llm.summaries import Level, Rules, summarise

        budget = Budget(Limits(seconds=SUMMARY_SECONDS), stopwatch=monotonic)
        return summarise(Rules(), text, Level(level), budget).text

    return summarised
