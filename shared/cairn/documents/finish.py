"""How an ingestion ends: recorded in the ledger, good or bad. The audit stage runs this."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.documents.ports import DocumentStatus
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.writing.platform import Platform

_REASON = re.compile(r"[a-z][a-z-]{1,60}")
_ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)


@dataclass(frozen=True, slots=True)
class FinishIngestion:
    """Ends ingestions; ending one twice changes nothing."""

    platform: Platform

    def succeed(self, workspace_id: UUID, ingestion_id: UUID) -> dict[str, Any]:
        """Record that a document is searchable by word and by meaning."""
        return self._end(workspace_id, ingestion_id, DocumentStatus.READY, None)

    def fail(
        self, workspace_id: UUID, ingestion_id: UUID, *, error: str, cause: str
    ) -> dict[str, Any]:
        """Record why a document could not be ingested: the name and the cause the machine caught.

        A cause is the JSON of a function's error; what is not is kept out of the answer.
        """
        detail, reason = explained(
            cause, otherwise="The execution ended before the document was stored."
        )
        why = {"error": error, "reason": reason or error, "detail": detail}
        return self._end(workspace_id, ingestion_id, DocumentStatus.FAILED, why)

    def _end(
        self,
        workspace_id: UUID,
        ingestion_id: UUID,
        status: DocumentStatus,
        error: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        with open_write(self.platform, system_principal(workspace_id)) as write:
            ingestions = write.stores.ingestions
            ingestion = ingestions.find(ingestion_id)
            if ingestion is None:
                raise NotFound("There is no such ingestion.", ingestion_id=str(ingestion_id))
            if ingestion.status not in _ENDED:
                received = ingestions.entry(ingestion)
                write.entries.add(
                    "document.ingested" if status is DocumentStatus.READY else "ingestion.failed",
                    {
                        "document_id": str(ingestion.document_id),
                        "ingestion_id": str(ingestion.id),
                        "reason": error["reason"] if error else None,
                    },
                    None,
                    data_subjects=received.data_subjects,
                    occurred_at=write.now,
                    parent_id=received.id,
                )
                write.append()
                ingestions.advance(ingestion_id, status, write.now, error=error)
                write.stores.outbox.done([ingestion_id])
            return {"document_id": str(ingestion.document_id), **ingestion.counts}


def explained(cause: str, *, otherwise: str) -> tuple[str, str | None]:
    """Return the sentence and the reason of a function's error, as a machine caught it."""
    try:
        message = json.loads(cause)["errorMessage"]
    except (ValueError, KeyError, TypeError):
        return otherwise, None
    reason, separator, detail = str(message).partition(": ")
    matched = separator and _REASON.fullmatch(reason)
    return (detail, reason) if matched else (str(message)[:500], None)
