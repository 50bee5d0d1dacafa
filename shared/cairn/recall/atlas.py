"""The JSON form of one node: what it is, what is set on it, and where it comes from.

The same shape in every answer that shows nodes. Scores and reasons are the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.recall.records import FoundNode

_AS_TEXT = ("document_id", "parent_id", "supersedes", "superseded_by")
_AS_TIME = ("valid_from", "valid_to", "superseded_at", "last_accessed_at")
_SHOWN = (
    "title", "summary", "canonical_name", "state", "scope", "client_id", "key", "subject",
    "status_value", "category", "knowledge_category", "importance", "confidence",
    "observation_count", "access_count", "sequence", "ordinal", "source_uri", "line_from",
    "line_to", "page_from", "page_to",
)  # fmt: skip


def node_json(node: FoundNode) -> dict[str, Any]:
    """Return a node with its attributes and its provenance."""
    return {**identity(node), "attributes": attributes(node), "provenance": provenance(node)}


def identity(node: FoundNode) -> dict[str, Any]:
    """Return what the node is and what it says."""
    return {"node_id": str(node.id), "type": node.label, "kind": node.kind, "text": node.text}


def attributes(node: FoundNode) -> dict[str, Any]:
    """Return what is set on the node; empty values are left out."""
    values: dict[str, Any] = {name: getattr(node, name) for name in _SHOWN}
    for name in _AS_TEXT:
        value = getattr(node, name)
        values[name] = None if value is None else str(value)
    values |= {name: _time(getattr(node, name)) for name in _AS_TIME}
    values |= {
        "keywords": list(node.keywords),
        "agents": list(node.agents),
        "headings": list(node.headings),
        "metadata": dict(node.metadata),
    }
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def provenance(node: FoundNode) -> dict[str, Any]:
    """Return the ledger entry that made the node, and who said it when and where."""
    return {
        "entry_id": str(node.entry_id),
        "position": node.position,
        "source": "ledger",
        "occurred_at": _time(node.occurred_at),
        "recorded_at": _time(node.recorded_at),
        "session_id": node.session_id,
        "agent_id": node.source_agent,
        "trace_id": node.trace_id,
    }


def _time(value: datetime | None) -> str | None:
    return None if value is None else format_timestamp(value)
