"""The embed stage: vectors for what queue messages, or a batch of an ingestion, name.

Searches whose record could not wait for the database come by the same queue and are inserted.
"""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.embed import embed_services
from cairn.errors import CairnError

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
    outbox_ids: list[UUID] = []
    search_run: dict[str, Any] | None = None


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Embed, and tell the queue which messages are to come again."""
    if "Records" in event:
        failed = _failed(event["Records"])
        return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}
    asked = Batch.model_validate(event)
    count = services.enrich.batch(asked.workspace_id, asked.ingestion_id, asked.batch)
    services.log.info("embed.batch", extra={"batch": asked.batch, "nodes": count})
    return {"nodes": count}


def _failed(records: list[dict[str, Any]]) -> list[str]:
    """Embed the messages of each workspace together; when that fails, one by one."""
    failed: list[str] = []
    by_workspace: dict[UUID, dict[str, list[UUID]]] = {}
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
        messages = by_workspace.setdefault(message.workspace_id, {})
        messages[record["messageId"]] = message.outbox_ids
    for workspace_id, messages in by_workspace.items():
        together = [one for ids in messages.values() for one in ids]
        if not _embedded(workspace_id, together):
            failed += [one for one, ids in messages.items() if not _embedded(workspace_id, ids)]
    return failed


def _embedded(workspace_id: UUID, outbox_ids: list[UUID]) -> bool:
    try:
        count = services.enrich.rows(workspace_id, outbox_ids)
    except CairnError as error:
        services.log.warning("embed.failed", extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info("embed.done", extra={"rows": len(outbox_ids), "nodes": count})
    return True
