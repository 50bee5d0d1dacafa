"""Blocks and properties of Notion as Markdown, within a budget. Asks for nothing by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from cairn.adapters.sources.changes import plain
from cairn.adapters.sources.web_api import objects, record
from cairn.kernel.errors import NotFound

MOST_DEPTH, MOST_BLOCKS, MOST_CHARS, MOST_LISTS = 10, 5_000, 5_000_000, 500
"""What of one page is read; the rest of it is cut off, and the document says so."""

MOST_PROPERTIES, MOST_LINE = 100, 1_000

Children: TypeAlias = Callable[[str, str | None], tuple[list[dict[str, Any]], str | None]]
"""(block, cursor) -> some of the blocks in it, and the cursor of the next ones."""

_PREFIX = {
    "heading_1": "# ",
    "heading_2": "## ",
    "heading_3": "### ",
    "bulleted_list_item": "- ",
    "numbered_list_item": "1. ",
    "toggle": "- ",
    "quote": "> ",
    "callout": "> ",
}
_OTHERS = frozenset({"child_page", "child_database"})
"""Documents of their own."""


@dataclass
class TextOfBlocks:
    """Writes what is in a page. One use for one page; `cut` when the budget ended before it."""

    children: Children
    cut: bool = field(default=False, init=False)
    missing: set[str] = field(default_factory=set[str], init=False)
    _seen: set[str] = field(default_factory=set[str], init=False)
    _parts: list[str] = field(default_factory=list[str], init=False)
    _blocks: int = field(default=0, init=False)
    _lists: int = field(default=0, init=False)
    _chars: int = field(default=0, init=False)

    def __call__(self, page_id: str) -> str:
        """Return its text."""
        self._read(page_id, 0)
        return "\n\n".join(self._parts)

    def _read(self, block_id: str, depth: int) -> None:
        if block_id in self._seen:  # a synced block may hold itself
            return
        self._seen.add(block_id)
        if depth > MOST_DEPTH:
            self.cut = True
            return
        cursor, cursors = None, set[str]()
        while True:
            self._lists += 1
            try:
                blocks, cursor = self.children(block_id, cursor)
            except NotFound:
                self.missing.add(block_id)
                return
            for block in blocks:
                if not self._is_room():
                    return
                self._write(block, depth)
            if cursor is None:
                return
            if cursor in cursors or self._lists >= MOST_LISTS:
                self.cut = True
                return
            cursors.add(cursor)

    def _is_room(self) -> bool:
        self._blocks += 1
        if self._blocks > MOST_BLOCKS or self._chars > MOST_CHARS:
            self.cut = True
        return not self.cut

    def _write(self, block: dict[str, Any], depth: int) -> None:
        kind = str(block.get("type"))
        if kind in _OTHERS:
            return
        text = block_text(kind, record(block, kind))
        if text:
            indent = "  " * depth if kind.endswith("_list_item") or kind == "to_do" else ""
            self._parts.append(indent + text)
            self._chars += len(text)
        if block.get("has_children") is True:
            original = record(block, kind, "synced_from", "block_id")
            self._read(str(original or block.get("id")), depth + 1)


def block_text(kind: str, content: Any) -> str:
    """Return what one block says, without what is in it."""
    text = rich_text(record(content, "rich_text"))
    if kind == "code":
        language = plain(record(content, "language"), 40).split(" ")[0]
        return f"```{language}\n{text}\n```" if "```" not in text else text
    if kind == "to_do":
        return f"- [{'x' if record(content, 'checked') else ' '}] {text}"
    if kind == "equation":
        return plain(record(content, "expression"), MOST_LINE)
    if kind == "table_row":
        cells: Any = record(content, "cells")
        return " | ".join(
            map(rich_text, cast("list[Any]", cells) if isinstance(cells, list) else [])
        )
    if kind in {"bookmark", "embed", "link_preview"}:
        return plain(record(content, "url"), MOST_LINE)
    return f"{_PREFIX.get(kind, '')}{text}" if text else rich_text(record(content, "caption"))


def rich_text(value: Any) -> str:
    """Return the text of pieces; what is none is left out."""
    texts = (each.get("plain_text") for each in objects(value))
    return "".join(text for text in texts if isinstance(text, str)).replace("\x00", "")


def title_of(properties: Any) -> str:
    """Return the title of a page: the one property of that type."""
    for each in _fields(properties).values():
        if record(each, "type") == "title":
            return plain(rich_text(record(each, "title")), 300)
    return ""


def properties_text(properties: Any) -> str:
    """Return the other properties of a row, a line each; those that say nothing are left out."""
    lines = list[str]()
    for name, each in _fields(properties).items():
        kind = str(record(each, "type"))
        value = "" if kind == "title" else plain(_value(kind, record(each, kind)), MOST_LINE)
        if value:
            lines.append(f"- {plain(name, 100)}: {value}")
    return "\n".join(lines[:MOST_PROPERTIES])


def _fields(properties: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def _value(kind: str, value: Any) -> str:
    if kind == "rich_text":
        return rich_text(value)
    if kind in {"select", "status"}:
        return str(record(value, "name") or "")
    if kind == "multi_select":
        return ", ".join(str(each.get("name")) for each in objects(value))
    if kind == "date":
        return " to ".join(
            str(part) for part in (record(value, "start"), record(value, "end")) if part
        )
    if kind == "checkbox":
        return "yes" if value else "no"
    if kind in {"number", "url", "created_time", "last_edited_time"} and value is not None:
        return str(value)
    return ""
