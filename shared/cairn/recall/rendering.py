"""A node as readers see it: as JSON, as plain text for an agent, as a citation. Pure.

The same shape in every answer that shows nodes; scores and reasons are the caller's. Plain text
shows no internal fields (workspace, guards, hashes, vectors). A citation finds its source again:
`[doc:uri#headings#L12-L30]` is a part of a document, `[memory:id]` any other node.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from cairn.graph.node import PLAIN_NAMES, Label
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from cairn.recall.records import FoundNode


_OF_DOCUMENTS = frozenset({Label.DOCUMENT, Label.SECTION, Label.CHUNK})
_RESERVED = re.compile(r"[\[\]#\s]+")
HEADINGS = " > "


def path_json(node: FoundNode) -> list[dict[str, Any]]:
    """Return what is around a part of a document, from the document down; nothing for others."""
    if node.label not in (Label.SECTION, Label.CHUNK) or node.document_id is None:
        return []
    document = {"node_id": str(node.document_id), "type": Label.DOCUMENT.value}
    path: list[dict[str, Any]] = [document | {"source_uri": node.source_uri}]
    if node.label == Label.CHUNK and node.parent_id is not None:
        section = {"node_id": str(node.parent_id), "type": Label.SECTION.value}
        path.append(section | {"headings": list(node.headings)})
    return path


def citation_of(node: FoundNode) -> str:
    """Return the citation token of a node.

    Brackets, number signs and breaks inside a name become spaces: they would end the token.
    """
    if node.label not in _OF_DOCUMENTS or not node.source_uri:
        return f"[memory:{node.id}]"
    parts = [plain(node.source_uri)]
    if node.headings:
        parts.append(HEADINGS.join(plain(heading) for heading in node.headings))
    if node.line_from is not None:
        parts.append(f"L{node.line_from}-L{node.line_to or node.line_from}")
    elif node.page_from is not None:
        parts.append(f"p{node.page_from}-p{node.page_to or node.page_from}")
    return f"[doc:{'#'.join(parts)}]"


def plain(text: str) -> str:
    """Return a name as citations write it."""
    return _RESERVED.sub(" ", text).strip()


_AS_TEXT = ("document_id", "parent_id", "supersedes", "superseded_by")
_AS_TIME = ("valid_from", "valid_to", "superseded_at", "last_accessed_at")
_SHOWN = (
    "title", "summary", "canonical_name", "state", "scope", "client_id", *PLAIN_NAMES,
    "importance", "confidence",
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


DIVIDER = "\n---\n"
_INTERNAL = frozenset({"agents", "content_hash", "scope", "state", "document_id", "parent_id"})
_RELATED = ("canonical_name", "title", "kind", "text")


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of an answer as text, `---` between them; an empty string for none."""
    return DIVIDER.join(row_text(row) for row in rows)


def set_in_words(answer_set: Mapping[str, Any] | None) -> str | None:
    """Return in one line what `meta.set` says; None where no set was asked about."""
    if answer_set is None:
        return None
    count, members = answer_set["found"], answer_set["members"]
    if not count:
        return f"no memory was found of what is asked about ({answer_set['said']})"
    days = [members[at]["occurred_at"][:10] for at in (0, -1)]
    span = f"on {days[0]}" if days[0] == days[1] else f"from {days[0]} to {days[1]}"
    least = "" if answer_set["complete"] else "at least "
    noun = "memory was" if count == 1 else "memories were"
    return f"{least}{count} {noun} found of what is asked about ({answer_set['said']}), {span}"


def row_text(row: Mapping[str, Any]) -> str:
    """Return one row: a heading, its properties a line each, and its related nodes."""
    score = row.get("scores", {}).get("relevance_score", 0.0)
    lines = [f"[{row['type']}] (id: {row['node_id']}) (score: {score:.3f})"]
    lines += [f"  {name}: {_one_line(value)}" for name, value in _properties(row)]
    if row.get("validity", "current") != "current":
        lines.append(f"  validity: {row['validity']}")
    if row.get("relevance") is not None:
        lines.append(f"  relevance: {row['relevance']:.2f}")
    if related := row.get("related"):
        lines.append("  Related:")
        lines += [f"    {related_line(each)}" for each in related]
        if dropped := row.get("related_dropped"):
            lines.append(f"    and {dropped} more")
    return "\n".join(lines)


def related_line(related: Mapping[str, Any]) -> str:
    """Return a related node on one line, the arrow showing the edge's direction."""
    shown = ", ".join(f"{name}: {_one_line(related[name])}" for name in _RELATED if name in related)
    relation, label = related["relation"], related["type"]
    arrow = f"<--[{relation}]--" if related["direction"] == "incoming" else f"--[{relation}]-->"
    return f"{arrow} [{label}] {{{shown}}}"


def _properties(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in ("kind", "text"):
        if row.get(name) is not None:
            yield name, row[name]
    for name, value in row.get("attributes", {}).items():
        if name not in _INTERNAL:
            yield name, value
    for name in ("occurred_at", "session_id"):
        if row.get("provenance", {}).get(name):
            yield name, row["provenance"][name]


def _one_line(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_one_line(each) for each in cast("Sequence[object]", value))
    if value is None or isinstance(value, dict | bool):
        return json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(str(value).split())
