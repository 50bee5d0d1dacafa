"""What the ingest function needs: the steps of the ingestion machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import database, key_store, logger
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
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
    return IngestServices(
        ingest=lazy(lambda: _ingest(settings)), log=logger("ingest", settings.log_level)
    )


def _ingest(settings: IngestSettings) -> IngestDocument:
    from cairn.adapters.aws.objects import S3Objects
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.documents.ingest import IngestDocument
    from cairn.embedding.onnx import OnnxEmbedder
    from cairn.ledger.keys import BodyCipher

    return IngestDocument(
        transactions=StoreTransactions(database(settings)),
        objects=S3Objects(settings.uploads_bucket),
        keys=key_store(settings),
        cipher=BodyCipher(),
        tokens=OnnxEmbedder(settings.model_dir),
        summarise=summariser(),
        clock=utc_now,
        new_id=new_id,
    )


def summariser() -> Callable[[str, str], str]:
    """Return (text, level) -> summary; one budget of seconds for each document."""

    def summarised(text: str, level: str) -> str:
        from cairn.llm.budget import Budget, Limits  # loaded with the first document
        from cairn.llm.summaries import Level, Rules, summarise

        budget = Budget(Limits(seconds=SUMMARY_SECONDS), stopwatch=monotonic)
        return summarise(Rules(), text, Level(level), budget).text

    return summarised
