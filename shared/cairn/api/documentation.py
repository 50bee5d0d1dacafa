"""How routes document their answers, and the OpenAPI document. Nothing here runs on a request."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from cairn.api.problems import KINDS, MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

_REF = "#/components/schemas/"
_EVERY_CALL = ("unauthenticated", "denied", "validation-failed", "rate-limited")
_ALWAYS = ("internal", "unavailable")
_BODY = ("malformed-body", "too-large", "unsupported-media-type")
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457 problem details. `type` is stable; `reason` says more about it.",
    "type": "object",
    "required": ["type", "title", "status", "detail", "reason"],
    "properties": {
        "type": {"type": "string", "enum": [kind.urn for kind in KINDS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "reason": {"type": "string"},
        "instance": {"type": "string", "description": "The request id."},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"location": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_MEMORY_RESULT: dict[str, Any] = {
    "title": "MemoryResult",
    "type": "object",
    "required": ["outcome", "id", "position", "superseded", "observation_count", "warnings"],
    "properties": {
        "outcome": {
            "type": "string",
            "enum": ["created", "duplicate", "corroborated", "superseded"],
        },
        "id": {"type": "string", "format": "uuid"},
        "position": {"type": "integer", "description": "The ledger position of the entry."},
        "superseded": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "observation_count": {"type": "integer"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}


_EVENT_RESULT: dict[str, Any] = {
    "title": "EventResult",
    "type": "object",
    "required": ["outcome", "id", "position", "warnings"],
    "properties": {
        "outcome": {"type": "string", "enum": ["created", "duplicate"]},
        "id": {"type": "string", "format": "uuid"},
        "position": {"type": "integer", "description": "The ledger position of the entry."},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}


def answers(
    status: int, what: str, schema: str | Mapping[str, Any], example: object = None
) -> Responses:
    """Document a good answer: a schema's name in components, or the schema itself."""
    content: dict[str, Any] = {"schema": _shape(schema)}
    if example is not None:
        content["example"] = example
    return {status: {"description": what, "content": {"application/json": content}}}


def page_of(schema: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list with a cursor: of a name in components, or of schemas."""
    return {
        "type": "object",
        "required": ["items", "next_cursor"],
        "properties": {
            "items": {"type": "array", "items": _shape(schema)},
            "next_cursor": {"type": ["string", "null"]},
        },
    }


def items_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list that is always whole."""
    return {"type": "object", "properties": {"items": {"type": "array", "items": schema}}}


def _shape(schema: str | Mapping[str, Any]) -> dict[str, Any]:
    return {"$ref": _REF + schema} if isinstance(schema, str) else dict(schema)


def problems(*codes: str, body: bool = False, public: bool = False) -> Responses:
    """Document the problems a route answers with, beside those every route has.

    `body` adds those of routes that take a body, `public` leaves out those that need a key.
    """
    every = _ALWAYS if public else (*_EVERY_CALL, *_ALWAYS)
    named = {KINDS[code].status: KINDS[code] for code in (*every, *(_BODY if body else ()), *codes)}
    return {
        status: {
            "description": f"{kind.title} (`{kind.urn}`)",
            "content": {
                MEDIA_TYPE: {
                    "schema": {"$ref": f"{_REF}Problem"},
                    "example": {
                        "type": kind.urn,
                        "title": kind.title,
                        "status": status,
                        "detail": f"{kind.title}.",
                        "reason": kind.code,
                        "instance": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
                    },
                }
            },
        }
        for status, kind in sorted(named.items())
    }


def _records() -> tuple[type[Any], ...]:
    """Return what answers are made of; read only when somebody asks for the document."""
    return (*_memory_records(), *_ledger_records(), *_agent_records())


def _memory_records() -> tuple[type[Any], ...]:
    from cairn.conversations import read as conversations
    from cairn.documents.items import DocumentAccepted, UploadTicket
    from cairn.events.views import EventView
    from cairn.nodes.entity_requests import EntityChanged
    from cairn.nodes.views import EntityDetail, EntityView, NodeView
    from cairn.reading.views import DocumentView, IngestionView, MemoryVersion, MemoryView
    from cairn.recall.answer import Answer
    from cairn.reports.read import ReportEntry
    from cairn.writing.items import Deleted

    conversation = (conversations.ConversationView, conversations.ConversationMessage)
    memories = (MemoryView, MemoryVersion, EventView, NodeView, EntityView, EntityDetail)
    documents = (DocumentAccepted, DocumentView, IngestionView, UploadTicket)
    return (*memories, EntityChanged, Deleted, *documents, Answer, *conversation, ReportEntry)


def _ledger_records() -> tuple[type[Any], ...]:
    from cairn.anchors.reports import AnchoredVerification
    from cairn.consolidation.run_views import RunView
    from cairn.llm.costs import CostReport
    from cairn.operations.stats import Stats
    from cairn.reading.views import KeyView, LedgerEntryView, LedgerVerification, Status
    from cairn.rebuild.orphans import Orphans
    from cairn.rebuild.views import RebuildView
    from cairn.reembedding.reindex import MissingVectors, Reindexed
    from cairn.taint.reports import Tainted, TaintLifted, TaintReport
    from cairn.writing.taint_views import TaintView

    ledger = (LedgerEntryView, LedgerVerification, AnchoredVerification)
    taints = (TaintView, TaintReport, Tainted, TaintLifted)
    runs = (MissingVectors, RunView, RebuildView, Stats, CostReport, Orphans, Reindexed)
    return (*ledger, *taints, KeyView, Status, *runs)


def _agent_records() -> tuple[type[Any], ...]:
    from cairn.investigations import views
    from cairn.investigations.approvals.views import ApprovalView, Decided
    from cairn.tickets.queue import QueueView
    from cairn.tickets.reading import TicketDetail, TicketView

    shown = (views.InvestigationView, views.InvestigationDetail, views.StepsView)
    asked = (views.ToolCallView, views.QuestionView, ApprovalView, Decided)
    return (*shown, *asked, TicketView, TicketDetail, QueueView)


def install(app: FastAPI, include_all: Callable[[], None]) -> None:
    """Make the app's OpenAPI document contain the schemas the routes refer to; built once, late."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            include_all()
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        tags=app.openapi_tags,
        routes=app.routes,
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    _, records = TypeAdapter.json_schemas(
        [(record, "serialization", TypeAdapter(record)) for record in _records()],
        ref_template=_REF + "{model}",
    )
    schemas.update(records.get("$defs", {}))
    schemas["Problem"] = _PROBLEM
    schemas["MemoryResult"] = _MEMORY_RESULT
    schemas["EventResult"] = _EVENT_RESULT
    return document
