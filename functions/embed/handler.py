"""The embed stage: vectors for what is named, searches to keep, networks to judge intents for."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.embed import embed_services
from cairn.bootstrap.telemetry import invocation
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
    """A queue message: which outbox rows to work off, what a search did, or a network to judge."""

    workspace_id: UUID
    network_id: UUID | None = None
    outbox_id: UUID | None = None
    outbox_ids: tuple[UUID, ...] = ()
    nodes: int = 100
    search_run: dict[str, Any] | None = None


@invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Embed, and tell the queue which messages are to come again."""
    if "Records" in event:
        failed = [{"itemIdentifier": item} for item in _failed(event["Records"], context)]
        return {"batchItemFailures": failed}
    batch = Batch.model_validate(event)
    count = services.enrich.batch(batch.workspace_id, batch.ingestion_id, batch.batch)
    services.log.info("embed.batch", extra={"batch": batch.batch, "nodes": count})
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
            elif message.network_id is not None and message.outbox_id is not None:
                services.judge_anew(message.workspace_id, message.network_id, message.outbox_id)
            else:
                messages.append(_read(message, record))
        except (ValidationError, CairnError) as error:
            failure = {"message_id": record["messageId"], "error": type(error).__name__}
            services.log.error("embed.malformed_or_refused", extra=failure)
            failed.append(record["messageId"])
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
