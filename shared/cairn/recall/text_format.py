"""Results as plain text for an agent: labels, properties, what hangs on them. Pure, from JSON rows.

Internal fields (workspace, guards, hashes, vectors, who observed) are not shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DIVIDER = "\n---\n"
_INTERNAL = frozenset({"agents", "content_hash", "scope", "state", "document_id", "parent_id"})
_RELATED = ("canonical_name", "title", "kind", "text")


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows of an answer as text, `---` between them; an empty string for none."""
    return DIVIDER.join(row_text(row) for row in rows)


def row_text(row: Mapping[str, Any]) -> str:
    """Return one row: a heading, its properties a line each, and its related nodes."""
    score = row.get("scores", {}).get("relevance_score", 0.0)
    lines = [f"[{row['type']}] (id: {row['node_id']}) (score: {score:.3f})"]
    lines += [f"  {name}: {_one_line(value)}" for name, value in _properties(row)]
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
