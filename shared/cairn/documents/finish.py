"""How an ingestion ends: recorded in the ledger, good or bad. The audit stage runs this."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.documents.ports import DocumentStatus
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.writing.append import SYSTEM, append_and_project
from cairn.writing.entries import Planned, plan_entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.documents.ports import Ingestion
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions

_REASON = re.compile(r"[a-z][a-z-]{1,60}")
_ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishIngestion:
    """Ends ingestions; ending one twice changes nothing."""

    transactions: Transactions[Stores]
    clock: Clock
    new_id: IdSource

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
        with self.transactions.writing(system_principal(workspace_id)) as stores:
            ingestion = stores.ingestions.find(ingestion_id)
            if ingestion is None:
                raise NotFound("There is no such ingestion.", ingestion_id=str(ingestion_id))
            if ingestion.status not in _ENDED:
                now = self.clock()
                entry = self._entry(stores, ingestion, status, error)
                append_and_project(stores, [entry], now)
                stores.ingestions.advance(ingestion_id, status, now, error=error)
                stores.outbox.done([ingestion_id])
            return {"document_id": str(ingestion.document_id), **ingestion.counts}

    def _entry(
        self,
        stores: Stores,
        ingestion: Ingestion,
        status: DocumentStatus,
        error: Mapping[str, Any] | None,
    ) -> Planned:
        received = stores.ingestions.entry(ingestion)
        good = status is DocumentStatus.READY
        return plan_entry(
            id=self.new_id(),
            workspace_id=received.workspace_id,
            type="document.ingested" if good else "ingestion.failed",
            actor=SYSTEM,
            occurred_at=self.clock(),
            data_subjects=received.data_subjects,
            meta={
                "document_id": str(ingestion.document_id),
                "ingestion_id": str(ingestion.id),
                "reason": error["reason"] if error else None,
            },
            parent_id=received.id,
        )


def explained(cause: str, *, otherwise: str) -> tuple[str, str | None]:
    """Return the sentence and the reason of a function's error, as a machine caught it."""
    try:
        message = json.loads(cause)["errorMessage"]
    except (ValueError, KeyError, TypeError):
        return otherwise, None
    reason, separator, detail = str(message).partition(": ")
    known = separator and _REASON.fullmatch(reason)
    return (detail, reason) if known else (str(message)[:500], None)
