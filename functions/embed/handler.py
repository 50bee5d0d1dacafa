"""The embed stage: vectors for what queue messages, or a batch of an ingestion, name.

Searches whose record could not wait for the database come by the same queue and are inserted.
"""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.embed import embed_services
from cairn.enrichment.queue import EmbedMessage
from cairn.kernel.errors import CairnError
from cairn.kernel.traces import carried

services = embed_services()


class Batch(BaseModel):
    """A state of the ingestion machine."""

    step: Literal["embed"]
    workspace_id: UUID
    ingestion_id: UUID
    batch: int


class Message(BaseModel):
    """A queue message: which outbox rows to work off, or what a search did."""

    workspace_id: UUID
    outbox_ids: tuple[UUID, ...] = ()
    nodes: int = 100
    search_run: dict[str, Any] | None = None


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Embed, and tell the queue which messages are to come again."""
    if "Records" in event:
        failed = _failed(event["Records"], context)
        return {"batchItemFailures": [{"itemIdentifier": item} for item in failed]}
    asked = Batch.model_validate(event)
    count = services.enrich.batch(asked.workspace_id, asked.ingestion_id, asked.batch)
    services.log.info("embed.batch", extra={"batch": asked.batch, "nodes": count})
    return {"nodes": count}


def _failed(records: list[dict[str, Any]], context: Any) -> list[str]:
    """Insert the searches, work off the rest, and return the messages that are to come again."""
    failed: list[str] = []
    messages: list[EmbedMessage] = []
    for record in records:
        try:
            message = Message.model_validate_json(record["body"])
            if message.search_run is not None:
                services.record_search(message.search_run)
                continue
        except (ValidationError, CairnError) as error:
            told = {"message_id": record["messageId"], "error": type(error).__name__}
            services.log.error("embed.malformed_or_refused", extra=told)
            failed.append(record["messageId"])
            continue
        messages.append(_read(message, record))
    return failed + services.work_off(
        messages, lambda: context.get_remaining_time_in_millis() / 1000
    )


def _read(message: Message, record: dict[str, Any]) -> EmbedMessage:
    return EmbedMessage(
        id=record["messageId"],
        workspace_id=message.workspace_id,
        outbox_ids=message.outbox_ids,
        nodes=message.nodes,
        body=record["body"],
        traceparent=carried(record),
    )
